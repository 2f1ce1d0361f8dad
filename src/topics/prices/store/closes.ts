import type { Database } from 'bun:sqlite'
import { bornAt } from '../../../database/bar-columns.ts'
import { statements } from '../../../database/statement.ts'
import { dayMs } from '../../../lib/time/instant.ts'

/** The close of one day as the day bars have it. */
export interface StoredClose {
  /** Midnight UTC of the day, Unix ms. */
  startsAt: number
  value: number
}

export interface DatedClose extends StoredClose {
  recordedAt: number
  bornAt: number
}

export interface CloseStore {
  /**
   * Every day of a series that has observations, oldest first; of a computed one those from a time
   * on.
   */
  all(seriesId: number, from?: number): StoredClose[]
  /** The same, each with when its newest value and its first were recorded. */
  dated(seriesId: number): DatedClose[]
  /** Days of which a value that is replaced now was current at `asOf`. */
  daysRevisedSince(seriesId: number, asOf: number, from?: number): number[]
  /** Days of which any value was ever replaced. */
  daysEverRevised(seriesId: number, from?: number): number[]
  /** When the newest correction of an observation made in `[from, to)` was recorded. */
  revisedAt(seriesId: number, from: number, to: number, by?: number): number | undefined
}

export function createCloseStore(db: Database): CloseStore {
  const sql = statements(db)
  // One range of the primary key, days only, and two of its thirteen columns: forty years are ten
  // thousand rows.
  const all = sql<StoredClose, [number]>`
    SELECT starts_at AS startsAt, close AS value FROM bars WHERE series_id = ? AND span = 24 ORDER BY starts_at`
  const dated = sql<DatedClose, [number]>`
    SELECT starts_at AS startsAt, close AS value, recorded_at AS recordedAt, ${bornAt('bars')} AS bornAt
    FROM bars WHERE series_id = ? AND span = 24 ORDER BY starts_at`
  const revised = (condition: string) =>
    sql<{ startsAt: number }, number[]>`
      SELECT DISTINCT observed_at - ((observed_at % ${dayMs}) + ${dayMs}) % ${dayMs} AS startsAt FROM observation_revisions
      WHERE series_id = ?1 ${condition} ORDER BY 1`
  const revisedSince = revised('AND recorded_at <= ?2 AND replaced_at > ?2')
  const everRevised = revised('')
  const revisedAt = sql<{ at: number | null }, [number, number, number, number]>`
    SELECT max(replaced_at) AS at FROM observation_revisions WHERE series_id = ? AND observed_at >= ? AND observed_at < ? AND replaced_at <= ?`
  return {
    all: seriesId => all.all(seriesId),
    dated: seriesId => dated.all(seriesId),
    daysRevisedSince: (seriesId, asOf) => revisedSince.all(seriesId, asOf).map(row => row.startsAt),
    daysEverRevised: seriesId => everRevised.all(seriesId).map(row => row.startsAt),
    revisedAt: (seriesId, from, to, by = Number.MAX_SAFE_INTEGER) =>
      revisedAt.get(seriesId, from, to, by)?.at ?? undefined,
  }
}
