import { describe, expect, test } from 'bun:test'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { createSeriesStore } from '../../../../src/topics/catalogue/store/series.ts'
import type { StorageCapacity } from '../../../../src/topics/fundamentals/dataset/storage-capacities.ts'
import { createStorageCapacityStore } from '../../../../src/topics/fundamentals/store/storage-capacities.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

function setUp() {
  const db = databaseInMemory()
  const series = createSeriesStore(db)
  series.put(shippedCatalogue().series, [])
  const ids = new Map(series.all().map(series => [series.code, series.id]))
  const row = (
    effectiveOn: string,
    capacity: number,
    code = 'CUSHING_STORAGE',
    source = 'EIA',
  ): StorageCapacity => ({
    seriesId: ids.get(code)!,
    effectiveOn,
    capacity,
    source,
  })
  return {
    store: createStorageCapacityStore(readsNow(db)),
    cushing: ids.get('CUSHING_STORAGE')!,
    row,
  }
}

describe('the capacity of a day', () => {
  test('is the newest that took effect by then', () => {
    const { store, cushing, row } = setUp()
    store.write(
      [
        row('2024-03-01', 78.41),
        row('2022-03-01', 78.449),
        row('2023-03-01', 77.99),
        row('2023-06-01', 164, 'PADD2_CRUDE_STORAGE'),
      ],
      1,
    )
    expect(
      ['2022-02-28', '2022-03-01', '2023-02-28', '2024-02-29', '2024-03-01', '2026-11-18'].map(
        day => store.on(cushing, day)?.capacity,
      ),
    ).toEqual([undefined, 78.449, 78.449, 77.99, 78.41, 78.41])
    expect(store.on(cushing, '2023-04-01')).toEqual(row('2023-03-01', 77.99))
  })
})

describe('written again', () => {
  test('the same is unchanged, another capacity or source is a revision', () => {
    const { store, cushing, row } = setUp()
    const rows = [row('2023-03-01', 77.99), row('2024-03-01', 78.41)]
    expect(store.write(rows, 1)).toEqual({ inserted: 2, revised: 0, unchanged: 0 })
    expect(store.write(rows, 2)).toEqual({ inserted: 0, revised: 0, unchanged: 2 })
    expect(
      store.write(
        [row('2023-03-01', 78), row('2024-03-01', 78.41, 'CUSHING_STORAGE', 'survey')],
        3,
      ),
    ).toEqual({
      inserted: 0,
      revised: 2,
      unchanged: 0,
    })
    expect(store.on(cushing, '2024-12-31')?.source).toBe('survey')
  })

  test('one wrong row keeps all of them out', () => {
    const { store, cushing, row } = setUp()
    expect(() => store.write([row('2023-03-01', 77.99), row('2024-03-01', 0)], 1)).toThrow()
    expect(store.on(cushing, '2026-01-01')).toBeUndefined()
  })
})
