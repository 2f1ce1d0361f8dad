import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import { monthAfter } from '../../../../src/topics/calendars/math/period.ts'
import { createStateProductionStore } from '../../../../src/topics/drilling/store/state-production.ts'
import {
  createWellProductionStore,
  type WellMonth,
} from '../../../../src/topics/drilling/store/well-production.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const of = (well: number, month: string, oilBbl: number | null, state = 'TX'): WellMonth => ({
  apiNumber: `${state === 'TX' ? '42' : '30'}329${String(well).padStart(5, '0')}0000`,
  state,
  month,
  oilBbl,
  gasMcf: oilBbl === null ? 5 : 2 * oilBbl,
  waterBbl: null,
  daysProducing: 30,
  source: 'import',
})
const set = () => createWellProductionStore(databaseInMemory())
const numbers = (best: { apiNumber: string; oilBbl: number }[]) =>
  best.map(well => [Number(well.apiNumber.slice(5, 10)), well.oilBbl])

describe('the production of wells', () => {
  test('is written once, corrected in place, and counted', () => {
    const store = set()
    const row = of(1, '2026-08', 100)
    expect(store.write([row, of(1, '2026-07', 120)], 1)).toEqual({
      inserted: 2,
      revised: 0,
      unchanged: 0,
    })
    expect(store.write([row, { ...row, month: '2026-06' }], 2)).toEqual({
      inserted: 1,
      revised: 0,
      unchanged: 1,
    })
    expect(store.write([{ ...row, oilBbl: 90 }], 3)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(store.ofWell(row.apiNumber).map(row => [row.month, row.oilBbl, row.recordedAt])).toEqual(
      [
        ['2026-06', 100, 2],
        ['2026-07', 120, 1],
        ['2026-08', 90, 3],
      ],
    )
    expect(store.total()).toBe(3)
    expect(store.newest()).toEqual([{ state: 'TX', month: '2026-08', wells: 1, source: 'import' }])
    expect(numbers(store.top('TX', '2026-06', '2026-09', 5))).toEqual([[1, 310]])
  })

  test('a month that one write has twice is the last of them, and counted once', () => {
    const store = set()
    const row = of(1, '2026-08', 100)
    expect(store.write([row, row, { ...row, oilBbl: 90 }], 1)).toEqual({
      inserted: 1,
      revised: 1,
      unchanged: 1,
    })
    expect(store.ofWell(row.apiNumber).map(row => row.oilBbl)).toEqual([90])
    expect({
      total: store.total(),
      numbers: numbers(store.top('TX', '2026-08', '2026-09', 5)),
    }).toEqual({ total: 1, numbers: [[1, 90]] })
  })

  test('a call that fails half-way leaves nothing', () => {
    const store = set()
    expect(() => store.write([of(1, '2026-08', 100), of(2, '2026-08', -1)], 1)).toThrow()
    expect({
      total: store.total(),
      newest: store.newest(),
      top: store.top('TX', '2026-01', '2027-01', 5),
    }).toEqual({ total: 0, newest: [], top: [] })
  })

  test('is ranked by the oil of the months asked for, in one state, over the end of a year', () => {
    const store = set()
    store.write(
      [
        of(1, '2025-12', 50),
        of(1, '2026-01', 60),
        of(2, '2025-11', 900),
        of(2, '2026-01', 20),
        of(3, '2026-02', 500),
      ],
      1,
    )
    store.write([of(4, '2026-01', 1000, 'NM'), of(5, '2026-01', null)], 1)
    const best = store.top('TX', '2025-12', '2026-02', 5)
    expect(numbers(best)).toEqual([
      [1, 110],
      [2, 20],
      [5, 0],
    ])
    expect(best.map(well => [well.gasMcf, well.months])).toEqual([
      [220, 2],
      [40, 1],
      [5, 1],
    ])
    expect(numbers(store.top('TX', '2025-12', '2026-02', 1))).toEqual([[1, 110]])
    expect(store.top('AK', '2025-12', '2026-02', 5)).toEqual([])
    expect(store.top('TX', '2026-02', '2026-02', 5)).toEqual([])
  })

  test('is found too when it is behind hundreds of wells that have more in the year', () => {
    const store = set()
    const otherWells = Array.from({ length: 300 }, (_, i) => [
      of(1000 + i, '2026-01', 1000),
      of(1000 + i, '2026-02', 1),
    ]).flat()
    store.write([...otherWells, of(1, '2026-02', 5), of(2, '2026-02', 4), of(2, '2025-12', 4)], 1)
    expect(numbers(store.top('TX', '2026-02', '2026-03', 3))).toEqual([
      [1, 5],
      [2, 4],
      [1000, 1],
    ])
    expect(numbers(store.top('TX', '2025-12', '2026-01', 3))).toEqual([[2, 4]])
  })

  test('the best of any months are those that adding up every well finds', () => {
    const months = Array.from({ length: 30 }, (_, i) => monthAfter('2024-06', i))
    const rows = fc.array(
      fc.record({
        well: fc.integer({ min: 1, max: 120 }),
        month: fc.constantFrom(...months),
        oil: fc.integer({ min: 0, max: 40 }),
      }),
      { minLength: 1, maxLength: 400 },
    )
    fc.assert(
      fc.property(
        rows,
        fc.integer({ min: 0, max: 29 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 90 }),
        (reports, from, length, limit) => {
          const store = set()
          store.write(
            reports.map(report => of(report.well, report.month, report.oil)),
            1,
          )
          const [first, end] = [months[from]!, monthAfter(months[from]!, length)]
          const last = new Map(reports.map(report => [`${report.well}/${report.month}`, report]))
          const sums = new Map<number, number>()
          for (const { well, month, oil } of last.values())
            if (month >= first && month < end) sums.set(well, (sums.get(well) ?? 0) + oil)
          const expected = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit)
          expect(numbers(store.top('TX', first, end, limit))).toEqual(expected)
        },
      ),
      { numRuns: runs(40) },
    )
  })
})

describe('the production of states', () => {
  const state = (code: string, month: string, oilBbl: number, more = {}) => ({
    state: code,
    month,
    oilBbl,
    gasMcf: 3 * oilBbl,
    waterBbl: null,
    provisional: false,
    source: 'EIA',
    ...more,
  })
  const states = () => createStateProductionStore(readsNow(databaseInMemory()))

  test('adds up to the country', () => {
    const store = states()
    store.write(
      [
        state('TX', '2026-08', 500),
        state('NM', '2026-08', 200, { source: 'OCD' }),
        state('TX', '2026-07', 480),
      ],
      1,
    )
    expect(store.national('2026-08')).toEqual({
      month: '2026-08',
      oilBbl: 700,
      gasMcf: 2100,
      waterBbl: null,
      provisional: false,
      sources: ['EIA', 'OCD'],
    })
    store.write([state('NM', '2026-08', 210, { provisional: true, waterBbl: 5 })], 2)
    expect(store.national('2026-08')).toMatchObject({
      oilBbl: 710,
      provisional: true,
      sources: ['EIA'],
    })
    expect(store.national('2026-06')).toBeUndefined()
    expect({
      newestMonth: store.newestMonth(),
      states: store.states(),
      total: store.total(),
    }).toEqual({ newestMonth: '2026-08', states: ['NM', 'TX'], total: 3 })
  })

  test('is answered most oil first for a month, oldest first for a state', () => {
    const store = states()
    store.write(
      [
        state('NM', '2026-08', 200),
        state('TX', '2026-08', 500),
        state('AK', '2026-08', 200),
        state('TX', '2026-06', 1),
      ],
      1,
    )
    expect(store.ofMonth('2026-08').map(row => row.state)).toEqual(['TX', 'AK', 'NM'])
    expect(store.ofState('TX', '2026-06', '2026-08').map(row => row.month)).toEqual(['2026-06'])
    expect(store.ofState('TX', '2026-01', '2027-01').map(row => row.month)).toEqual([
      '2026-06',
      '2026-08',
    ])
    expect(store.newestOf('TX')).toMatchObject({ month: '2026-08', oilBbl: 500, recordedAt: 1 })
    expect(store.newestOf('ND')).toBeUndefined()
  })
})
