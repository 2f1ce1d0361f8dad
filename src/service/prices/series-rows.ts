import {
  type Bar,
  type BarInterval,
  barsOf,
  bucketEnd,
  bucketStart,
  mergeBars,
  type Observation,
} from '../../market/prices/bars.ts'
import type { ObservationStore, Span } from '../../store/prices/observations.ts'
import type { QuarantineList, Stretch } from './quarantine.ts'

/**
 * Rows of one series, newest first, at most `limit`, without quarantined days; those that were
 * there at `bornBy`.
 */
export interface SeriesRows {
  raw(seriesId: number, from: number, to: number, limit: number, bornBy: number): Observation[]
  /**
   * Bars of the observations inside the range: a bucket that the range cuts is a bar of what is
   * left of it.
   */
  bars(
    seriesId: number,
    interval: BarInterval,
    from: number,
    to: number,
    limit: number,
    bornBy: number,
  ): Bar[]
  /** Raw rows with the values that were current at `asOf`. */
  asOf(seriesId: number, from: number, to: number, limit: number, asOf: number): Observation[]
  /** Raw rows with the values first recorded. */
  firstRecorded(
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    bornBy: number,
  ): Observation[]
}

export function createSeriesRows(
  observations: ObservationStore,
  quarantine: QuarantineList,
): SeriesRows {
  /** Reads stretch by stretch, newest first, until there are `limit` rows. */
  const stretched = <T>(
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    read: (stretch: Stretch, limit: number) => T[],
  ): T[] => {
    const rows: T[] = []
    for (const stretch of quarantine.clear(seriesId, from, to).reverse()) {
      if (rows.length >= limit) break
      rows.push(...read(stretch, limit - rows.length))
    }
    return rows
  }

  const folded = (
    seriesId: number,
    interval: BarInterval,
    from: number,
    to: number,
    bornBy: number,
  ): Bar[] => barsOf(interval, observations.oldestFirst(seriesId, from, to, bornBy)).reverse()

  /**
   * Stored bars of the whole buckets of a stretch, and the buckets that it cuts from their
   * observations.
   */
  const stored = (
    seriesId: number,
    span: Span,
    { from, to }: Stretch,
    limit: number,
    bornBy: number,
  ): Bar[] => {
    const interval = span === 1 ? 'hour' : 'day'
    const lastWhole = bucketStart(interval, to)
    const first = bucketStart(interval, from)
    const firstWhole = first < from ? bucketEnd(interval, first) : first
    if (firstWhole > lastWhole) return folded(seriesId, interval, from, to, bornBy)
    const bars = lastWhole < to ? folded(seriesId, interval, lastWhole, to, bornBy) : []
    if (firstWhole < lastWhole && bars.length < limit) {
      const whole = observations.bars(
        seriesId,
        span,
        firstWhole,
        lastWhole,
        limit - bars.length,
        bornBy,
      )
      // A bar that something was added to since is made again from what it had then.
      const asBorn = (bar: Bar) =>
        folded(seriesId, interval, bar.startsAt, bucketEnd(interval, bar.startsAt), bornBy)
      bars.push(...whole.flatMap(bar => (bar.recordedAt <= bornBy ? bar : asBorn(bar))))
    }
    if (from < firstWhole && bars.length < limit)
      bars.push(...folded(seriesId, interval, from, firstWhole, bornBy))
    return bars
  }

  const short = (
    seriesId: number,
    span: Span,
    from: number,
    to: number,
    limit: number,
    bornBy: number,
  ): Bar[] =>
    stretched(seriesId, from, to, limit, (stretch, wanted) =>
      stored(seriesId, span, stretch, wanted, bornBy),
    )

  return {
    raw: (seriesId, from, to, limit, bornBy) =>
      stretched(seriesId, from, to, limit, (part, wanted) =>
        observations.between(seriesId, part.from, part.to, wanted, bornBy),
      ),
    bars(seriesId, interval, from, to, limit, bornBy) {
      if (interval === 'hour') return short(seriesId, 1, from, to, limit, bornBy)
      if (interval === 'day') return short(seriesId, 24, from, to, limit, bornBy)
      // As many days as the buckets can have: of those asked for none is cut short, and what lies
      // beyond them is dropped.
      const days = short(seriesId, 24, from, to, limit * (interval === 'week' ? 7 : 31), bornBy)
      return mergeBars(interval, days.reverse()).reverse().slice(0, limit)
    },
    asOf: (seriesId, from, to, limit, asOf) =>
      stretched(seriesId, from, to, limit, (part, wanted) =>
        observations.asOf(seriesId, part.from, part.to, asOf, wanted),
      ),
    firstRecorded: (seriesId, from, to, limit, bornBy) =>
      stretched(seriesId, from, to, limit, (part, wanted) =>
        observations.firstRecorded(seriesId, part.from, part.to, wanted, bornBy),
      ),
  }
}
