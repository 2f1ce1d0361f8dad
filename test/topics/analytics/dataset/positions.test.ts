import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { importDataset, type RowWriter } from '../../../../src/feeds/files/row-import.ts'
import type { CotRecord } from '../../../../src/topics/analytics/dataset/positions.ts'
import { noInput } from '../../../support/instance/memory-writer.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'
import { realDataFolder } from '../../../support/requirements.ts'
import { faultOf, now } from '../../../support/topics/carriers.ts'
import { openPositionDatasets, record } from '../../../support/topics/positions.ts'

const row = {
  market: 'WTI',
  report_date: '2026-11-17',
  managed_money_long: '176380',
  managed_money_short: '117333',
  open_interest: '2035649',
}
const week = {
  report_date: '2026-11-17',
  wti_oil_mm_long: '176380.0',
  wti_oil_mm_short: '117333.0',
  wti_oil_oi: '2035649.0',
  nat_gas_mm_long: '174417.0',
  nat_gas_mm_short: '196351.0',
  nat_gas_oi: '1625943.0',
}
const wti = {
  market: 'WTI',
  reportedOn: '2026-11-17',
  managedMoneyLong: 176_380,
  managedMoneyShort: 117_333,
  openInterest: 2_035_649,
  source: 'CFTC',
}

describe('positions', () => {
  test('are a report a row, or one for each market of a week', () => {
    const { positions } = openPositionDatasets()
    expect(record(positions, row, now)).toEqual([wti])
    const gas = {
      ...wti,
      market: 'NATURAL_GAS',
      managedMoneyLong: 174_417,
      managedMoneyShort: 196_351,
      openInterest: 1_625_943,
    }
    expect(record(positions, week, now)).toEqual([wti, gas])
  })

  test('take JSON numbers, the number of a market, and a day with its midnight', () => {
    const { positions } = openPositionDatasets()
    const sent = {
      market: '067651',
      report_date: '2026-11-17T00:00:00.000',
      managed_money_long: 176380,
      managed_money_short: 117333,
    }
    expect(record(positions, { ...sent, open_interest: 2035649 }, now)).toEqual([wti])
  })

  for (const [change, field, reason] of [
    [{ market: '' }, 'market', 'market is missing: '],
    [{ market: '<script>' }, 'market', ' is not a name: '],
    [{ report_date: '17/11/2026' }, 'report_date', ' is not a day: '],
    [{ report_date: '2026-11-21' }, 'report_date', ' is out of range: '],
    [{ report_date: '2026-02-30' }, 'report_date', ' is not a day: '],
    [{ managed_money_long: '' }, 'managed_money_long', ' is missing: '],
    [{ managed_money_long: '176,380' }, 'managed_money_long', ' is not a number '],
    [{ managed_money_long: '176380.5' }, 'managed_money_long', ' is not whole: '],
    [{ managed_money_short: '-1' }, 'managed_money_short', ' is not a number '],
    [
      { managed_money_short: '2035650' },
      'managed_money_short',
      ' is more than the open interest 2035649: ',
    ],
    [{ open_interest: undefined }, 'open_interest', ' is missing: '],
  ] as const) {
    test(`are refused for ${JSON.stringify(change)}`, () => {
      expect(faultOf(openPositionDatasets().positions, { ...row, ...change })).toMatchObject({
        field,
        reason: expect.stringContaining(reason),
      })
    })
  }

  test('of a week are refused when one of its markets lacks a number', () => {
    const { positions } = openPositionDatasets()
    expect(faultOf(positions, { ...week, nat_gas_mm_short: '' })).toMatchObject({
      field: 'nat_gas_mm_short',
    })
    expect(faultOf(positions, { ...week, nat_gas_oi: '' })).toMatchObject({ field: 'nat_gas_oi' })
    expect(
      faultOf(positions, { ...week, nat_gas_mm_long: '', nat_gas_mm_short: '', nat_gas_oi: '' }),
    ).toBeUndefined()
  })

  test('count rows: a week again is unchanged, a week of which one market changed is revised', () => {
    const { positions, cot } = openPositionDatasets()
    const sent = record(positions, week, now)
    const changed = record(positions, { ...week, nat_gas_mm_long: '174418' }, now)
    expect(positions.write([sent], 1)).toEqual({ inserted: 1, revised: 0, unchanged: 0 })
    expect(positions.write([sent], 2)).toEqual({ inserted: 0, revised: 0, unchanged: 1 })
    expect(positions.write([changed], 3)).toEqual({ inserted: 0, revised: 1, unchanged: 0 })
    expect(cot.page('NATURAL_GAS', 10, 0).map(row => row.managedMoneyLong)).toEqual([174_418])
  })
})

/** Judges and writes rows as the server does: a batch is written as a whole or refused. */
function writerOf(positions: ReturnType<typeof openPositionDatasets>['positions']): RowWriter {
  return {
    batchMax: 50,
    async write(rows, dryRun) {
      const judged = rows.map(row => positions.check(row, now))
      const faults = judged.flatMap((verdict, i) =>
        'reason' in verdict ? [{ row: i, reason: verdict.reason }] : [],
      )
      if (faults.length > 0) return { faults }
      const records = judged as { record: CotRecord }[]
      const none = { inserted: 0, revised: 0, unchanged: 0 }
      return {
        counts: dryRun
          ? none
          : positions.write(
              records.map(record => record.record),
              now,
            ),
      }
    },
  }
}

needs('../shared/data').describe(`the file of the agency's weeks`, () => {
  const { positions, cot } = openPositionDatasets()
  const file = resolve(realDataFolder, 'cftc-cot/managed_money_weekly.csv')
  const imported = () =>
    importDataset({
      files: [file],
      layout: positions,
      mapping: new Map([['report_date', 'date']]),
      dryRun: false,
      writer: writerOf(positions),
      stdin: noInput(),
      rejectedPath: () => `${file}.none`,
    })
  const rows = realRows('cftc-cot/managed_money_weekly.csv')

  test('position reports can be imported as the README describes, with --map report_date=date', async () => {
    expect(await imported()).toMatchObject({
      read: 156,
      inserted: 156,
      revised: 0,
      unchanged: 0,
      rejected: 0,
    })
    expect(cot.count(undefined)).toBe(3 * 156)
    expect(cot.markets()).toEqual(['NATURAL_GAS', 'RBOB', 'WTI'])
  })

  test('comes back with its own net positions and their changes', () => {
    // Columns of the file: date, then long, short, net, net percent and open interest of three
    // markets.
    for (const [i, market] of ['WTI', 'NATURAL_GAS', 'RBOB'].entries()) {
      const nets = rows.map(row => Number(row[3 + 5 * i]))
      const stored = cot.page(market, 1000, 0).toReversed()
      expect(stored.map(row => row.reportedOn)).toEqual(rows.map(row => row[0]!))
      expect(stored.map(row => row.managedMoneyLong - row.managedMoneyShort)).toEqual(nets)
      expect(stored.map(row => row.openInterest)).toEqual(rows.map(row => Number(row[5 + 5 * i])))
      expect(stored.map(row => row.change)).toEqual(
        nets.map((net, n) => (n === 0 ? undefined : net - nets[n - 1]!)),
      )
    }
  })

  test('changes nothing when it comes again', async () => {
    expect(await imported()).toMatchObject({ inserted: 0, revised: 0, unchanged: 156, rejected: 0 })
  })
})
