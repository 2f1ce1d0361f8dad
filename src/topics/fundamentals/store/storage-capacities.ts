import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf, type WriteCounts } from '../../../database/write-counts.ts'

/** How much a place can hold from a day on, in the unit of its series. */
export interface StorageCapacity {
  seriesId: number
  effectiveOn: string
  capacity: number
  source: string
}

export interface StorageCapacityStore {
  /**
   * One transaction. The same capacity from the same source is unchanged; anything else for a known
   * day replaces it.
   */
  write(rows: readonly StorageCapacity[], recordedAt: number): WriteCounts
  /** What holds on a day: the newest capacity that took effect by then. */
  on(seriesId: number, day: string): StorageCapacity | undefined
}

const columns: ColumnMap<StorageCapacity> = {
  seriesId: 'series_id',
  effectiveOn: 'effective_on',
  capacity: 'capacity',
  source: 'source',
}

export function createStorageCapacityStore(db: Database): StorageCapacityStore {
  const put = upsert(db, 'storage_capacities', columns, ['seriesId', 'effectiveOn'])
  const on = lazy<StorageCapacity, [number, string]>(
    db,
    `SELECT ${selected(columns)} FROM storage_capacities WHERE series_id = ? AND effective_on <= ? ORDER BY effective_on DESC LIMIT 1`,
  )
  return {
    write: (rows, recordedAt) =>
      transact(db, () => countsOf(rows.map(row => put(row, recordedAt)))),
    on: (seriesId, day) => on.get(seriesId, day) ?? undefined,
  }
}
