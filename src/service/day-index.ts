import { dayMs, startOfDay } from '../lib/instant.ts'
import { type BarInterval, bucketStart } from '../market/bars.ts'
import type { ObservationStore } from '../store/observations.ts'
import type { QuarantineList } from './quarantine.ts'

/** How many rows of a series lie in a range, without reading them. */
export interface DayIndex {
  /** Rows in `[from, to)`; `within` counts those of the one or two days that the range cuts. */
  count(interval: 'raw' | BarInterval, from: number, to: number, within: (from: number, to: number) => number): number
}

/** One index a series, made at first use and dropped when the series changes. */
export interface DayIndexes {
  of(seriesId: number): DayIndex
  forget(seriesId: number): void
}

export function dayIndexes(observations: ObservationStore, quarantine: QuarantineList): DayIndexes {
  const held = new Map<number, DayIndex>()
  return {
    of(seriesId) {
      let index = held.get(seriesId)
      if (!index) {
        const all = observations.days(seriesId)
        const [first, last] = [all[0], all.at(-1)]
        const clear = first && last ? quarantine.clear(seriesId, first.startsAt, last.startsAt + dayMs) : []
        index = dayIndex(all.filter(day => clear.some(stretch => day.startsAt >= stretch.from && day.startsAt < stretch.to)))
        held.set(seriesId, index)
      }
      return index
    },
    forget: seriesId => void held.delete(seriesId),
  }
}

/** Running totals over the days of a series: 24 bytes a day, so ten years are 90 kB. */
function dayIndex(days: readonly { startsAt: number; count: number; hours: number }[]): DayIndex {
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
    let count = 0
    let last = Number.NaN
    for (let i = firstFrom(from); i < starts.length && starts[i]! < to; i++) {
      const bucket = bucketStart(interval, starts[i]!)
      if (bucket !== last) count += 1
      last = bucket
    }
    return count
  }

  return {
    count(interval, from, to, within) {
      if (from >= to || starts.length === 0) return 0
      const headDay = startOfDay(to)
      const tailDay = startOfDay(from)
      // Only the two days that the range cuts are counted row by row, and only if they hold anything.
      const cut = (day: number, a: number, b: number) => (a < b && has(day) ? within(a, b) : 0)
      if (interval === 'week' || interval === 'month' || interval === 'day') {
        const first = from > tailDay && has(tailDay) && within(from, Math.min(to, tailDay + dayMs)) === 0 ? tailDay + dayMs : tailDay
        const last = to > headDay && headDay > tailDay && has(headDay) && within(Math.max(from, headDay), to) === 0 ? headDay : to
        return buckets(interval, first, last)
      }
      if (headDay === tailDay) return cut(tailDay, from, to)
      const whole = from > tailDay ? tailDay + dayMs : from
      const totals = interval === 'raw' ? rows : hours
      const between = totals[firstFrom(headDay)]! - totals[firstFrom(whole)]!
      return between + cut(tailDay, from, whole) + cut(headDay, headDay, to)
    },
  }
}
