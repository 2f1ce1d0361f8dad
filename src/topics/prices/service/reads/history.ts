import { dayMs, startOfDay } from '../../../../lib/time/instant.ts'
import { type Bar, type BarInterval, barsOf, isLong, type Observation } from '../../math/bars.ts'
import { type BarCut, cutBars } from '../../math/cut-bars.ts'
import type { ObservationStore } from '../../store/observations.ts'
import { createDayBars } from '../days/day-bars.ts'
import { createDayIndexes, type DayIndex } from '../days/day-index.ts'
import type { QuarantineList } from '../quarantine.ts'
import { blocksOf, createSeriesRows, emptyColumns, rowsOf } from './series-rows.ts'

/** A row of a page: an observation, or the last observation of a bucket together with its bar. */
export interface HistoryRow extends Observation {
  seriesId: number
  bar?: Bar
}

/**
 * The position in a paged read: for each series of the query, the exclusive end of the rows that
 * are left.
 */
export type Position = readonly number[]

export interface HistoryRange {
  /** In the order in which rows of one instant are answered. */
  seriesIds: readonly number[]
  interval: 'raw' | BarInterval
  from: number
  to: number
  /** The exclusive end of a series, where it comes before that of the range. */
  endOf?: ((seriesId: number) => number) | undefined
  /** The boundaries of a series' bars; undefined: UTC. */
  cutOf?: ((seriesId: number) => SeriesCut | undefined) | undefined
  /**
   * Leaves out rows that were first recorded after this moment, so that all pages show the same
   * rows.
   */
  bornBy?: number
}

/** The cut of a series, with the part of the range that is of its days. */
export interface SeriesCut extends BarCut {
  from: number
  to: number
}

/** When coverage of a series begins. */
type CoverageSince = (seriesId: number) => number

export interface HistoryQuery extends HistoryRange {
  limit: number
  /** Rows to pass over, newest first. */
  offset: number
  /** Where the page before this one ended; nothing is passed over then. */
  after?: Position
}

export interface HistoryPage {
  rows: HistoryRow[]
  /** Where the next page begins, if it has rows. */
  end: Position
  /** Whether it has. */
  more: boolean
}

/**
 * Rows of one or several series, newest first, without quarantined days. A page costs the same
 * wherever it lies.
 */
export type History = ReturnType<typeof createHistory>

/** Reads the newest rows of a series before `to`. */
type Reader = (seriesId: number, to: number, limit: number) => HistoryRow[]

export function createHistory(observations: ObservationStore, quarantine: QuarantineList) {
  const indexes = createDayIndexes(observations, quarantine)
  const dayBars = createDayBars(observations)
  const rows = createSeriesRows({ ...observations, bars: dayBars.bars }, quarantine)

  /** The rows of a series that is cut by its own days: all of them are read, and bars made of them. */
  const cutRows = (query: HistoryRange, cut: SeriesCut, seriesId: number, end: number) => {
    const { interval, bornBy = Number.MAX_SAFE_INTEGER } = query
    const [from, to] = [Math.max(query.from, cut.from), Math.min(end, cut.to)]
    const raw = from < to ? rows.raw(seriesId, from, to, rowsMax, bornBy) : []
    return interval === 'raw'
      ? raw.map(row => rawRow(seriesId, row))
      : cutBars(interval, cut, raw.reverse())
          .map(bar => barRow(seriesId, bar))
          .reverse()
  }

  const countCut = (range: HistoryRange) =>
    range.seriesIds.reduce((sum, id) => {
      const cut = range.cutOf!(id)
      const uncut = { ...range, seriesIds: [id], cutOf: undefined }
      return sum + (cut ? cutRows(range, cut, id, range.to).length : counterOf(uncut)(uncut.from))
    }, 0)

  const counterOf = (range: HistoryRange, bornByOf = (_id: number) => range.bornBy) => {
    const counters = range.seriesIds.map(id => {
      const bornBy = bornByOf(id)
      const to = Math.min(range.to, range.endOf?.(id) ?? range.to)
      return {
        to,
        index: indexes.within(id, range.from, to, bornBy),
        within: partCounter(observations, id, { interval: range.interval, bornBy }),
      }
    })
    return (from: number) =>
      counters.reduce(
        (sum, { to, index, within }) =>
          from < to ? sum + index.count(range.interval, from, to, within) : sum,
        0,
      )
  }

  const pageOf = (
    query: HistoryQuery,
    read: Reader,
    bornByOf?: (id: number) => number | undefined,
  ): HistoryPage => {
    const { to, skip } = query.after
      ? { to: query.to, skip: 0 }
      : startOf(query, range => counterOf(range, bornByOf))
    const ends = query.after ?? query.seriesIds.map(id => Math.min(to, query.endOf?.(id) ?? to))
    const rowsNeeded = skip + query.limit
    const newestRows = newestFirst(query.seriesIds, (id, i) =>
      query.from < ends[i]! ? read(id, ends[i]!, rowsNeeded + 1) : [],
    )
    const more = newestRows.length > rowsNeeded
    if (!more) return { rows: newestRows.slice(skip), end: ends, more }
    const end = [...ends]
    for (const row of newestRows.slice(0, rowsNeeded))
      end[query.seriesIds.indexOf(row.seriesId)] = row.bar?.startsAt ?? row.observedAt
    return { rows: newestRows.slice(skip, rowsNeeded), end, more }
  }

  /** An as-of read sees exactly the rows that were there: those born by then. */
  const birthsAt = (range: HistoryRange, asOf: number, coverageSince: CoverageSince) => {
    const isCovered = (id: number) => asOf >= coverageSince(id)
    const bornByOf = (id: number) =>
      isCovered(id) ? Math.min(asOf, range.bornBy ?? asOf) : range.bornBy
    return { isCovered, bornByOf }
  }

  return {
    page: (query: HistoryQuery) =>
      pageOf(query, (seriesId, to, limit) => {
        const { interval, from, bornBy = Number.MAX_SAFE_INTEGER } = query
        const cut = query.cutOf?.(seriesId)
        if (cut) return cutRows(query, cut, seriesId, to).slice(0, limit)
        if (interval === 'raw')
          return rows.raw(seriesId, from, to, limit, bornBy).map(row => rawRow(seriesId, row))
        return rows
          .bars(seriesId, interval, from, to, limit, bornBy)
          .map(bar => barRow(seriesId, bar))
      }),
    count: (range: HistoryRange) => (range.cutOf ? countCut(range) : counterOf(range)(range.from)),
    /**
     * Raw rows as this service would have answered them at `asOf`; before `coverageSince` the values
     * first recorded.
     */
    pageAsOf(query: HistoryQuery, asOf: number, coverageSince: CoverageSince) {
      const { isCovered, bornByOf } = birthsAt(query, asOf, coverageSince)
      const read: Reader = (seriesId, to, limit) => {
        const { from, bornBy = Number.MAX_SAFE_INTEGER } = query
        const values = isCovered(seriesId)
          ? rows.asOf(seriesId, from, to, limit, Math.min(asOf, bornBy))
          : rows.firstRecorded(seriesId, from, to, limit, bornBy)
        return values.map(row => rawRow(seriesId, row))
      }
      return pageOf(query, read, bornByOf)
    },
    /** The same rows of one series, oldest first, block by block. */
    *rowsAsOf(
      range: HistoryRange,
      seriesId: number,
      asOf: number,
      coverageSince: CoverageSince,
    ): Generator<Observation> {
      const { from, bornBy = Number.MAX_SAFE_INTEGER } = range
      const to = Math.min(range.to, range.endOf?.(seriesId) ?? range.to)
      const isCovered = asOf >= coverageSince(seriesId)
      const point = { asOf: Math.min(asOf, bornBy), isCovered }
      const columns = emptyColumns()
      const stores = { observations, quarantine }
      const blocks = blocksOf(stores, seriesId, { from, to }, columns, () => point)
      for (const row of rowsOf(columns, blocks)) if (row.recordedAt <= bornBy) yield row
    },
    countAsOf(range: HistoryRange, asOf: number, coverageSince: CoverageSince) {
      return counterOf(range, birthsAt(range, asOf, coverageSince).bornByOf)(range.from)
    },
    /**
     * When the newest row of any of the series was recorded, Unix ms: at that moment all of them were
     * there.
     */
    newestRecordedAt: (seriesIds: readonly number[]) =>
      Math.max(...seriesIds.map(indexes.newestRecordedAt)),
    /** `from`: nothing that was observed earlier has changed. */
    forget(seriesId: number, from?: number) {
      indexes.forget(seriesId, from)
      dayBars.forget(seriesId, from)
    },
  }
}

const rawRow = (seriesId: number, { observedAt, value, recordedAt }: Observation): HistoryRow => ({
  seriesId,
  observedAt,
  value,
  recordedAt,
})

const barRow = (seriesId: number, bar: Bar): HistoryRow => ({
  seriesId,
  observedAt: bar.closedAt,
  value: bar.close,
  recordedAt: bar.recordedAt,
  bar,
})

/**
 * The rows of all series in one order: newest first, and within an instant in the order the series
 * were given.
 */
function newestFirst(
  seriesIds: readonly number[],
  rowsOf: (seriesId: number, order: number) => HistoryRow[],
): HistoryRow[] {
  if (seriesIds.length === 1) return rowsOf(seriesIds[0]!, 0)
  // Sorting is stable, so rows of one instant stay in the order of their series.
  return seriesIds.flatMap(rowsOf).sort((a, b) => b.observedAt - a.observedAt)
}

/**
 * Where the rows after `offset` begin: days are passed over by their counts, so that a page deep in
 * ten years of data costs what the first one costs. The rest to skip lies within one day (or
 * bucket).
 */
function startOf(
  query: HistoryQuery,
  counterOf: (range: HistoryRange) => (from: number) => number,
): { to: number; skip: number } {
  if (query.offset === 0 || query.cutOf || isLong(query.interval))
    return { to: query.to, skip: query.offset }
  const countFrom = counterOf(query)
  // The newest midnight from which on there are more than `offset` rows.
  let low = Math.floor(startOfDay(query.from) / dayMs)
  let high = Math.ceil(query.to / dayMs)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countFrom(middle * dayMs) <= query.offset) high = middle - 1
    else low = middle
  }
  const to = (low + 1) * dayMs
  return to < query.to
    ? { to, skip: query.offset - countFrom(to) }
    : { to: query.to, skip: query.offset }
}

/** Counts the rows of a part of a day, or of any range where days do not help; each part once. */
function partCounter(
  observations: ObservationStore,
  seriesId: number,
  { interval, bornBy }: { interval: HistoryRange['interval']; bornBy: number | undefined },
): Parameters<DayIndex['count']>[3] {
  const counts = new Map<string, number>()
  const count = (from: number, to: number) =>
    interval === 'raw'
      ? observations.count(seriesId, from, to, bornBy)
      : barsOf(interval, observations.oldestFirst(seriesId, from, to, bornBy)).length
  return (from, to) => {
    const part = `${from} ${to}`
    return counts.getOrInsertComputed(part, () => count(from, to))
  }
}

/** Bars of observations given oldest first, by a cut or by UTC. */
export const foldedBars = (
  interval: BarInterval,
  cut: BarCut | undefined,
  observations: Iterable<Observation>,
): Bar[] => (cut ? cutBars(interval, cut, observations) : barsOf(interval, observations))

/** Rows of a series read at once, where a bar is made of all that it has. */
const rowsMax = 1_000_000_000

/**
 * The rows of a history as they were known at a moment; bars are made from the observations of
 * then.
 */
export function pastHistory(
  history: Pick<History, 'pageAsOf' | 'rowsAsOf' | 'countAsOf'>,
  asOf: number,
  coverage: { since(seriesId: number): number; endOf(seriesId: number): number },
): Pick<History, 'page' | 'count'> {
  const { since } = coverage
  const endOf = (range: HistoryRange) => (seriesId: number) =>
    Math.min(range.endOf?.(seriesId) ?? range.to, coverage.endOf(seriesId))
  const barsIn = (range: HistoryRange, interval: BarInterval) =>
    newestFirst(range.seriesIds, seriesId => {
      const rows = history.rowsAsOf({ ...range, endOf: endOf(range) }, seriesId, asOf, since)
      return foldedBars(interval, range.cutOf?.(seriesId), rows)
        .map(bar => barRow(seriesId, bar))
        .reverse()
    })
  return {
    page(query) {
      const { interval, limit, offset, seriesIds, to } = query
      if (interval === 'raw')
        return history.pageAsOf({ ...query, endOf: endOf(query) }, asOf, since)
      const bars = barsIn(query, interval)
      const rows = bars.slice(offset, offset + limit)
      return { rows, end: seriesIds.map(() => to), more: bars.length > offset + limit }
    },
    count: range =>
      range.interval === 'raw'
        ? history.countAsOf({ ...range, endOf: endOf(range) }, asOf, since)
        : barsIn(range, range.interval).length,
  }
}
