import { describe, expect, test } from 'bun:test'
import type { DatasetFault } from '../../../../src/datasets/fields.ts'
import type { Dataset } from '../../../../src/feeds/files/dataset.ts'
import { futuresSettlements } from '../../../../src/topics/futures/dataset/settlements.ts'
import { futuresTicks } from '../../../../src/topics/futures/dataset/ticks.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { datasetOf } from '../../../support/topics/datasets.ts'

const { futures, catalogue } = openTestInstance().services
const seriesLookup = { find: (code: string) => catalogue.named(code), nearest: () => undefined }
const known = { catalogue: seriesLookup, exchangeWords: ['exch'] }
const [settlements, ticks] = [
  datasetOf(futuresSettlements, futures.recordDays, known),
  datasetOf(futuresTicks, futures.recordTicks, known),
]

const check = (dataset: Dataset<unknown>, row: Record<string, unknown>) =>
  dataset.check(row, startAt)
const day = { contract: 'WTI_FUTURES_2027_01', traded_on: '2026-11-19', close: '71.95' }
const tick = { contract: 'CL.1', traded_at: '2026-11-19T15:00:00Z', price: '71.9' }

describe('every futures dataset', () => {
  for (const dataset of [settlements, ticks] as Dataset<unknown>[]) {
    test(`${dataset.name} takes its own example, and nothing happens when it comes again`, () => {
      const [head, ...lines] = dataset.example.trim().split('\n')
      const records = lines.map(line => {
        const checked = check(
          dataset,
          Object.fromEntries(head!.split(',').map((name, i) => [name, line.split(',')[i]])),
        )
        if (!('record' in checked)) throw new Error(checked.reason)
        return checked.record
      })
      expect(dataset.write(records, 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
      expect(dataset.write(records, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
      expect(
        head!.split(',').every(name => dataset.columns.some(column => column.name === name)),
      ).toBe(true)
    })
  }
})

describe('a contract', () => {
  const cases: [string, string, string, string][] = [
    ['WTI_FUTURES_2027_01', '2026-11-19', 'WTI_FUTURES', '2027-01'],
    ['wti_futures_2027_01', '2026-11-19', 'WTI_FUTURES', '2027-01'],
    ['WTI_FUTURES.1', '2020-04-20', 'WTI_FUTURES', '2020-05'],
    ['WTI_FUTURES.1', '2020-04-21', 'WTI_FUTURES', '2020-05'],
    ['WTI_FUTURES.1', '2020-04-22', 'WTI_FUTURES', '2020-06'],
    ['WTI_FUTURES.4', '2010-01-04', 'WTI_FUTURES', '2010-05'],
    ['CL.2', '2026-11-20', 'WTI_FUTURES', '2027-01'],
    ['exch-brent.1', '2026-10-30', 'BRENT_FUTURES', '2026-12'],
    ['bz.12', '2026-11-02', 'BRENT_FUTURES', '2027-12'],
  ]
  for (const [contract, tradedOn, family, month] of cases) {
    test(`${contract} on ${tradedOn} is ${family} ${month}`, () => {
      expect(check(settlements, { contract, traded_on: tradedOn, close: 1 })).toMatchObject({
        record: { family, month, tradedOn },
      })
    })
  }

  test('by its place counts the trading date of the exchange, not the calendar day', () => {
    const monthAt = (at: string) => check(ticks, { ...tick, traded_at: at })
    expect(monthAt('2026-11-19T22:59:00Z')).toMatchObject({ record: { month: '2026-12' } })
    expect(monthAt('2026-11-20T21:59:00Z')).toMatchObject({ record: { month: '2026-12' } })
  })
})

describe('a row is refused, with its field and what would be right', () => {
  const cases: [string, Dataset<unknown>, Record<string, unknown>, string, RegExp][] = [
    [
      'an unknown contract',
      settlements,
      { ...day, contract: 'COAL_FUTURES_2027_01' },
      'contract',
      /is not a futures contract: write a contract code/,
    ],
    [
      'a family without a place',
      settlements,
      { ...day, contract: 'WTI_FUTURES' },
      'contract',
      /is not a futures contract/,
    ],
    [
      'a place beyond the curve',
      settlements,
      { ...day, contract: 'CL.13' },
      'contract',
      /a place from 1 to 12/,
    ],
    ['no contract', settlements, { ...day, contract: '' }, 'contract', /is missing/],
    ['no such day', settlements, { ...day, traded_on: '2026-02-30' }, 'traded_on', /is not a day/],
    [
      'a Saturday',
      settlements,
      { ...day, traded_on: '2026-11-14' },
      'traded_on',
      /is on a weekend/,
    ],
    [
      'a date to come',
      settlements,
      { ...day, traded_on: '2026-11-23' },
      'traded_on',
      /out of range/,
    ],
    [
      'a date after the month of the contract',
      settlements,
      { ...day, contract: 'WTI_FUTURES_2026_10' },
      'traded_on',
      /has ended/,
    ],
    [
      'neither close nor settlement',
      settlements,
      { ...day, close: '' },
      'close',
      /a close, a settlement or both/,
    ],
    [
      'a price in another unit',
      settlements,
      { ...day, close: '7195' },
      'close',
      /out of range, -1408 to 1408: check the unit/,
    ],
    ['a price with a comma', settlements, { ...day, close: '71,95' }, 'close', /is not a number/],
    [
      'low above high',
      settlements,
      { ...day, high: '70', low: '71', close: '', settlement: '70.5' },
      'low',
      /above the high/,
    ],
    ['a close above the high', settlements, { ...day, high: '70' }, 'high', /is below 71.95/],
    ['an open below the low', settlements, { ...day, open: '70', low: '71' }, 'low', /is above 70/],
    ['half a lot', settlements, { ...day, volume: '1.5' }, 'volume', /is not a whole number/],
    [
      'a source that is not a label',
      settlements,
      { ...day, source: 'a b' },
      'source',
      /is not a label/,
    ],
    [
      'a time without a zone',
      ticks,
      { ...tick, traded_at: '2026-11-19T15:00:00' },
      'traded_at',
      /is not a time/,
    ],
    [
      'a tick of the weekend',
      ticks,
      { ...tick, traded_at: '2026-11-14T15:00:00Z' },
      'traded_at',
      /is on a weekend/,
    ],
    ['a tick without a price', ticks, { ...tick, price: '' }, 'price', /is missing/],
  ]
  for (const [name, dataset, row, field, reason] of cases) {
    test(name, () => {
      const fault = check(dataset, row) as DatasetFault
      expect(fault.field).toBe(field)
      expect(fault.reason).toMatch(reason)
      expect(fault.reason.startsWith(field)).toBe(true)
    })
  }

  test('but prices below zero, JSON numbers and blanks are taken', () => {
    const row = {
      contract: 'WTI_FUTURES_2020_05',
      traded_on: '2020-04-20',
      close: -37.63,
      settlement: null,
      volume: '',
      open: undefined,
    }
    expect(check(settlements, row)).toEqual({
      record: {
        family: 'WTI_FUTURES',
        month: '2020-05',
        tradedOn: '2020-04-20',
        open: null,
        high: null,
        low: null,
        close: -37.63,
        settlement: null,
        volume: null,
        openInterest: null,
        source: 'import',
      },
    })
  })
})
