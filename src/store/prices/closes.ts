import type { Database } from 'bun:sqlite'

/** The close of one day as the day bars have it. */
export interface StoredClose {
  /** Midnight UTC of the day, Unix ms. */
  startsAt: number
  value: number
}

export interface CloseStore {
  /** Every day of a series that has observations, oldest first. */
  all(seriesId: number): StoredClose[]
  /** When the newest correction of an observation made in `[from, to)` was recorded. */
  revisedAt(seriesId: number, from: number, to: number): number | undefined
}

export function createCloseStore(db: Database): CloseStore {
  // One range of the primary key, days only, and two of its thirteen columns: forty years are ten
  // thousand rows.
  const all = db.query<StoredClose, [number]>(
    'SELECT starts_at AS startsAt, close AS value FROM bars WHERE series_id = ? AND span = 24 ORDER BY starts_at',
  )
  const revisedAt = db.query<{ at: number | null }, [number, number, number]>(
    'SELECT max(replaced_at) AS at FROM observation_revisions WHERE series_id = ? AND observed_at >= ? AND observed_at < ?',
  )
  return {
    all: seriesId => all.all(seriesId),
    revisedAt: (seriesId, from, to) => revisedAt.get(seriesId, from, to)?.at ?? undefined,
  }
}
