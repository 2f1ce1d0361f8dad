import { describe, expect, test } from 'bun:test'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { createSeriesStore } from '../../../../src/topics/catalogue/store/series.ts'
import type { Outlook } from '../../../../src/topics/fundamentals/dataset/outlooks.ts'
import { createOutlookStore } from '../../../../src/topics/fundamentals/store/outlooks.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

function open() {
  const db = databaseInMemory()
  const shipped = shippedCatalogue()
  createSeriesStore(db).put(shipped.series, shipped.aliases)
  return createOutlookStore(readsNow(db))
}
const of = (
  publishedOn: string,
  period: string,
  value: number,
  more: Partial<Outlook> = {},
): Outlook => ({
  source: 'EIA',
  seriesId: 1,
  period,
  value,
  publishedOn,
  targetOn: `${period}-28`,
  fixture: false,
  ...more,
})

describe('the forecasts of agencies', () => {
  test('are numbered by publication, and what comes later gets the next numbers, older publications too', () => {
    const store = open()
    store.write(
      [
        of('2026-11-03', '2026-12', 2),
        of('2026-10-06', '2026-11', 1),
        of('2026-10-06', '2026-12', 3),
      ],
      1,
    )
    expect(
      store.page({}, 'published', 10, 0).map(row => [row.id, row.publishedOn, row.period]),
    ).toEqual([
      [3, '2026-11-03', '2026-12'],
      [1, '2026-10-06', '2026-11'],
      [2, '2026-10-06', '2026-12'],
    ])
    store.write([of('2026-09-01', '2026-12', 9), of('2026-11-03', '2027-01', 8)], 2)
    expect(store.page({}, 'published', 10, 0).map(row => row.id)).toEqual([3, 5, 1, 2, 4])
  })

  test('are corrected under their number; the same again changes nothing', () => {
    const store = open()
    const row = of('2026-11-03', '2026-12', 71.5)
    expect(store.write([row], 1)).toEqual({ inserted: 1, revised: 0, unchanged: 0 })
    expect(store.write([row, { ...row, source: 'IEA' }], 2)).toEqual({
      inserted: 1,
      revised: 0,
      unchanged: 1,
    })
    expect(store.write([{ ...row, value: 72 }], 3)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(store.byId(1)).toEqual({ id: 1, ...row, value: 72, recordedAt: 3 })
  })

  test('are compared by the newest of each agency', () => {
    const store = open()
    store.write(
      [
        of('2026-10-06', '2026-12', 70),
        of('2026-11-03', '2026-12', 71),
        of('2026-11-03', '2027-01', 72),
        of('2026-10-15', '2026-12', 68, { source: 'IEA' }),
        of('2026-09-01', '2026-12', 66, { source: 'IEA', fixture: true }),
        of('2026-11-03', '2026-12', 99, { source: 'another' }),
      ],
      1,
    )
    expect(store.compare(undefined, ['EIA', 'IEA'], 10, 0)).toEqual([
      {
        seriesId: 1,
        period: '2027-01',
        targetOn: '2027-01-28',
        first: 72,
        second: undefined,
        fixture: false,
      },
      {
        seriesId: 1,
        period: '2026-12',
        targetOn: '2026-12-28',
        first: 71,
        second: 68,
        fixture: false,
      },
    ])
    expect(store.countCompared(undefined, ['EIA', 'IEA'])).toBe(2)
    expect(store.countCompared([2], ['EIA', 'IEA'])).toBe(0)
  })

  test('are cut by series, publication and end of the period', () => {
    const store = open()
    store.write(
      [
        of('2026-10-06', '2026-10', 1),
        of('2026-11-03', '2026-11', 2),
        of('2026-11-03', '2026-12', 3, { seriesId: 2 }),
      ],
      1,
    )
    const values = (filter: Parameters<typeof store.page>[0]) =>
      store.page(filter, 'target', 10, 0).map(row => row.value)
    expect(values({ seriesIds: [1] })).toEqual([2, 1])
    expect(values({ published: { fromOn: '2026-11-01', toOn: '2026-11-30' } })).toEqual([3, 2])
    expect(values({ target: { fromOn: '0000-01-01', toOn: '2026-11-27' } })).toEqual([1])
    expect(store.count({ seriesIds: [1, 2] })).toBe(3)
    expect([store.newestOn(undefined), store.newestOn([1]), store.newestOn([3])]).toEqual([
      '2026-11-03',
      '2026-11-03',
      undefined,
    ])
    expect(store.publications('EIA')).toEqual(['2026-10-06', '2026-11-03'])
  })
})
