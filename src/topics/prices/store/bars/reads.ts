import type { Database } from 'bun:sqlite'
import { barColumns, bornAt } from '../../../../database/bar-columns.ts'
import { statements } from '../../../../database/statement.ts'
import { dayMs, hourMs } from '../../../../lib/time/instant.ts'
import { type Bar, barsOf, type Observation } from '../../math/bars.ts'
import { createBirths, isSparse, type Span, setBirths } from './recomputed.ts'

/** As `bornBy`: leaves nothing out. */
export const anyTime = Number.MAX_SAFE_INTEGER

/**
 * Whether the row `o` of observations existed at the moment `parameter`. A corrected point existed
 * when its first value is old enough: paging as of that moment returns it with today's value and
 * loses no row.
 */
export const bornBy = (parameter: string): string =>
  `(o.recorded_at <= ${parameter} OR EXISTS (SELECT 1 FROM observation_revisions r
     WHERE r.series_id = o.series_id AND r.observed_at = o.observed_at AND r.recorded_at <= ${parameter}))`

/**
 * A day of a series that has observations: how many, in how many hours, and when the newest was
 * recorded.
 */
export interface Day {
  startsAt: number
  count: number
  hours: number
  recordedAt: number
}

export type BarReads = ReturnType<typeof createBarReads>

/** Start of the hour of an observation; before 1970 the remainder is negative. */
const hourOf = (observedAt: string): string =>
  `(${observedAt} - ((${observedAt} % ${hourMs}) + ${hourMs}) % ${hourMs})`

/** When the first value of the hour of the observation `o` was recorded. */
const hourBornAt = `coalesce((SELECT min(o.recorded_at, min(r.recorded_at)) FROM observation_revisions r
  WHERE r.series_id = o.series_id AND r.observed_at >= ${hourOf('o.observed_at')}
    AND r.observed_at < ${hourOf('o.observed_at')} + ${hourMs}), o.recorded_at)`

export function createBarReads(db: Database) {
  const sql = statements(db)
  const bars = sql<Bar, number[]>`
    SELECT ${barColumns} FROM bars b WHERE series_id = ? AND span = ? AND starts_at >= ? AND starts_at < ? AND ${bornAt('b')} <= ?
    ORDER BY starts_at DESC LIMIT ?`
  // Days that have not changed since are used as stored; only the others are counted again.
  const inDay = (at: string) => `${at} >= d.starts_at AND ${at} < d.starts_at + ${dayMs}`
  const sparse = `d.series_id = ?1 AND d.span = 24 AND d.starts_at > ?2 - ${dayMs} AND d.starts_at < ?3 AND ${isSparse('d')}`
  const sparseDays = sql<{ startsAt: number; hours: number }, number[]>`
    SELECT d.starts_at AS startsAt, coalesce(d.hours, 1) AS hours FROM bars d WHERE ${sparse}
    ORDER BY d.starts_at DESC LIMIT ?4`
  const ofSparseDays = sql<Observation, number[]>`
    SELECT o.observed_at AS observedAt, o.value, o.recorded_at AS recordedAt FROM bars d CROSS JOIN observations o
    WHERE ${sparse} AND o.series_id = ?1 AND ${inDay('o.observed_at')} AND o.observed_at >= ?2 AND o.observed_at < ?3
    ORDER BY d.starts_at, o.observed_at`
  const days = sql<Day, number[]>`SELECT d.starts_at AS startsAt, d.recorded_at AS recordedAt,
       CASE WHEN d.recorded_at <= ?2 THEN coalesce(d.count, 1) ELSE (SELECT count(*) FROM observations o
         WHERE o.series_id = ?1 AND ${inDay('o.observed_at')} AND ${bornBy('?2')}) END AS count,
       CASE WHEN d.recorded_at <= ?2 THEN coalesce(d.hours, 1)
         WHEN ${isSparse('d')} THEN (SELECT count(DISTINCT ${hourOf('o.observed_at')}) FROM observations o
           WHERE o.series_id = ?1 AND ${inDay('o.observed_at')} AND ${hourBornAt} <= ?2)
         ELSE (SELECT count(*) FROM bars h
           WHERE h.series_id = ?1 AND h.span = 1 AND ${inDay('h.starts_at')} AND ${bornAt('h')} <= ?2) END AS hours
     FROM bars d WHERE d.series_id = ?1 AND d.span = 24 AND d.starts_at >= ?3 AND d.starts_at < ?4 AND ${bornAt('d')} <= ?2 ORDER BY d.starts_at`
  const newestRecorded = sql<{ at: number | null }, number[]>`
    SELECT max(recorded_at) AS at FROM bars WHERE series_id = ? AND span = 24 AND starts_at >= ?`
  const birthsOf = createBirths(db)
  /** Hours that start in `[from, to)` and are not stored, newest first. */
  const hoursOfSparseDays: typeof hours = (seriesId, from, to, limit, bornBy) => {
    const found: Bar[] = []
    const first = nextHour(from)
    let end = nextHour(to)
    while (found.length < limit && first < end) {
      const days = sparseDays.all(seriesId, first, end, limit - found.length)
      if (days.length === 0) break
      let [hours, oldest] = [0, end]
      for (const day of days) {
        if (hours >= limit - found.length) break
        hours += day.hours
        oldest = Math.max(first, day.startsAt)
      }
      const bars = barsOf('hour', ofSparseDays.all(seriesId, oldest, end))
      setBirths('hour', bars, birthsOf(seriesId, oldest, end))
      for (const bar of bars.reverse()) if (bar.bornAt <= bornBy) found.push(bar)
      end = oldest
    }
    return found.slice(0, limit)
  }
  const hours = (
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    bornBy: number,
  ): Bar[] => {
    const stored = bars.all(seriesId, 1, from, to, bornBy, limit)
    // On a full page only hours newer than its last row can have a place.
    const since = stored.length < limit ? from : stored.at(-1)!.startsAt
    return newestFirst(stored, hoursOfSparseDays(seriesId, since, to, limit, bornBy), limit)
  }
  return {
    /** Bars that start in `[from, to)`, newest first. */
    bars: (
      seriesId: number,
      span: Span,
      from: number,
      to: number,
      limit: number,
      bornBy = anyTime,
    ) =>
      span === 1
        ? hours(seriesId, from, to, limit, bornBy)
        : bars.all(seriesId, span, from, to, bornBy, limit),
    /**
     * The days of a series, oldest first, all or those that start in `[from, to)`; with `bornBy` as they
     * were at that moment.
     */
    days: (
      seriesId: number,
      bornBy = anyTime,
      from = Number.MIN_SAFE_INTEGER,
      to = Number.MAX_SAFE_INTEGER,
    ) => days.all(seriesId, bornBy, from, to),
    /** When the newest value of the days that start at `from` or later was recorded. */
    newestRecordedAt: (seriesId: number, from = Number.MIN_SAFE_INTEGER) =>
      newestRecorded.get(seriesId, from)?.at ?? Number.NEGATIVE_INFINITY,
  }
}

/** The first start of an hour from `at` on. */
const nextHour = (at: number): number => Math.ceil(at / hourMs) * hourMs

/** Bars of two lists that are newest first, in that order. */
function newestFirst(some: Bar[], others: Bar[], limit: number): Bar[] {
  if (others.length === 0) return some
  if (some.length === 0) return others
  return [...some, ...others].sort((a, b) => b.startsAt - a.startsAt).slice(0, limit)
}
