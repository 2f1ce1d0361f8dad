import { dayMs, startOfDay } from '../lib/instant.ts'
import { type Bar, type BarInterval, barsOf, bucketEnd, bucketStart, mergeBars, type Observation } from '../market/bars.ts'
import type { ObservationStore, Span } from '../store/observations.ts'
import { type DayIndex, dayIndexes } from './day-index.ts'
import type { QuarantineList } from './quarantine.ts'

/** A row of a page: an observation, or the last observation of a bucket together with its bar. */
export interface HistoryRow extends Observation {
  seriesId: number
  bar?: Bar
}

/** Where a walk through pages stands: strictly older rows follow, and of the same instant those of series later in the order. */
export interface Position {
  observedAt: number
  order: number
}

export interface HistoryQuery {
  /** In the order in which rows of one instant are answered. */
  seriesIds: readonly number[]
  interval: 'raw' | BarInterval
  from: number
  to: number
  limit: number
  /** Rows to pass over, newest first; not used together with `after`. */
  offset: number
  after?: Position
  /** Leaves out what came to be after this moment, so that a walk sees the rows of its beginning. */
  bornBy?: number
}

/** Rows of one or several series, newest first, without quarantined days. */
export interface History {
  page(query: HistoryQuery): HistoryRow[]
  count(query: Pick<HistoryQuery, 'seriesIds' | 'interval' | 'from' | 'to'>): number
  /** Raw rows as this service would have answered them at `asOf`; before `coverageSince` the values first recorded. */
  pageAsOf(query: HistoryQuery, asOf: number, coverageSince: number): { rows: HistoryRow[]; total: number }
  forget(seriesId: number): void
}

export function history(observations: ObservationStore, quarantine: QuarantineList): History {
  const indexes = dayIndexes(observations, quarantine)

  /** Raw observations of one series, newest first, from the stretches that reads may use. */
  const rawRows = (seriesId: number, from: number, to: number, limit: number, bornBy?: number): Observation[] => {
    const rows: Observation[] = []
    for (const stretch of quarantine.clear(seriesId, from, to).reverse()) {
      if (rows.length >= limit) break
      const wanted = limit - rows.length
      rows.push(
        ...(bornBy === undefined
          ? observations.between(seriesId, stretch.from, stretch.to, wanted)
          : observations.bornBy(seriesId, stretch.from, stretch.to, bornBy, wanted)),
      )
    }
    return rows
  }

  /** Stored bars of whole buckets within `[from, to)`; a bucket that the range cuts is folded from its observations. */
  const storedBars = (seriesId: number, span: Span, from: number, to: number, limit: number, bornBy?: number): Bar[] => {
    const interval = span === 1 ? 'hour' : 'day'
    const bars: Bar[] = []
    for (const stretch of quarantine.clear(seriesId, from, to).reverse()) {
      const head = bucketStart(interval, stretch.to)
      if (head < stretch.to) bars.push(...folded(seriesId, interval, Math.max(head, stretch.from), stretch.to, bornBy))
      const tail = bucketStart(interval, stretch.from)
      const whole = tail < stretch.from ? bucketEnd(interval, tail) : stretch.from
      const wanted = limit - bars.length
      if (wanted > 0 && whole < head) {
        bars.push(
          ...(bornBy === undefined
            ? observations.bars(seriesId, span, whole, head, wanted)
            : observations.barsBornBy(seriesId, span, whole, head, bornBy, wanted)),
        )
      }
      if (bars.length < limit && whole > stretch.from && tail < head) bars.push(...folded(seriesId, interval, stretch.from, whole, bornBy))
      if (bars.length >= limit) break
    }
    return bars.slice(0, limit)
  }

  const folded = (seriesId: number, interval: BarInterval, from: number, to: number, bornBy = Number.POSITIVE_INFINITY) =>
    barsOf(interval, observations.oldestFirst(seriesId, from, to)).filter(bar => bar.bornAt <= bornBy)

  /** Weeks and months: days are read until enough buckets are complete. */
  const longBars = (seriesId: number, interval: BarInterval, from: number, to: number, limit: number, bornBy?: number): Bar[] => {
    const daysEach = interval === 'week' ? 7 : 31
    const days = storedBars(seriesId, 24, from, to, (limit + 1) * daysEach, bornBy)
    return mergeBars(interval, days.reverse()).reverse().slice(0, limit)
  }

  const barRows = (seriesId: number, interval: BarInterval, from: number, to: number, limit: number, bornBy?: number): Bar[] => {
    if (interval === 'hour') return storedBars(seriesId, 1, from, to, limit, bornBy)
    if (interval === 'day') return storedBars(seriesId, 24, from, to, limit, bornBy)
    return longBars(seriesId, interval, from, to, limit, bornBy)
  }

  const rowsOf = (seriesId: number, query: HistoryQuery, from: number, to: number, limit: number): HistoryRow[] => {
    if (limit <= 0 || from >= to) return []
    if (query.interval === 'raw') return rawRows(seriesId, from, to, limit, query.bornBy).map(row => ({ seriesId, ...row }))
    return barRows(seriesId, query.interval, from, to, limit, query.bornBy).map(bar => ({
      seriesId,
      observedAt: bar.closedAt,
      value: bar.close,
      recordedAt: bar.recordedAt,
      bar,
    }))
  }

  return {
    page(query) {
      const start = query.after ? { to: query.to, skip: 0 } : startOf(indexes, observations, query)
      return merged(query, (seriesId, order) => {
        const to = query.after ? endAfter(query, order) : start.to
        const limit = start.skip + query.limit
        if (!query.after || query.interval === 'raw') return rowsOf(seriesId, query, query.from, to, limit)
        return rowsOf(
          seriesId,
          query,
          query.from,
          Math.min(query.to, bucketEnd(query.interval, bucketStart(query.interval, to - 1))),
          limit + 1,
        ).filter(row => row.observedAt < to)
      }).slice(start.skip, start.skip + query.limit)
    },
    count: ({ seriesIds, interval, from, to }) =>
      seriesIds.reduce(
        (sum, id) => sum + indexes.of(id).count(interval, from, to, (a, b) => countRange(observations, id, interval, a, b)),
        0,
      ),
    pageAsOf(query, asOf, coverageSince) {
      const known = asOf >= coverageSince
      let total = 0
      const rows = merged(query, seriesId => {
        const found: HistoryRow[] = []
        for (const stretch of quarantine.clear(seriesId, query.from, query.to).reverse()) {
          const wanted = query.offset + query.limit - found.length
          total += known
            ? observations.countAsOf(seriesId, stretch.from, stretch.to, asOf)
            : observations.count(seriesId, stretch.from, stretch.to)
          if (wanted <= 0) continue
          const part = known
            ? observations.asOf(seriesId, stretch.from, stretch.to, asOf, wanted, 0)
            : observations.firstRecorded(seriesId, stretch.from, stretch.to, wanted, 0)
          found.push(...part.map(row => ({ seriesId, ...row })))
        }
        return found
      })
      return { rows: rows.slice(query.offset, query.offset + query.limit), total }
    },
    forget: seriesId => indexes.forget(seriesId),
  }
}

/** The rows of all series in one order: newest first, and within an instant in the order the series were given. */
function merged(query: HistoryQuery, rows: (seriesId: number, order: number) => HistoryRow[]): HistoryRow[] {
  if (query.seriesIds.length === 1) return rows(query.seriesIds[0]!, 0)
  const order = new Map(query.seriesIds.map((id, i) => [id, i]))
  return query.seriesIds
    .flatMap((id, i) => rows(id, i))
    .sort((a, b) => b.observedAt - a.observedAt || order.get(a.seriesId)! - order.get(b.seriesId)!)
}

/** The exclusive end for a series of the rows that follow a position: later series may still answer at the same instant. */
const endAfter = (query: HistoryQuery, order: number): number =>
  Math.min(query.to, query.after!.observedAt + (order > query.after!.order ? 1 : 0))

/**
 * Where the rows after `offset` begin: days are passed over by their counts, so that a page deep in ten years of data costs
 * what the first one costs. What is left to skip lies within one day (or bucket).
 */
function startOf(
  indexes: ReturnType<typeof dayIndexes>,
  observations: ObservationStore,
  query: HistoryQuery,
): { to: number; skip: number } {
  if (query.offset === 0 || query.interval === 'week' || query.interval === 'month') return { to: query.to, skip: query.offset }
  const interval = query.interval
  const held: DayIndex[] = query.seriesIds.map(id => indexes.of(id))
  const countFrom = (day: number) =>
    held.reduce(
      (sum, index, i) =>
        sum + index.count(interval, day, query.to, (a, b) => countRange(observations, query.seriesIds[i]!, interval, a, b)),
      0,
    )
  // The newest midnight at or before which more than `offset` rows lie ahead of it in the order.
  let low = Math.floor(startOfDay(query.from) / dayMs)
  let high = Math.ceil(query.to / dayMs)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countFrom(middle * dayMs) <= query.offset) high = middle - 1
    else low = middle
  }
  const to = (low + 1) * dayMs
  if (to >= query.to) return { to: query.to, skip: query.offset }
  return { to, skip: query.offset - countFrom(to) }
}

/** Rows within a part of a day, or of any range where days do not help. */
function countRange(
  observations: ObservationStore,
  seriesId: number,
  interval: HistoryQuery['interval'],
  from: number,
  to: number,
): number {
  if (interval === 'raw') return observations.count(seriesId, from, to)
  return barsOf(interval, observations.oldestFirst(seriesId, from, to)).length
}
