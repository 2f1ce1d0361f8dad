import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import {
  type FracSpreads,
  fracSpreads,
  type RigCount,
  rigCounts,
} from '../../../../src/topics/drilling/dataset/counts.ts'
import { basinKeys } from '../../../../src/topics/drilling/math/drilling.ts'
import { createDrillingMetricStore } from '../../../../src/topics/drilling/store/metrics.ts'
import { createRegionalStore } from '../../../../src/topics/drilling/store/regional.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const everything = { fromOn: '', toOn: '9999-12-31' }
const spreads = (region: string, countedOn: string, active: number): FracSpreads => ({
  region,
  countedOn,
  active,
  source: 'Crew survey',
})
const rigs = (region: string, countedOn: string, total: number): RigCount => ({
  region,
  countedOn,
  total,
  oil: total,
  gas: 0,
  misc: 0,
  span: 'week',
  source: 'Rig survey',
})

describe('writing', () => {
  test('writing regional rows separates new, corrected and repeated rows and stores when each was recorded', () => {
    const store = createRegionalStore(readsNow(databaseInMemory()), fracSpreads)
    const rows = [spreads('US', '2026-11-13', 198), spreads('permian', '2026-11-13', 92)]
    expect(store.write(rows, 1000)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
    expect(store.write(rows, 2000)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
    expect(
      store.write(
        [spreads('US', '2026-11-13', 199), rows[1]!, spreads('US', '2026-11-20', 197)],
        3000,
      ),
    ).toEqual({
      inserted: 1,
      revised: 1,
      unchanged: 1,
    })
    expect(store.between('US', '', '9999').map(row => [row.active, row.recordedAt])).toEqual([
      [199, 3000],
      [197, 3000],
    ])
    expect(store.before('permian', '2026-11-20')?.recordedAt).toBe(1000)
  })
  test('is all or nothing', () => {
    const store = createRegionalStore(readsNow(databaseInMemory()), rigCounts)
    const broken = { ...rigs('US', '2026-11-20', 546), gas: 1 }
    expect(() => store.write([rigs('US', '2026-11-13', 544), broken], 1)).toThrow()
    expect(store.count(['US'], everything)).toBe(0)
  })
})

describe('a list', () => {
  const filled = () => {
    const store = createRegionalStore(readsNow(databaseInMemory()), fracSpreads)
    const days = Array.from({ length: 40 }, (_, i) => dayAfter('2026-10-01', i))
    // Some basins begin later, and the country and a state are of no list of basins.
    const rows = days.flatMap((day, i) =>
      [...basinKeys.slice(0, i < 10 ? 3 : 9), 'US', 'TX'].map((region, j) =>
        spreads(region, day, 10 * j + (i % 7)),
      ),
    )
    store.write(rows, 1)
    return store
  }
  const store = filled()
  const total = store.count(basinKeys, everything)

  test('is numbered from 1 in chronological order, whatever it was filtered by', () => {
    const all = store.page(basinKeys, everything, 1000, 0)
    expect(all.map(row => row.id)).toEqual(Array.from({ length: total }, (_, i) => total - i))
    for (const regions of [['permian'], ['bakken', 'other']]) {
      for (const row of store.page(basinKeys, { ...everything, regions }, 1000, 0)) {
        expect(all[total - row.id]).toEqual(row)
        expect(store.numbered(basinKeys, row.id)).toEqual(row)
      }
    }
    expect([store.numbered(basinKeys, 0), store.numbered(basinKeys, total + 1)]).toEqual([
      undefined,
      undefined,
    ])
  })
  test('neither repeats nor loses a row over its pages', () => {
    const all = store.page(basinKeys, everything, 1000, 0)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), size => {
        const pages = Array.from({ length: Math.ceil(total / size) + 1 }, (_, i) =>
          store.page(basinKeys, everything, size, i * size),
        )
        expect(pages.flat()).toEqual(all)
      }),
      { numRuns: 20 },
    )
  })
  test('has the change since the count before of the same region', () => {
    const [newest] = store.page(basinKeys, { ...everything, regions: ['permian'] }, 1, 0)
    expect(newest?.change).toBe((39 % 7) - (38 % 7))
    expect(store.numbered(basinKeys, 1)?.change).toBeUndefined()
  })
  test('keeps to its half-open days', () => {
    const range = { fromOn: '2026-10-05', toOn: '2026-10-07' }
    const days = new Set(store.page(basinKeys, range, 100, 0).map(row => row.countedOn))
    expect([...days]).toEqual(['2026-10-06', '2026-10-05'])
    expect(store.count(basinKeys, range)).toBe(6)
  })
  test('knows its newest day and the first of a region', () => {
    expect([
      store.newestOn(['US']),
      store.newestOn(['US'], '2026-10-05'),
      store.newestOn(['nowhere']),
    ]).toEqual(['2026-11-09', '2026-10-04', undefined])
    expect([store.firstOn('other'), store.firstOn('nowhere')]).toEqual(['2026-10-11', undefined])
  })
})

describe('the list over all metrics', () => {
  const db = databaseInMemory()
  const metrics = createDrillingMetricStore(readsNow(db))
  createRegionalStore(readsNow(db), rigCounts).write(
    [
      rigs('US', '2026-11-13', 546),
      rigs('permian', '2026-11-13', 251),
      rigs('TX', '2026-11-13', 247),
      { ...rigs('permian', '2019-05-15', 400), span: 'month' },
    ],
    1,
  )
  createRegionalStore(readsNow(db), fracSpreads).write(
    [
      spreads('US', '2026-11-13', 198),
      spreads('permian', '2026-11-12', 91),
      spreads('permian', '2026-11-13', 92),
    ],
    1,
  )
  const all = { ...everything, regions: undefined }
  const valuesOf = (rows: ReturnType<typeof metrics.page>) =>
    rows.map(row => `${row.countedOn} ${row.metric} ${row.region} ${row.value}`)

  test('has basins and states, not the country and not the means of months', () => {
    expect(valuesOf(metrics.page(all, 10, 0))).toEqual([
      '2026-11-13 rig_count permian 251',
      '2026-11-13 rig_count TX 247',
      '2026-11-13 frac_spreads permian 92',
      '2026-11-12 frac_spreads permian 91',
    ])
    expect(metrics.count(all)).toBe(4)
  })
  test('is filtered by metric and region, and counted alike', () => {
    const filter = { ...everything, metric: 'frac_spreads', regions: ['permian'] } as const
    expect({ page: metrics.page(filter, 10, 0).length, count: metrics.count(filter) }).toEqual({
      page: 2,
      count: 2,
    })
    expect({
      page: metrics.page({ ...all, regions: ['TX'] }, 10, 0).length,
      count: metrics.count({ ...all, regions: ['TX'] }),
    }).toEqual({ page: 1, count: 1 })
    expect(valuesOf(metrics.page(all, 1, 2))).toEqual(['2026-11-13 frac_spreads permian 92'])
    expect([
      metrics.before('frac_spreads', 'permian', '2026-11-13'),
      metrics.before('rig_count', 'permian', '2026-11-13'),
    ]).toEqual([91, undefined])
  })
})
