import { describe, expect, test } from 'bun:test'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import type { OpecProduction } from '../../../../src/topics/fundamentals/dataset/opec-productions.ts'
import { createOpecStore } from '../../../../src/topics/fundamentals/store/opec.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const of = (country: string, month: string, bpd: number, source = 'EIA'): OpecProduction => ({
  country,
  month,
  bpd,
  source,
})
const all = { country: undefined, fromMonth: '0000-01', toMonth: '9999-12' }

describe('the production of countries', () => {
  test('is numbered by month, and what comes later gets the next numbers, older months too', () => {
    const store = createOpecStore(readsNow(databaseInMemory()))
    store.write([of('Iraq', '2026-10', 3), of('Iran', '2026-09', 2), of('Iraq', '2026-09', 1)], 1)
    expect(store.page(all, 10, 0).map(row => [row.id, row.country, row.month])).toEqual([
      [3, 'Iraq', '2026-10'],
      [1, 'Iran', '2026-09'],
      [2, 'Iraq', '2026-09'],
    ])
    store.write([of('Iraq', '2026-08', 5), of('Iran', '2026-10', 6)], 2)
    expect(store.page(all, 10, 0).map(row => row.id)).toEqual([3, 5, 1, 2, 4])
    expect(store.byId(4)).toMatchObject({ country: 'Iraq', month: '2026-08', recordedAt: 2 })
  })

  test('is corrected under its number; the same again changes nothing', () => {
    const store = createOpecStore(readsNow(databaseInMemory()))
    const row = of('Iraq', '2026-10', 4_150_000)
    expect(store.write([row], 1)).toEqual({ inserted: 1, revised: 0, unchanged: 0 })
    expect(store.write([row], 2)).toEqual({ inserted: 0, revised: 0, unchanged: 1 })
    expect(store.write([{ ...row, bpd: 4_160_000 }], 3)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(store.byId(1)).toEqual({
      id: 1,
      ...row,
      bpd: 4_160_000,
      recordedAt: 3,
      bpdBefore: undefined,
    })
  })

  test('knows the month before of the same country, over the end of a year, and only that', () => {
    const store = createOpecStore(readsNow(databaseInMemory()))
    store.write(
      [
        of('Iraq', '2025-12', 10),
        of('Iraq', '2026-01', 12),
        of('Iraq', '2026-03', 9),
        of('Iran', '2026-02', 1),
      ],
      1,
    )
    expect(
      store.page({ ...all, country: 'Iraq' }, 10, 0).map(row => [row.month, row.bpdBefore]),
    ).toEqual([
      ['2026-03', undefined],
      ['2026-01', 10],
      ['2025-12', undefined],
    ])
  })

  test('is counted and cut by country and months', () => {
    const store = createOpecStore(readsNow(databaseInMemory()))
    store.write(
      [
        of('Iraq', '2026-08', 1),
        of('Iraq', '2026-09', 2),
        of('Iran', '2026-09', 3),
        of('Iraq', '2026-10', 4),
      ],
      1,
    )
    expect(store.count({ country: 'Iraq', fromMonth: '2026-09', toMonth: '2026-10' })).toBe(1)
    expect(store.count({ ...all, fromMonth: '2026-09' })).toBe(3)
    expect({
      newestMonth: store.newestMonth(),
      months: store.months(),
      countryNamed: store.countryNamed('IRAQ'),
    }).toEqual({
      newestMonth: '2026-10',
      months: ['2026-08', '2026-09', '2026-10'],
      countryNamed: 'Iraq',
    })
  })
})
