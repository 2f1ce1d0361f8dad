import type { Database } from 'bun:sqlite'
import { lazy } from '../../../../database/statement.ts'
import { dayMs } from '../../../../lib/time/instant.ts'
import {
  type Bar,
  type BarInterval,
  barsOf,
  bucketEnd,
  bucketStart,
  type Observation,
} from '../../math/bars.ts'

/** Length of a stored bar in hours. */
export type Span = 1 | 24

export const hourSpan = { span: 1, interval: 'hour' } as const
export const daySpan = { span: 24, interval: 'day' } as const
export const spans = [hourSpan, daySpan] as const

/**
 * A day whose observations are not more than this above its hours is sparse: its hours are not
 * stored, because two values of an hour take less room and time than its bar. Such a day has at most
 * 48 observations, and one that is not sparse does not become so by what is added to it.
 */
const sparseExtra = 24

/** Whether no hours are stored for the day bar `d`. */
export const isSparse = (d: string): string =>
  `coalesce(${d}.count, 1) <= coalesce(${d}.hours, 1) + ${sparseExtra}`

/** Whether the hours of the day are stored. */
export const isDense = ({ count, hours }: { count: number; hours: number }): boolean =>
  count > hours + sparseExtra

/** Reads the observations of a series in `[from, to)`. */
export type OldestFirst = (seriesId: number, from: number, to: number) => Observation[]

type Fold = ReturnType<typeof createFold>

/** Makes bars of what is stored in a range. */
export function createFold(db: Database, oldestFirst: OldestFirst) {
  const birthsOf = createBirths(db)
  return (seriesId: number, interval: BarInterval, from: number, to: number): Bar[] => {
    const bars = barsOf(interval, oldestFirst(seriesId, from, to))
    setBirths(interval, bars, birthsOf(seriesId, from, to))
    return bars
  }
}

/** Reads when the first of the values that points of a stretch had before was recorded. */
export function createBirths(db: Database) {
  const births = lazy<{ observedAt: number; recordedAt: number }, number[]>(
    db,
    `SELECT observed_at AS observedAt, min(recorded_at) AS recordedAt FROM observation_revisions
     WHERE series_id = ? AND observed_at >= ? AND observed_at < ? GROUP BY observed_at`,
  )
  return (seriesId: number, from: number, to: number) => births.all(seriesId, from, to)
}

/** A bar exists since the first value of any of its points was recorded. */
export function setBirths(
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

/** As much of a series is read at once as years of minutes leave room for. */
const stretchMaxMs = 7 * dayMs

/**
 * Bars of some buckets from what is stored, by their start; of a bucket with nothing in it none.
 * Buckets that follow one another are read at once: an import that corrects prices touches every
 * hour of its days.
 */
export function foldStored(
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

export const byStart = (bars: readonly Bar[]): Map<number, Bar> =>
  new Map(bars.map(bar => [bar.startsAt, bar]))
