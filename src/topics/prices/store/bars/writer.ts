import type { Database } from 'bun:sqlite'
import { barColumns, bornAt } from '../../../../database/bar-columns.ts'
import { manyRows } from '../../../../database/many-rows.ts'
import { statements } from '../../../../database/statement.ts'
import { dayMs, hourMs } from '../../../../lib/time/instant.ts'
import {
  type Bar,
  type BarInterval,
  bucketEnd,
  bucketStart,
  extendBar,
  type Observation,
  openBar,
} from '../../math/bars.ts'
import {
  createFold,
  daySpan,
  foldStored,
  hourSpan,
  isDense,
  type OldestFirst,
  type Span,
  type spans,
} from './recomputed.ts'

/** The changes of a write in one series, each list oldest first. */
export interface Change {
  seriesId: number
  inserted: Observation[]
  revised: Observation[]
  /** The earlier value of each revised point. */
  replaced: number[]
  /** Those of the inserted points that had been taken out before. */
  reborn: Observation[]
}

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

const columns =
  'starts_at, close, closed_at, recorded_at, open, high, low, sum, count, hours, born_at'

/** With fewer points, each bucket is looked up separately. */
const lookedUpMax = 16

/** open, high, low, sum, count and hours of the bar of one observation. */
const derivedColumns = Array<null>(6).fill(null)

function createBarRows(db: Database) {
  const sql = statements(db)
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
    barAt: sql<Bar, [seriesId: number, span: Span, startsAt: number]>`
      SELECT ${barColumns} FROM bars b WHERE series_id = ? AND span = ? AND starts_at = ?`.get,
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
