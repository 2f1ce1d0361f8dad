import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'

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

interface Row {
  series_id: number
  effective_on: string
  capacity: number
  source: string
}

export function createStorageCapacityStore(db: Database): StorageCapacityStore {
  const columns = 'series_id, effective_on, capacity, source'
  const ofDay = db.query<Row, [number, string]>(
    `SELECT ${columns} FROM storage_capacities WHERE series_id = ? AND effective_on = ?`,
  )
  const on = db.query<Row, [number, string]>(
    `SELECT ${columns} FROM storage_capacities WHERE series_id = ? AND effective_on <= ? ORDER BY effective_on DESC LIMIT 1`,
  )
  const put = db.query(
    `INSERT INTO storage_capacities (${columns}, recorded_at) VALUES ($seriesId, $effectiveOn, $capacity, $source, $recordedAt)
     ON CONFLICT DO UPDATE SET capacity = excluded.capacity, source = excluded.source, recorded_at = excluded.recorded_at`,
  )
  return {
    write: (rows, recordedAt) =>
      transact(db, () => {
        const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
        for (const row of rows) {
          const stored = ofDay.get(row.seriesId, row.effectiveOn)
          if (stored && stored.capacity === row.capacity && stored.source === row.source)
            counts.unchanged += 1
          else {
            put.run({ ...row, recordedAt })
            counts[stored ? 'revised' : 'inserted'] += 1
          }
        }
        return counts
      }),
    on(seriesId, day) {
      const row = on.get(seriesId, day)
      return row
        ? {
            seriesId: row.series_id,
            effectiveOn: row.effective_on,
            capacity: row.capacity,
            source: row.source,
          }
        : undefined
    },
  }
}
