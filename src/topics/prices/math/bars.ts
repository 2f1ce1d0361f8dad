import {
  dayMs,
  hourMs,
  startOfDay,
  startOfHour,
  startOfMonth,
  startOfNextMonth,
  startOfQuarter,
  startOfWeek,
  startOfYear,
} from '../../../lib/time/instant.ts'

/** One observed value. `recordedAt` is when this service learnt it. */
export interface Observation {
  observedAt: number
  value: number
  recordedAt: number
}

/** The aggregate of the observations in one bucket of time. */
export interface Bar {
  startsAt: number
  open: number
  high: number
  low: number
  close: number
  /** Sum and number of the observations, added in time order. */
  sum: number
  count: number
  /** Hours of the bucket that have an observation. */
  hours: number
  /** When the last observation was made. */
  closedAt: number
  /** When the newest of the observations was recorded. */
  recordedAt: number
  /** When the first of them was recorded: before it the bucket did not exist. */
  bornAt: number
}

/** Weeks by the day that they end on; those of `week` end on Sunday. */
const weekEndings = ['w-mon', 'w-tue', 'w-wed', 'w-thu', 'w-fri', 'w-sat'] as const

/** Bars that are made of those of days. */
export const longIntervals = ['week', ...weekEndings, 'month', 'quarter', 'year'] as const
export type LongInterval = (typeof longIntervals)[number]

export type BarInterval = 'hour' | 'day' | LongInterval

export const isLong = (interval: string): interval is LongInterval =>
  (longIntervals as readonly string[]).includes(interval)

/** How many days a bar can be made of. */
export function daysInBar(interval: LongInterval): number {
  if (interval === 'month') return 31
  if (interval === 'quarter') return 92
  return interval === 'year' ? 366 : 7
}

/** Start of the UTC bucket that holds `at`; weeks start on Monday unless they are named by an end. */
export function bucketStart(interval: BarInterval, at: number): number {
  if (interval === 'hour') return startOfHour(at)
  if (interval === 'day') return startOfDay(at)
  if (interval === 'week') return startOfWeek(at)
  if (interval === 'month') return startOfMonth(at)
  if (interval === 'quarter') return startOfQuarter(at)
  if (interval === 'year') return startOfYear(at)
  // A week that ends on Monday is one that ends on Sunday, a day later.
  const laterMs = (weekEndings.indexOf(interval) + 1) * dayMs
  return startOfWeek(at - laterMs) + laterMs
}

/** End of the bucket that starts at `startsAt`, exclusive. */
export function bucketEnd(interval: BarInterval, startsAt: number): number {
  if (interval === 'hour') return startsAt + hourMs
  if (interval === 'day') return startsAt + dayMs
  if (interval === 'month') return startOfNextMonth(startsAt)
  if (interval === 'quarter') return startOfQuarter(startsAt + 100 * dayMs)
  return interval === 'year' ? startOfYear(startsAt + 370 * dayMs) : startsAt + 7 * dayMs
}

export const openBar = (startsAt: number, first: Observation): Bar => ({
  startsAt,
  open: first.value,
  high: first.value,
  low: first.value,
  close: first.value,
  sum: first.value,
  count: 1,
  hours: 1,
  closedAt: first.observedAt,
  recordedAt: first.recordedAt,
  bornAt: first.recordedAt,
})

/** Adds an observation that was made after every one already in the bar. */
export function extendBar(bar: Bar, next: Observation): void {
  if (startOfHour(next.observedAt) !== startOfHour(bar.closedAt)) bar.hours += 1
  if (next.value > bar.high) bar.high = next.value
  if (next.value < bar.low) bar.low = next.value
  bar.close = next.value
  bar.sum += next.value
  bar.count += 1
  bar.closedAt = next.observedAt
  if (next.recordedAt > bar.recordedAt) bar.recordedAt = next.recordedAt
  if (next.recordedAt < bar.bornAt) bar.bornAt = next.recordedAt
}

/** The bars of observations given oldest first. */
export function barsOf(interval: BarInterval, observations: Iterable<Observation>): Bar[] {
  const bars: Bar[] = []
  for (const observation of observations) {
    const startsAt = bucketStart(interval, observation.observedAt)
    const bar = bars.at(-1)
    if (bar?.startsAt === startsAt) extendBar(bar, observation)
    else bars.push(openBar(startsAt, observation))
  }
  return bars
}

/** Longer bars from shorter ones given oldest first: weeks, months, quarters and years from days. */
export function mergeBars(interval: BarInterval, parts: Iterable<Bar>): Bar[] {
  const bars: Bar[] = []
  for (const part of parts) {
    const startsAt = bucketStart(interval, part.startsAt)
    const bar = bars.at(-1)
    if (bar?.startsAt === startsAt) absorb(bar, part)
    else bars.push({ ...part, startsAt })
  }
  return bars
}

function absorb(bar: Bar, part: Bar) {
  bar.high = Math.max(bar.high, part.high)
  bar.low = Math.min(bar.low, part.low)
  bar.close = part.close
  bar.sum += part.sum
  bar.count += part.count
  bar.hours += part.hours
  bar.closedAt = part.closedAt
  bar.recordedAt = Math.max(bar.recordedAt, part.recordedAt)
  bar.bornAt = Math.min(bar.bornAt, part.bornAt)
}
