import { dayMs, startOfDay } from '../../../../lib/time/instant.ts'
import { type BarInterval, bucketStart, isLong } from '../../math/bars.ts'
import type { Day, ObservationStore } from '../../store/observations.ts'
import type { QuarantineList } from '../quarantine.ts'

/** Counts the rows of a series in a range without reading them. */
export interface DayIndex {
  /** How many days it is over. */
  days: number
  /** When the newest row was recorded, Unix ms. */
  newestRecordedAt: number
  /** Rows in `[from, to)`; `within` counts those of the one or two days that the range cuts. */
  count(
    interval: 'raw' | BarInterval,
    from: number,
    to: number,
    within: (from: number, to: number) => number,
  ): number
}

/** Days cached in all: 32 bytes each, so 3 MB at most, which is 27 series of ten years. */
const daysMax = 100_000

const everything = Number.NEGATIVE_INFINITY
/** How many series with a single earlier request are remembered. */
const askedOnceMax = 64

interface Entry {
  index: IndexedDays
  /** Values observed from here on may have changed since. */
  staleFrom: number
}

/**
 * One index per series, created at its second request and dropped when others need the memory.
 * After a change only the days from the first changed one are read again.
 */
export function createDayIndexes(
  observations: ObservationStore,
  quarantine: QuarantineList,
  countMax = daysMax,
) {
  // A Map keeps the order of insertion, so the first entry is the least recently used.
  const entries = new Map<number, Entry>()
  let daysCount = 0
  const drop = (seriesId: number) => {
    daysCount -= entries.get(seriesId)?.index.days ?? 0
    entries.delete(seriesId)
  }
  const keep = (seriesId: number, index: IndexedDays) => {
    drop(seriesId)
    entries.set(seriesId, { index, staleFrom: Number.POSITIVE_INFINITY })
    daysCount += index.days
    for (const [oldest] of entries) {
      if (daysCount <= countMax || oldest === seriesId) return
      drop(oldest)
    }
  }
  const askedOnce = new Set<number>()
  const newest = new Map<number, { recordedAt: number; staleFrom: number }>()
  /** The days of `before` that are older than `from`, and the stored ones from there on. */
  const readIndex = (
    seriesId: number,
    before: IndexedDays,
    from: number,
    bornBy?: number,
    to?: number,
  ): IndexedDays => {
    const days = observations.days(seriesId, bornBy, from === everything ? undefined : from, to)
    const [first, last] = [days[0], days.at(-1)]
    const clear =
      first && last ? quarantine.clear(seriesId, first.startsAt, last.startsAt + dayMs) : []
    return dayIndex(
      before,
      before.firstFrom(from),
      days.filter(day =>
        clear.some(stretch => day.startsAt >= stretch.from && day.startsAt < stretch.to),
      ),
    )
  }
  const current = (seriesId: number): IndexedDays => {
    const entry = entries.get(seriesId)
    if (!entry) return readIndex(seriesId, noDays, everything)
    return entry.staleFrom === Number.POSITIVE_INFINITY
      ? entry.index
      : readIndex(seriesId, entry.index, startOfDay(entry.staleFrom))
  }
  /** With `bornBy`, over the rows that were there at that moment. */
  const indexOf = (seriesId: number, bornBy?: number): DayIndex => {
    const index = current(seriesId)
    keep(seriesId, index)
    if (bornBy === undefined || index.newestRecordedAt <= bornBy) return index
    // An index of a past state is only cached while that state is still current.
    return readIndex(seriesId, index, index.firstRecordedAfter(bornBy), bornBy)
  }
  return {
    of: indexOf,
    /**
     * For counts inside `[from, to)`. The first request for a series reads only the days of the
     * range, because reading all of them takes ten times as long as a page.
     */
    within(seriesId: number, from: number, to: number, bornBy?: number): DayIndex {
      if (entries.has(seriesId) || askedOnce.delete(seriesId)) return indexOf(seriesId, bornBy)
      if (askedOnce.size >= askedOnceMax) askedOnce.clear()
      askedOnce.add(seriesId)
      return readIndex(seriesId, noDays, startOfDay(from), bornBy, to)
    },
    /** When the newest value was recorded, Unix ms; that value may be gone since. */
    newestRecordedAt(seriesId: number): number {
      const known = newest.get(seriesId)
      if (known?.staleFrom === Number.POSITIVE_INFINITY) return known.recordedAt
      const read = observations.newestRecordedAt(seriesId, known && startOfDay(known.staleFrom))
      const recordedAt = Math.max(read, known?.recordedAt ?? read)
      newest.set(seriesId, { recordedAt, staleFrom: Number.POSITIVE_INFINITY })
      return recordedAt
    },
    /** `from`: nothing that was observed earlier has changed. */
    forget(seriesId: number, from = everything) {
      const known = newest.get(seriesId)
      if (from === everything) newest.delete(seriesId)
      else if (known) known.staleFrom = Math.min(known.staleFrom, from)
      const entry = entries.get(seriesId)
      if (from === everything || !entry) return drop(seriesId)
      entries.set(seriesId, {
        index: entry.index,
        staleFrom: Math.min(entry.staleFrom, from),
      })
    },
  }
}

/** A day index with what another one is made of. */
interface IndexedDays extends DayIndex {
  /** Position of the first day that starts at `at` or later. */
  firstFrom(at: number): number
  /** Start of the first day with a value that was recorded after `at`. */
  firstRecordedAfter(at: number): number
  /** Start and newest recording of each day, and the rows and hours of all days before it. */
  columns: Columns
}

interface Columns {
  starts: Float64Array
  recordedAts: Float64Array
  rows: Float64Array
  hours: Float64Array
}

/** Running totals over the first `kept` days of an index and more: 32 bytes a day. */
function dayIndex(
  before: Pick<IndexedDays, 'columns'>,
  kept: number,
  days: readonly Day[],
): IndexedDays {
  const length = kept + days.length
  const extended = (column: Float64Array, more: number) => {
    const all = new Float64Array(length + more)
    all.set(column.subarray(0, kept + more))
    return all
  }
  const starts = extended(before.columns.starts, 0)
  const recordedAts = extended(before.columns.recordedAts, 0)
  const rows = extended(before.columns.rows, 1)
  const hours = extended(before.columns.hours, 1)
  for (let i = kept; i < length; i += 1) {
    const day = days[i - kept]!
    starts[i] = day.startsAt
    recordedAts[i] = day.recordedAt
    rows[i + 1] = rows[i]! + day.count
    hours[i + 1] = hours[i]! + day.hours
  }
  /** Position of the first day that starts at or after `at`. */
  const firstFrom = (at: number) => {
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (starts[middle]! < at) low = middle + 1
      else high = middle
    }
    return low
  }
  const has = (day: number) => starts[firstFrom(day)] === day

  const buckets = (interval: BarInterval, from: number, to: number) => {
    const [first, end] = [firstFrom(from), firstFrom(to)]
    if (interval === 'day') return end - first
    let count = 0
    let last = Number.NaN
    for (let i = first; i < end; i++) {
      const bucket = bucketStart(interval, starts[i]!)
      if (bucket !== last) count += 1
      last = bucket
    }
    return count
  }

  return {
    columns: { starts, recordedAts, rows, hours },
    days: length,
    newestRecordedAt: recordedAts.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
    firstFrom,
    firstRecordedAfter: at => starts[recordedAts.findIndex(recordedAt => recordedAt > at)]!,
    count(interval, from, to, within) {
      if (from >= to || starts.length === 0) return 0
      const headDay = startOfDay(to)
      const tailDay = startOfDay(from)
      // Only the two days that the range cuts are counted row by row, and only if they hold
      // anything.
      const cut = (day: number, a: number, b: number) => (a < b && has(day) ? within(a, b) : 0)
      if (headDay === tailDay) return cut(tailDay, from, to)
      if (interval === 'day' || isLong(interval)) {
        const tailIsEmpty = from > tailDay && cut(tailDay, from, tailDay + dayMs) === 0
        const headIsEmpty = to > headDay && cut(headDay, headDay, to) === 0
        return buckets(
          interval,
          tailIsEmpty ? tailDay + dayMs : tailDay,
          headIsEmpty ? headDay : to,
        )
      }
      const whole = from > tailDay ? tailDay + dayMs : from
      const totals = interval === 'raw' ? rows : hours
      const between = totals[firstFrom(headDay)]! - totals[firstFrom(whole)]!
      return between + cut(tailDay, from, whole) + cut(headDay, headDay, to)
    },
  }
}

const noDays = dayIndex(
  {
    columns: {
      starts: new Float64Array(0),
      recordedAts: new Float64Array(0),
      rows: new Float64Array(1),
      hours: new Float64Array(1),
    },
  },
  0,
  [],
)
