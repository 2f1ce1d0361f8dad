import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import { type BarInterval, bucketStart, isLong } from '../math/bars.ts'
import type { Day, ObservationStore } from '../store/observations.ts'
import type { QuarantineList } from './quarantine.ts'

/** How many rows of a series lie in a range, without reading them. */
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

/** One index a series, made at first use and dropped when the series changes or others need room. */
export interface DayIndexes {
  /** With `bornBy`, over the rows that were there at that moment. */
  of(seriesId: number, bornBy?: number): DayIndex
  forget(seriesId: number): void
}

/** Days kept in all: 24 bytes each, so 8 MB at most, which is 95 series of ten years. */
const daysMax = 350_000

export function createDayIndexes(
  observations: ObservationStore,
  quarantine: QuarantineList,
  countMax = daysMax,
): DayIndexes {
  // A Map keeps the order of insertion, so the first is what was asked for longest ago.
  const indexes = new Map<number, DayIndex>()
  let daysCount = 0
  const drop = (seriesId: number) => {
    daysCount -= indexes.get(seriesId)?.days ?? 0
    indexes.delete(seriesId)
  }
  const keep = (seriesId: number, index: DayIndex) => {
    drop(seriesId)
    indexes.set(seriesId, index)
    daysCount += index.days
    for (const [oldest] of indexes) {
      if (daysCount <= countMax || oldest === seriesId) return
      drop(oldest)
    }
  }
  const readIndex = (seriesId: number, bornBy?: number): DayIndex => {
    const days = observations.days(seriesId, bornBy)
    const [first, last] = [days[0], days.at(-1)]
    const clear =
      first && last ? quarantine.clear(seriesId, first.startsAt, last.startsAt + dayMs) : []
    return dayIndex(
      days.filter(day =>
        clear.some(stretch => day.startsAt >= stretch.from && day.startsAt < stretch.to),
      ),
    )
  }
  return {
    of(seriesId, bornBy) {
      const index = indexes.get(seriesId) ?? readIndex(seriesId)
      keep(seriesId, index)
      // What a series was like at a moment is worth keeping only while it still is like that.
      return bornBy === undefined || index.newestRecordedAt <= bornBy
        ? index
        : readIndex(seriesId, bornBy)
    },
    forget: drop,
  }
}

/** Running totals over the days of a series: 24 bytes a day, so ten years are 90 kB. */
function dayIndex(days: readonly Day[]): DayIndex {
  const starts = Float64Array.from(days, day => day.startsAt)
  const rows = new Float64Array(days.length + 1)
  const hours = new Float64Array(days.length + 1)
  for (const [i, day] of days.entries()) {
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
    days: days.length,
    newestRecordedAt: days.reduce(
      (newest, day) => Math.max(newest, day.recordedAt),
      Number.NEGATIVE_INFINITY,
    ),
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
