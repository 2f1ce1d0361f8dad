import type { Database } from 'bun:sqlite'
import { dayMs, hourMs } from '../../lib/instant.ts'
import {
  type Bar,
  barsOf,
  bucketEnd,
  bucketStart,
  extendBar,
  type Observation,
  openBar,
} from '../../market/prices/bars.ts'
import { manyRows } from '../many-rows.ts'
import { lazy } from '../statement.ts'

/** Length of a stored bar in hours. */
export type Span = 1 | 24

const spans = [
  { span: 1, interval: 'hour' },
  { span: 24, interval: 'day' },
] as const

/** As `bornBy`: leaves nothing out. */
export const anyTime = Number.MAX_SAFE_INTEGER

/**
 * Whether the row `o` of observations was there at the moment `parameter`. A corrected point is,
 * when its first value is old enough: whoever walks the pages of that moment sees it with today's
 * value and loses no row.
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

export interface BarReads {
  /** Bars that start in `[from, to)`, newest first. */
  bars(
    seriesId: number,
    span: Span,
    from: number,
    to: number,
    limit: number,
    bornBy?: number,
  ): Bar[]
  /** Every day of a series, oldest first; with `bornBy` as it was at that moment. */
  days(seriesId: number, bornBy?: number): Day[]
}

const columns =
  'starts_at, open, high, low, close, sum, count, hours, closed_at, recorded_at, born_at'
/** The same, named as the code names them: a row comes out of the database as a bar. */
const barColumns =
  'starts_at AS startsAt, open, high, low, close, sum, count, hours, closed_at AS closedAt, recorded_at AS recordedAt, born_at AS bornAt'

export function createBarReads(db: Database): BarReads {
  const bars = lazy<Bar, number[]>(
    db,
    `SELECT ${barColumns} FROM bars WHERE series_id = ? AND span = ? AND starts_at >= ? AND starts_at < ? AND born_at <= ?
     ORDER BY starts_at DESC LIMIT ?`,
  )
  // Days that nothing touched since are taken as they stand; only the others are counted anew.
  const days = lazy<Day, number[]>(
    db,
    `SELECT d.starts_at AS startsAt, d.recorded_at AS recordedAt,
       CASE WHEN d.recorded_at <= ?2 THEN d.count ELSE (SELECT count(*) FROM observations o
         WHERE o.series_id = ?1 AND o.observed_at >= d.starts_at AND o.observed_at < d.starts_at + ${dayMs} AND ${bornBy('?2')}) END AS count,
       CASE WHEN d.recorded_at <= ?2 THEN d.hours ELSE (SELECT count(*) FROM bars h
         WHERE h.series_id = ?1 AND h.span = 1 AND h.starts_at >= d.starts_at AND h.starts_at < d.starts_at + ${dayMs} AND h.born_at <= ?2) END AS hours
     FROM bars d WHERE d.series_id = ?1 AND d.span = 24 AND d.born_at <= ?2 ORDER BY d.starts_at`,
  )
  return {
    bars: (seriesId, span, from, to, limit, bornBy = anyTime) =>
      bars.all(seriesId, span, from, to, bornBy, limit),
    days: (seriesId, bornBy = anyTime) => days.all(seriesId, bornBy),
  }
}

/** What a write changed in one series, each list oldest first. */
export interface Change {
  seriesId: number
  inserted: Observation[]
  revised: Observation[]
  /** What each of the revised was before. */
  replaced: number[]
  /** Inserted points that had been taken out before, with when their first value was recorded. */
  reborn: { observedAt: number; bornAt: number }[]
}

type OldestFirst = (seriesId: number, from: number, to: number) => Observation[]

/**
 * Brings the hour and day bars of a change up to date: by adding to a bar where all is newer than
 * it, otherwise by folding the bucket anew. `past`: what turned out to have been known earlier.
 */
export function createBarWriter(
  db: Database,
  oldestFirst: OldestFirst,
): (change: Change, past: readonly Observation[]) => void {
  const { barAt, lastStart, startsKnown, saveAll, bear } = createBarRows(db)

  const updateBars = (
    { seriesId, inserted, revised }: Change,
    past: readonly Observation[],
    { span, interval }: (typeof spans)[number],
  ) => {
    const lastAt = lastStart(seriesId, span)
    // Buckets to fold anew, with when they came to be as far as current values do not show it: a
    // write may correct what it inserts.
    const stale = new Map<number, number>()
    const age = (startsAt: number, bornAt: number) =>
      stale.set(startsAt, Math.min(stale.get(startsAt) ?? Number.POSITIVE_INFINITY, bornAt))
    for (const { observedAt } of revised)
      age(bucketStart(interval, observedAt), Number.POSITIVE_INFINITY)
    for (const { observedAt, recordedAt } of past)
      age(bucketStart(interval, observedAt), recordedAt)
    const isStored = startsKnown(seriesId, span, inserted, lastAt)
    const saved: Bar[] = []
    let bar: Bar | undefined
    const close = () => {
      if (bar && stale.has(bar.startsAt)) age(bar.startsAt, bar.bornAt)
      else if (bar) saved.push(bar)
    }
    for (const point of inserted) {
      const startsAt = bucketStart(interval, point.observedAt)
      if (bar?.startsAt === startsAt) {
        extendBar(bar, point)
        continue
      }
      close()
      const storedBar = isStored(startsAt) ? barAt(seriesId, span, startsAt) : undefined
      if (storedBar && point.observedAt <= storedBar.closedAt) age(startsAt, storedBar.bornAt)
      bar = storedBar
      if (bar) extendBar(bar, point)
      else bar = openBar(startsAt, point)
    }
    close()
    for (const [startsAt, bornAt] of stale) {
      const [folded] = barsOf(
        interval,
        oldestFirst(seriesId, startsAt, bucketEnd(interval, startsAt)),
      )
      saved.push({ ...folded!, bornAt: Math.min(folded!.bornAt, bornAt) })
    }
    saveAll(seriesId, span, saved)
  }
  return (change, past) => {
    for (const storedSpan of spans) {
      updateBars(change, past, storedSpan)
      for (const { observedAt, bornAt } of change.reborn)
        bear(change.seriesId, storedSpan.span, bucketStart(storedSpan.interval, observedAt), bornAt)
    }
  }
}

/** Of fewer points, each bucket is looked up on its own. */
const lookedUpMax = 16

/** The rows of bars. */
function createBarRows(db: Database) {
  const barAt = lazy<Bar, number[]>(
    db,
    `SELECT ${barColumns} FROM bars WHERE series_id = ? AND span = ? AND starts_at = ?`,
  )
  const lastStart = lazy<{ at: number | null }, number[]>(
    db,
    'SELECT max(starts_at) AS at FROM bars WHERE series_id = ? AND span = ?',
  )
  const startsBetween = lazy<{ at: number }, number[]>(
    db,
    `SELECT starts_at AS at FROM bars WHERE series_id = ? AND span = ? AND starts_at BETWEEN ? AND ?
     LIMIT ?`,
  )
  const putAll = manyRows(
    db,
    `INSERT INTO bars (series_id, span, ${columns})`,
    '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    `ON CONFLICT DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close, sum = excluded.sum,
       count = excluded.count, hours = excluded.hours, closed_at = excluded.closed_at, recorded_at = excluded.recorded_at,
       born_at = min(bars.born_at, excluded.born_at)`,
  )
  const bear = lazy(
    db,
    'UPDATE bars SET born_at = min(born_at, ?) WHERE series_id = ? AND span = ? AND starts_at = ?',
  )
  const rowOf = (seriesId: number, span: Span, bar: Bar) => [
    seriesId,
    span,
    bar.startsAt,
    bar.open,
    bar.high,
    bar.low,
    bar.close,
    bar.sum,
    bar.count,
    bar.hours,
    bar.closedAt,
    bar.recordedAt,
    bar.bornAt,
  ]
  return {
    barAt: (seriesId: number, span: Span, startsAt: number) =>
      barAt.get(seriesId, span, startsAt) ?? undefined,
    /** Start of the newest bar; minus infinity without any. */
    lastStart: (seriesId: number, span: Span) =>
      lastStart.get(seriesId, span)?.at ?? Number.NEGATIVE_INFINITY,
    /**
     * Whether a bucket of these observations may be stored: what fills a gap needs no look-up for
     * each of its days. `lastAt` is the start of the newest stored one.
     */
    startsKnown(
      seriesId: number,
      span: Span,
      inserted: readonly Observation[],
      lastAt: number,
    ): (startsAt: number) => boolean {
      const [first, last] = [inserted[0], inserted.at(-1)]
      if (!first || !last || first.observedAt > lastAt + span * hourMs) return () => false
      const isOld = (startsAt: number) => startsAt <= lastAt
      if (inserted.length <= lookedUpMax) return isOld
      const from = first.observedAt - span * hourMs
      const rows = startsBetween.all(seriesId, span, from, last.observedAt, inserted.length)
      if (rows.length === inserted.length) return isOld
      const starts = new Set(rows.map(row => row.at))
      return startsAt => starts.has(startsAt)
    },
    saveAll: (seriesId: number, span: Span, bars: readonly Bar[]) =>
      putAll(bars.map(bar => rowOf(seriesId, span, bar))),
    /** A bucket was there from an earlier moment on than its current values say. */
    bear: (seriesId: number, span: Span, startsAt: number, bornAt: number) =>
      bear.run(bornAt, seriesId, span, startsAt),
  }
}

/**
 * Brings the hour and day bars up to date after observations of one series were withdrawn: a bucket
 * that has none left has no bar.
 */
export function createBarWithdrawer(
  db: Database,
  oldestFirst: OldestFirst,
): (seriesId: number, observedAts: readonly number[]) => void {
  const drop = lazy(db, 'DELETE FROM bars WHERE series_id = ? AND span = ? AND starts_at = ?')
  const put = lazy(
    db,
    `UPDATE bars SET open = ?, high = ?, low = ?, close = ?, sum = ?, count = ?, hours = ?, closed_at = ?, recorded_at = ?
     WHERE series_id = ? AND span = ? AND starts_at = ?`,
  )
  return (seriesId, observedAts) => {
    for (const { span, interval } of spans) {
      for (const startsAt of new Set(observedAts.map(at => bucketStart(interval, at)))) {
        const rest = oldestFirst(seriesId, startsAt, bucketEnd(interval, startsAt))
        const [bar] = barsOf(interval, rest)
        if (!bar) {
          drop.run(seriesId, span, startsAt)
          continue
        }
        const { open, high, low, close, sum, count, hours, closedAt, recordedAt } = bar
        put.run(
          open,
          high,
          low,
          close,
          sum,
          count,
          hours,
          closedAt,
          recordedAt,
          seriesId,
          span,
          startsAt,
        )
      }
    }
  }
}

const rowsEach = 20_000
const faultsMax = 100

/**
 * The hour and day bars that are not what their observations give, in sentences; each series is
 * read in stretches that fit into memory.
 */
export function barFaults(
  db: Database,
  { bars, days }: BarReads,
  oldestFirst: OldestFirst,
): string[] {
  const series = db
    .query<{ id: number; code: string }, []>('SELECT id, code FROM series ORDER BY code')
    .all()
  const firstBirths = lazy<{ observedAt: number; recordedAt: number }, number[]>(
    db,
    `SELECT observed_at AS observedAt, min(recorded_at) AS recordedAt FROM observation_revisions
     WHERE series_id = ? AND observed_at >= ? AND observed_at < ? GROUP BY observed_at`,
  )
  const faults: string[] = []

  const compare = (id: number, code: string, from: number, to: number) => {
    const observations = oldestFirst(id, from, to)
    const births = firstBirths.all(id, from, to)
    for (const { span, interval } of spans) {
      const expected = new Map(barsOf(interval, observations).map(bar => [bar.startsAt, bar]))
      for (const birth of births) {
        const bar = expected.get(bucketStart(interval, birth.observedAt))
        if (bar) bar.bornAt = Math.min(bar.bornAt, birth.recordedAt)
      }
      const stored = new Map(bars(id, span, from, to, anyTime).map(bar => [bar.startsAt, bar]))
      for (const startsAt of [...new Set([...expected.keys(), ...stored.keys()])].sort(
        (a, b) => a - b,
      )) {
        if (Bun.deepEquals(expected.get(startsAt), stored.get(startsAt))) continue
        faults.push(`${code}: the ${interval} bar at ${startsAt} does not follow its observations`)
      }
    }
  }
  for (const { id, code } of series) {
    if (faults.length >= faultsMax) break
    let from = Number.MIN_SAFE_INTEGER
    let rows = 0
    for (const day of days(id)) {
      rows += day.count
      if (rows < rowsEach) continue
      compare(id, code, from, day.startsAt + dayMs)
      from = day.startsAt + dayMs
      rows = 0
    }
    compare(id, code, from, Number.MAX_SAFE_INTEGER)
  }
  return faults.slice(0, faultsMax)
}
