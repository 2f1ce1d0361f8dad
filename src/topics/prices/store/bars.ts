import type { Database } from 'bun:sqlite'
import { barColumns, bornAt } from '../../../database/bar-columns.ts'
import { manyRows } from '../../../database/many-rows.ts'
import { lazy, statements } from '../../../database/statement.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import {
  type Bar,
  type BarInterval,
  barsOf,
  bucketEnd,
  bucketStart,
  extendBar,
  type Observation,
  openBar,
} from '../math/bars.ts'

/** Length of a stored bar in hours. */
export type Span = 1 | 24

const hourSpan = { span: 1, interval: 'hour' } as const
const daySpan = { span: 24, interval: 'day' } as const
const spans = [hourSpan, daySpan] as const

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

const columns =
  'starts_at, close, closed_at, recorded_at, open, high, low, sum, count, hours, born_at'

/**
 * A day whose observations are not more than this above its hours is sparse: its hours are not
 * stored, because two values of an hour take less room and time than its bar. Such a day has at most
 * 48 observations, and one that is not sparse does not become so by what is added to it.
 */
const sparseExtra = 24

/** Whether no hours are stored for the day bar `d`. */
const isSparse = (d: string): string =>
  `coalesce(${d}.count, 1) <= coalesce(${d}.hours, 1) + ${sparseExtra}`

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

type Fold = ReturnType<typeof createFold>

/** Makes bars of what is stored in a range. */
function createFold(db: Database, oldestFirst: OldestFirst) {
  const birthsOf = createBirths(db)
  return (seriesId: number, interval: BarInterval, from: number, to: number): Bar[] => {
    const bars = barsOf(interval, oldestFirst(seriesId, from, to))
    setBirths(interval, bars, birthsOf(seriesId, from, to))
    return bars
  }
}

/** Reads when the first of the values that points of a stretch had before was recorded. */
function createBirths(db: Database) {
  const births = lazy<{ observedAt: number; recordedAt: number }, number[]>(
    db,
    `SELECT observed_at AS observedAt, min(recorded_at) AS recordedAt FROM observation_revisions
     WHERE series_id = ? AND observed_at >= ? AND observed_at < ? GROUP BY observed_at`,
  )
  return (seriesId: number, from: number, to: number) => births.all(seriesId, from, to)
}

/** A bar exists since the first value of any of its points was recorded. */
function setBirths(
  interval: BarInterval,
  bars: readonly Bar[],
  births: ReturnType<ReturnType<typeof createBirths>>,
) {
  if (births.length === 0) return
  const barAt = byStart(bars)
  for (const { observedAt, recordedAt } of births) {
    const bar = barAt.get(bucketStart(interval, observedAt))
    if (bar) bar.bornAt = Math.min(bar.bornAt, recordedAt)
  }
}

/** Bars of two lists that are newest first, in that order. */
function newestFirst(some: Bar[], others: Bar[], limit: number): Bar[] {
  if (others.length === 0) return some
  if (some.length === 0) return others
  return [...some, ...others].sort((a, b) => b.startsAt - a.startsAt).slice(0, limit)
}

/** The changes of a write in one series, each list oldest first. */
export interface Change {
  seriesId: number
  inserted: Observation[]
  revised: Observation[]
  /** The earlier value of each revised point. */
  replaced: number[]
  /** Whether inserted points had been taken out before. */
  isReborn: boolean
}

type OldestFirst = (seriesId: number, from: number, to: number) => Observation[]

/** The effect of an update of bars on a bucket that points were added to. */
interface Touched {
  bar: Bar
  /** Whether the hours of a day were stored; undefined: there was no bar. */
  wasDense: boolean | undefined
}

/**
 * Updates the hour and day bars of a change: extends a bar where all points are newer than it,
 * otherwise recomputes the bucket. A bucket that had values before and has no bar is recomputed as
 * well, because it exists since the first of those. `past`: values that turned out to have been
 * known earlier.
 */
export function createBarWriter(
  db: Database,
  oldestFirst: OldestFirst,
): (change: Change, past: readonly Observation[]) => void {
  const { barAt, lastStart, startsKnown, isRevised, saveAll } = createBarRows(db)
  const fold = createFold(db, oldestFirst)

  /** Adds every changed bucket to `touched`. */
  const updateBars = (
    seriesId: number,
    { inserted, revised }: Pick<Change, 'inserted' | 'revised'>,
    past: readonly Observation[],
    { span, interval }: (typeof spans)[number],
    touched?: Map<number, Touched>,
  ) => {
    const lastAt = lastStart(seriesId, span)
    const startOf = ({ observedAt }: Observation) => bucketStart(interval, observedAt)
    const stale = new Set([...revised, ...past].map(startOf))
    const isStored = startsKnown(seriesId, span, inserted, lastAt)
    const hadValues = isRevised(seriesId, interval, inserted)
    const saved: Bar[] = []
    let bar: Bar | undefined
    const close = () => {
      if (bar && !stale.has(bar.startsAt)) saved.push(bar)
    }
    for (const point of inserted) {
      const startsAt = startOf(point)
      if (bar?.startsAt === startsAt) {
        extendBar(bar, point)
        continue
      }
      close()
      const storedBar = isStored(startsAt) ? barAt(seriesId, span, startsAt) : undefined
      if (storedBar ? point.observedAt <= storedBar.closedAt : hadValues(startsAt))
        stale.add(startsAt)
      const wasDense = storedBar && isDense(storedBar)
      bar = storedBar
      if (bar) extendBar(bar, point)
      else bar = openBar(startsAt, point)
      touched?.set(startsAt, { bar, wasDense })
    }
    close()
    const folded = foldStored(fold, seriesId, interval, [...stale])
    for (const [startsAt, recomputed] of folded) {
      saved.push(recomputed)
      const before = touched?.get(startsAt)
      touched?.set(startsAt, {
        bar: recomputed,
        wasDense: before ? before.wasDense : isDense(recomputed),
      })
    }
    saveAll(seriesId, span, saved)
  }
  return (change, past) => {
    const { seriesId } = change
    const days = new Map<number, Touched>()
    updateBars(seriesId, change, past, daySpan, days)
    let isEveryHourStored = true
    for (const [startsAt, { bar, wasDense }] of days) {
      isEveryHourStored &&= isDense(bar) && wasDense !== false
      // A day that was sparse until now has no hours yet, and one that is still sparse needs none.
      if (wasDense === false && isDense(bar))
        saveAll(seriesId, 1, fold(seriesId, 'hour', startsAt, startsAt + dayMs))
    }
    if (isEveryHourStored) updateBars(seriesId, change, past, hourSpan)
    else {
      const hasHours = ({ observedAt }: Observation) => {
        const { bar, wasDense } = days.get(bucketStart('day', observedAt))!
        return isDense(bar) && wasDense !== false
      }
      const [inserted, revised] = [
        change.inserted.filter(hasHours),
        change.revised.filter(hasHours),
      ]
      const earlier = past.filter(hasHours)
      if (inserted.length + revised.length + earlier.length > 0)
        updateBars(seriesId, { inserted, revised }, earlier, hourSpan)
    }
  }
}

/** As much of a series is read at once as years of minutes leave room for. */
const stretchMaxMs = 7 * dayMs

/**
 * Bars of some buckets from what is stored, by their start; of a bucket with nothing in it none.
 * Buckets that follow one another are read at once: an import that corrects prices touches every
 * hour of its days.
 */
function foldStored(
  fold: Fold,
  seriesId: number,
  interval: BarInterval,
  starts: readonly number[],
): Map<number, Bar> {
  const stretches: { from: number; to: number }[] = []
  for (const from of starts.toSorted((a, b) => a - b)) {
    const to = bucketEnd(interval, from)
    const last = stretches.at(-1)
    if (last?.to === from && to - last.from <= stretchMaxMs) last.to = to
    else stretches.push({ from, to })
  }
  return byStart(stretches.flatMap(({ from, to }) => fold(seriesId, interval, from, to)))
}

const byStart = (bars: readonly Bar[]): Map<number, Bar> =>
  new Map(bars.map(bar => [bar.startsAt, bar]))

/** Whether the hours of the day are stored. */
const isDense = ({ count, hours }: { count: number; hours: number }): boolean =>
  count > hours + sparseExtra

/** With fewer points, each bucket is looked up separately. */
const lookedUpMax = 16

/** open, high, low, sum, count and hours of the bar of one observation. */
const derivedColumns = Array<null>(6).fill(null)

function createBarRows(db: Database) {
  const sql = statements(db)
  const barAt = sql<Bar, number[]>`
    SELECT ${barColumns} FROM bars b WHERE series_id = ? AND span = ? AND starts_at = ?`
  const lastStart = sql<{ at: number | null }, number[]>`
    SELECT max(starts_at) AS at FROM bars WHERE series_id = ? AND span = ?`
  const startsBetween = sql<{ at: number }, number[]>`
    SELECT starts_at AS at FROM bars WHERE series_id = ? AND span = ? AND starts_at BETWEEN ? AND ?
    LIMIT ?`
  const revised = sql<{ 1: 1 }, number[]>`
    SELECT 1 FROM observation_revisions
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ? LIMIT 1`
  const putAll = manyRows(
    db,
    `INSERT INTO bars (series_id, span, ${columns})`,
    '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    `ON CONFLICT DO UPDATE SET open = excluded.open, high = excluded.high, low = excluded.low, close = excluded.close, sum = excluded.sum,
       count = excluded.count, hours = excluded.hours, closed_at = excluded.closed_at, recorded_at = excluded.recorded_at,
       born_at = min(${bornAt('bars')}, ${bornAt('excluded')})`,
  )
  const rowOf = (seriesId: number, span: Span, bar: Bar) => {
    const { startsAt, close, closedAt, recordedAt, bornAt } = bar
    const narrow = [seriesId, span, startsAt, close, closedAt, recordedAt]
    if (bar.count === 1)
      return [...narrow, ...derivedColumns, bornAt === recordedAt ? null : bornAt]
    return [...narrow, bar.open, bar.high, bar.low, bar.sum, bar.count, bar.hours, bornAt]
  }
  return {
    barAt: (seriesId: number, span: Span, startsAt: number) => barAt.get(seriesId, span, startsAt),
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
    /** Whether a value in a bucket of these observations was ever replaced or taken out. */
    isRevised(
      seriesId: number,
      interval: BarInterval,
      inserted: readonly Observation[],
    ): (startsAt: number) => boolean {
      const [first, last] = [inserted[0], inserted.at(-1)]
      const within = (from: number, to: number) =>
        revised.get(seriesId, bucketStart(interval, from), bucketEnd(interval, to)) !== undefined
      // Most writes have no revision in all of their range.
      let isAny: boolean | undefined
      return startsAt => {
        isAny ??= within(first!.observedAt, last!.observedAt)
        return isAny && within(startsAt, startsAt)
      }
    },
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
  const sql = statements(db)
  const drop = sql`DELETE FROM bars WHERE series_id = ? AND span = ? AND starts_at = ?`
  const put = sql`
    UPDATE bars SET open = ?, high = ?, low = ?, close = ?, sum = ?, count = ?, hours = ?, closed_at = ?, recorded_at = ?
    WHERE series_id = ? AND span = ? AND starts_at = ?`
  const foldRange = createFold(db, oldestFirst)
  const dropHours = sql`
    DELETE FROM bars WHERE series_id = ? AND span = 1 AND starts_at >= ? AND starts_at < ?`
  /** Recomputes the buckets that contain `ats`. */
  const fold = (
    seriesId: number,
    { span, interval }: (typeof spans)[number],
    ats: readonly number[],
  ) => {
    const starts = [...new Set(ats.map(at => bucketStart(interval, at)))]
    const bars = foldStored(foldRange, seriesId, interval, starts)
    for (const startsAt of starts) {
      const bar = bars.get(startsAt)
      if (!bar) {
        drop.run(seriesId, span, startsAt)
        continue
      }
      const { open, high, low, close, sum, count, hours, closedAt, recordedAt } = bar
      const values = [open, high, low, close, sum, count, hours, closedAt, recordedAt]
      put.run(...values, seriesId, span, startsAt)
    }
    return bars
  }
  return (seriesId, observedAts) => {
    const days = fold(seriesId, daySpan, observedAts)
    for (const [startsAt, ofDay] of Map.groupBy(observedAts, at => bucketStart('day', at))) {
      const day = days.get(startsAt)
      if (day && isDense(day)) fold(seriesId, hourSpan, ofDay)
      else dropHours.run(seriesId, startsAt, startsAt + dayMs)
    }
  }
}

const rowsEach = 20_000
const faultsMax = 100

/**
 * Reports hour and day bars that differ from their observations, as sentences. Each series is read
 * in stretches that fit into memory.
 */
export function barFaults(
  db: Database,
  { bars, days }: BarReads,
  oldestFirst: OldestFirst,
): string[] {
  const sql = statements(db)
  const series = db
    .query<{ id: number; code: string }, []>('SELECT id, code FROM series ORDER BY code')
    .all()
  const birthsOf = createBirths(db)
  // Hours that are stored for a sparse day.
  const strays = sql<{ startsAt: number }, number[]>`
    SELECT h.starts_at AS startsAt FROM bars h WHERE h.series_id = ? AND h.span = 1 AND h.starts_at >= ? AND h.starts_at < ?
      AND NOT EXISTS (SELECT 1 FROM bars d WHERE d.series_id = h.series_id AND d.span = 24
        AND d.starts_at > h.starts_at - ${dayMs} AND d.starts_at <= h.starts_at AND NOT ${isSparse('d')})`
  const faults: string[] = []

  const compare = (id: number, code: string, from: number, to: number) => {
    const observations = oldestFirst(id, from, to)
    const births = birthsOf(id, from, to)
    for (const { span, interval } of spans) {
      const recomputed = barsOf(interval, observations)
      setBirths(interval, recomputed, births)
      const expected = byStart(recomputed)
      const stored = byStart(bars(id, span, from, to, anyTime))
      for (const startsAt of [...new Set([...expected.keys(), ...stored.keys()])].sort(
        (a, b) => a - b,
      )) {
        if (Bun.deepEquals(expected.get(startsAt), stored.get(startsAt))) continue
        faults.push(`${code}: the ${interval} bar at ${startsAt} does not follow its observations`)
      }
    }
    for (const { startsAt } of strays.all(id, from, to))
      faults.push(`${code}: the hour bar at ${startsAt} is in a day that needs none`)
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
