import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

/** A point whose value was corrected. */
export interface Correction {
  observedAt: number
  /** When the value before the present one was replaced, Unix ms. */
  correctedAt: number
  /** The value before. */
  before: number
  /** The value now; null where the point was withdrawn. */
  after: number | null
}

export type CorrectionStore = ReturnType<typeof createCorrectionStore>

/** A value that was recorded again for an earlier moment was known for longer, and not corrected. */
const isAnotherIn = (table: string) =>
  `AND NOT EXISTS (SELECT 1 FROM ${table} n WHERE n.series_id = r.series_id
     AND n.observed_at = r.observed_at AND n.recorded_at = r.replaced_at AND n.value = r.value)`

export function createCorrectionStore(db: Database) {
  const between = lazy<Correction, [number, number, number, number, number]>(
    db,
    `SELECT r.observed_at AS observedAt, max(r.replaced_at) AS correctedAt, r.value AS before,
       coalesce(
         (SELECT n.value FROM observation_revisions n WHERE n.series_id = r.series_id
            AND n.observed_at = r.observed_at AND n.recorded_at <= ?4 AND n.replaced_at > ?4),
         (SELECT o.value FROM observations o WHERE o.series_id = r.series_id
            AND o.observed_at = r.observed_at AND o.recorded_at <= ?4)) AS after
     FROM observation_revisions r
     WHERE r.series_id = ?1 AND r.observed_at >= ?2 AND r.observed_at < ?3 AND r.replaced_at <= ?4
       ${isAnotherIn('observations')} ${isAnotherIn('observation_revisions')}
     GROUP BY r.observed_at ORDER BY r.observed_at DESC LIMIT ?5`,
  )
  return {
    /** Points of a series in a half-open range that were corrected by a moment, oldest first. */
    between: (seriesId: number, from: number, to: number, asOf: number, limit: number) =>
      between.all(seriesId, from, to, asOf, limit).reverse(),
  }
}
