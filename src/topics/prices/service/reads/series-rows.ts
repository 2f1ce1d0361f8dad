import {
  type Bar,
  type BarInterval,
  barsOf,
  bucketEnd,
  bucketStart,
  daysInBar,
  mergeBars,
  type Observation,
} from '../../math/bars.ts'
import type { ObservationColumns, ObservationStore, Span } from '../../store/observations.ts'
import type { QuarantineList, Stretch } from '../quarantine.ts'

/**
 * Rows of one series, newest first, at most `limit`, without quarantined days; those that were
 * there at `bornBy`.
 */
export function createSeriesRows(observations: ObservationStore, quarantine: QuarantineList) {
  /** Reads stretch by stretch, newest first, until there are `limit` rows. */
  const readStretches = <T>(
    seriesId: number,
    from: number,
    to: number,
    limit: number,
    read: (stretch: Stretch, rowsLeft: number) => T[],
  ): T[] => {
    const stretches = quarantine.clear(seriesId, from, to)
    if (stretches.length === 1) return read(stretches[0]!, limit)
    const rows: T[] = []
    for (const stretch of stretches.reverse()) {
      if (rows.length >= limit) break
      rows.push(...read(stretch, limit - rows.length))
    }
    return rows
  }

  const spanBars = (
    seriesId: number,
    span: Span,
    from: number,
    to: number,
    limit: number,
    bornBy: number,
  ): Bar[] =>
    readStretches(seriesId, from, to, limit, (stretch, rowsLeft) =>
      barsOfStretch(observations, seriesId, span, stretch, rowsLeft, bornBy),
    )

  return {
    raw: (seriesId: number, from: number, to: number, limit: number, bornBy: number) =>
      readStretches(seriesId, from, to, limit, (stretch, rowsLeft) =>
        observations.between(seriesId, stretch.from, stretch.to, rowsLeft, bornBy),
      ),
    /**
     * Bars of the observations inside the range: a bucket that the range cuts is a bar of its rest.
     */
    bars(
      seriesId: number,
      interval: BarInterval,
      from: number,
      to: number,
      limit: number,
      bornBy: number,
    ) {
      if (interval === 'hour') return spanBars(seriesId, 1, from, to, limit, bornBy)
      if (interval === 'day') return spanBars(seriesId, 24, from, to, limit, bornBy)
      // Reads as many days as the buckets can have, so that no requested bucket is cut short; days
      // beyond them are dropped.
      const days = spanBars(seriesId, 24, from, to, limit * daysInBar(interval), bornBy)
      return mergeBars(interval, days.reverse()).reverse().slice(0, limit)
    },
    /** Raw rows with the values that were current at `asOf`. */
    asOf: (seriesId: number, from: number, to: number, limit: number, asOf: number) =>
      readStretches(seriesId, from, to, limit, (stretch, rowsLeft) =>
        observations.asOf(seriesId, stretch.from, stretch.to, asOf, rowsLeft),
      ),
    /** Raw rows with the values first recorded. */
    firstRecorded: (seriesId: number, from: number, to: number, limit: number, bornBy: number) =>
      readStretches(seriesId, from, to, limit, (stretch, rowsLeft) =>
        observations.firstRecorded(seriesId, stretch.from, stretch.to, rowsLeft, bornBy),
      ),
  }
}

/** Bars made from the observations of a range, newest first. */
const foldedBars = (
  observations: ObservationStore,
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
function barsOfStretch(
  observations: ObservationStore,
  seriesId: number,
  span: Span,
  { from, to }: Stretch,
  limit: number,
  bornBy: number,
): Bar[] {
  const interval = span === 1 ? 'hour' : 'day'
  const folded = (start: number, end: number) =>
    foldedBars(observations, seriesId, interval, start, end, bornBy)
  const lastStart = bucketStart(interval, to)
  const first = bucketStart(interval, from)
  const firstWhole = first < from ? bucketEnd(interval, first) : first
  if (firstWhole > lastStart) return folded(from, to)
  // A bucket that the end of the range cuts usually equals the stored bar, because nothing was
  // observed in the rest of it.
  const isCut = lastStart < to
  const end = isCut ? bucketEnd(interval, lastStart) : to
  const stored = observations.bars(
    seriesId,
    span,
    firstWhole,
    end,
    isCut ? limit + 1 : limit,
    bornBy,
  )
  // A bar that something was added to since, or after the end, is made from what belongs to it.
  const isWhole = (bar: Bar) => bar.recordedAt <= bornBy && bar.closedAt < to
  const anew = ({ startsAt }: Bar) => folded(startsAt, Math.min(to, bucketEnd(interval, startsAt)))
  const bars = stored.every(isWhole)
    ? stored
    : stored.flatMap(bar => (isWhole(bar) ? bar : anew(bar)))
  if (from < firstWhole && bars.length < limit) bars.push(...folded(from, firstWhole))
  return bars.length > limit ? bars.slice(0, limit) : bars
}

/** The values that are read: those at a moment, or where they are not covered, the first recorded. */
export interface ReadPoint {
  asOf: number
  isCovered: boolean
}

/** Rows of a block: with objects for each, a long read would take a hundred megabytes. */
const blockRows = 16_384

/** The columns of one read; another read may continue while this one's client is slow. */
export const emptyColumns = (): ObservationColumns => ({
  observedAt: new Float64Array(blockRows),
  value: new Float64Array(blockRows),
  recordedAt: new Float64Array(blockRows),
})

/**
 * Fills columns with the rows of a series, oldest first, without quarantined days, again and again;
 * yields how many there are each time. `pointOf` returns undefined for current values.
 */
export function* blocksOf(
  { observations, quarantine }: { observations: ObservationStore; quarantine: QuarantineList },
  seriesId: number,
  { from, to }: Stretch,
  into: ObservationColumns,
  pointOf: () => ReadPoint | undefined,
): Generator<number> {
  for (const stretch of quarantine.clear(seriesId, from, to)) {
    for (let after = stretch.from; after < stretch.to; ) {
      const count = observations.copy(seriesId, after, stretch.to, into, pointOf())
      if (count === 0) break
      after = into.observedAt[count - 1]! + 1
      yield count
      if (count < into.observedAt.length) break
    }
  }
}

export function* rowsOf(columns: ObservationColumns, blocks: Iterable<number>) {
  for (const length of blocks)
    for (let i = 0; i < length; i += 1)
      yield {
        observedAt: columns.observedAt[i]!,
        value: columns.value[i]!,
        recordedAt: columns.recordedAt[i]!,
      } satisfies Observation
}
