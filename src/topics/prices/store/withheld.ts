import type { Database } from 'bun:sqlite'
import { lazy, statements } from '../../../database/statement.ts'
import type { Declared } from '../../../datasets/dataset.ts'
import { parseDay, startOfDay } from '../../../lib/time/instant.ts'
import { shippedTermsOf } from '../../catalogue/math/delivery-codes.ts'
import { dayAt, type MarketDay } from '../../delivery/math/days.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'

/**
 * Which observations of a series are not passed on, of those known now or at a moment of the past;
 * undefined where all are.
 */
export type Withheld = (
  seriesId: number,
  asOf?: number,
) => Pick<ReadonlySet<number>, 'has'> | undefined

/** The same with their times. */
export type WithheldTimes = (seriesId: number, asOf?: number) => ReadonlySet<number> | undefined

/** Whether the values of a series, as the operator or the catalogue declares, may be displayed only. */
export type IsViewOnly = (seriesId: number) => boolean

export function createViewOnly(db: Database): IsViewOnly {
  const declared = lazy<{ code: string; licenseClass: string | null }, [number]>(
    db,
    `SELECT code, terms ->> 'licenseClass' AS licenseClass
     FROM series LEFT JOIN series_terms ON series_id = id WHERE id = ?`,
  )
  return seriesId => {
    const series = declared.get(seriesId)
    return (
      series !== undefined &&
      (series.licenseClass ?? shippedTermsOf(series.code)?.licenseClass) === 'view'
    )
  }
}

/** Whether a value of a series, current or replaced, is not passed on because of its source. */
export type IsValueWithheld = (seriesId: number, sourceId: number) => boolean

export function createValueWithheld(
  db: Database,
  feeds: readonly string[],
  isViewOnly: IsViewOnly,
): IsValueWithheld {
  const named = lazy<{ found: 1 }, [number, string]>(
    db,
    "SELECT 1 AS found FROM value_sources WHERE id = ? AND kind = 'feed' AND name IN (SELECT value FROM json_each(?))",
  )
  const names = JSON.stringify(feeds)
  return (seriesId, sourceId) => named.get(sourceId, names) !== undefined || isViewOnly(seriesId)
}

/**
 * Observations, by their time, that may not be passed on: those of feeds whose terms do not allow
 * it, and all of a series that is for display only.
 */
export function createWithheld(
  db: Database,
  feeds: readonly string[],
  isViewOnly: IsViewOnly,
): WithheldTimes {
  const sql = statements(db)
  const ofFeeds =
    "SELECT id FROM value_sources WHERE kind = 'feed' AND name IN (SELECT value FROM json_each(?2))"
  const hasAny = sql`
    SELECT 1 FROM series_sources WHERE series_id = ?1 AND source_id IN (${ofFeeds}) LIMIT 1`
  const rows = sql<{ observedAt: number }, [number, string, number]>`
    SELECT observed_at AS observedAt FROM observations
    WHERE series_id = ?1 AND source_id IN (${ofFeeds}) AND recorded_at <= ?3
    UNION SELECT observed_at FROM observation_revisions
    WHERE series_id = ?1 AND source_id IN (${ofFeeds}) AND recorded_at <= ?3 AND replaced_at > ?3
    ORDER BY observedAt`
  const all = sql<{ observedAt: number }, [number]>`
    SELECT observed_at AS observedAt FROM observations WHERE series_id = ?1
    UNION SELECT observed_at FROM observation_revisions WHERE series_id = ?1 ORDER BY observedAt`
  const names = JSON.stringify(feeds)
  return (seriesId, asOf = Number.MAX_SAFE_INTEGER) => {
    if (isViewOnly(seriesId)) return new Set(all.all(seriesId).map(row => row.observedAt))
    return hasAny.get(seriesId, names)
      ? new Set(rows.all(seriesId, names, asOf).map(row => row.observedAt))
      : undefined
  }
}

/** Whether a series has a recorded value for a time, now or at a moment of the past. */
export type IsRecorded = (seriesId: number, observedAt: number, asOf?: number) => boolean

export function createIsRecorded(db: Database): IsRecorded {
  const value = lazy<{ found: 1 }, [number, number, number]>(
    db,
    `SELECT 1 AS found FROM observations WHERE series_id = ?1 AND observed_at = ?2 AND recorded_at <= ?3
     UNION ALL SELECT 1 FROM observation_revisions
     WHERE series_id = ?1 AND observed_at = ?2 AND recorded_at <= ?3 AND replaced_at > ?3`,
  )
  return (seriesId, observedAt, asOf = Number.MAX_SAFE_INTEGER) =>
    value.get(seriesId, observedAt, asOf) !== undefined
}

/**
 * The same with means of delivery periods, of which one that is not passed on is enough.
 * `averagedOf`: the series whose daily means a series has.
 */
export const withheldMeans =
  (
    withheld: WithheldTimes,
    averagedOf: (seriesId: number) => { id: number; delivery: DeliveryTerms } | undefined,
    isRecorded: IsRecorded,
  ): WithheldTimes =>
  (seriesId, asOf) => {
    const direct = withheld(seriesId, asOf)
    const leg = averagedOf(seriesId)
    const parts = leg && withheld(leg.id, asOf)
    if (!leg || !parts) return direct
    const days = new Set<number>()
    let day: MarketDay | undefined
    for (const at of parts) {
      if (day && at >= day.from && at < day.to) continue
      day = dayAt(leg.delivery, at)
      days.add(parseDay(day.date)!)
    }
    return new Set([...(direct ?? []), ...[...days].filter(at => !isRecorded(seriesId, at, asOf))])
  }

/**
 * Withholds values of formulas, too, that may rest on a withheld value: a formula looks back alone,
 * so those are its values from the day of the first one on. `restsOn`: the series that a formula is
 * computed from, over any number of levels; none of a series without a formula.
 */
export function withholdDerived(
  withheld: WithheldTimes,
  restsOn: (seriesId: number) => readonly number[],
  isViewOnly: IsViewOnly,
): Withheld {
  return (seriesId, asOf) => {
    if (isViewOnly(seriesId)) return { has: () => true }
    const legs = restsOn(seriesId)
    if (legs.length === 0) return withheld(seriesId, asOf)
    let first = Number.POSITIVE_INFINITY
    for (const leg of legs) for (const at of withheld(leg, asOf) ?? []) first = Math.min(first, at)
    return first === Number.POSITIVE_INFINITY
      ? undefined
      : { has: observedAt => observedAt >= startOfDay(first) }
  }
}

/** Whether a row of a dataset, by the columns of its import, is not passed on. */
export type IsRowWithheld = (
  row: Readonly<Record<string, unknown>>,
  recordedAt: number | undefined,
) => boolean

/** The same for each dataset. */
export type WithheldRows = (
  dataset: Pick<Declared, 'name' | 'key' | 'recordTable'>,
) => IsRowWithheld

/**
 * Rows of datasets that such feeds have written, as their batches say; where the batch of a row is
 * not known, whose key one of these feeds has ever written.
 */
export function createWithheldRows(db: Database, feeds: readonly string[]): WithheldRows {
  const sql = statements(db)
  const names = JSON.stringify(feeds)
  const owned = sql<{ key: string }, [string, string]>`
    SELECT r.key FROM feed_rows r JOIN feeds f ON f.number = r.feed_number
    WHERE r.dataset = ?1 AND f.name IN (SELECT value FROM json_each(?2))`
  const written = sql<{ recordedAt: number; isOfThem: number }, [string, string]>`
    SELECT c.recorded_at AS recordedAt, coalesce(r.feed IN (SELECT value FROM json_each(?2)), 0) AS isOfThem
    FROM dataset_changes c JOIN batches b ON b.id = c.batch_id LEFT JOIN feed_runs r ON r.id = b.feed_run_id
    WHERE c.subject = ?1`
  return ({ name, key, recordTable }) => {
    const keys = new Set(owned.all(name, names).map(row => row.key))
    if (keys.size === 0) return () => false
    const batches = new Map(
      written.all(recordTable?.name ?? '', names).map(row => [row.recordedAt, row.isOfThem === 1]),
    )
    return (row, recordedAt = Number.NaN) =>
      batches.get(recordedAt) ??
      keys.has(JSON.stringify(key.map(column => String(row[column] ?? ''))))
  }
}

/** The observations of a series that are of one source, by their time. */
export type OfSource = (seriesId: number) => ReadonlySet<number>

/** Filters by a feed or a source name, in any case; undefined where no value was ever from it. */
export function createSourceFilter(db: Database, name: string): OfSource | undefined {
  const ids = db
    .query<{ id: number }, [string]>('SELECT id FROM value_sources WHERE lower(name) = lower(?)')
    .all(name)
    .map(({ id }) => id)
  if (ids.length === 0) return undefined
  const rows = lazy<{ observedAt: number }, [number, string]>(
    db,
    `SELECT observed_at AS observedAt FROM observations
     WHERE series_id = ?1 AND source_id IN (SELECT value FROM json_each(?2))`,
  )
  const list = JSON.stringify(ids)
  return seriesId => new Set(rows.all(seriesId, list).map(row => row.observedAt))
}
