import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'

/**
 * The last current observation of one UTC day (`YYYY-MM-DD`), in the unit of its series; days
 * without one are absent, never filled.
 */
export interface Close {
  day: string
  value: number
}

/**
 * A number, or how many closes there are and how many it takes: too little data is an answer, never
 * NaN.
 */
export type Measured<T> = { enough: true; value: T } | TooFew

export interface TooFew {
  enough: false
  have: number
  need: number
  /** The reason, as a sentence, where it is not the number of closes. */
  reason?: string
}

/** No window statistic is computed from fewer closes. */
export const closesMin = 5

export const measured = <T>(value: T): Measured<T> => ({ enough: true, value })

export const tooFew = (have: number, need: number): TooFew => ({ enough: false, have, need })

/** Whole days since 1970-01-01 of a `YYYY-MM-DD` day; throws on a day that no calendar has. */
export function dayNumber(day: string): number {
  const at = parseDay(day)
  if (at === undefined)
    throw new Error(`day is ${JSON.stringify(day)}; it must be a calendar day written YYYY-MM-DD`)
  return at / dayMs
}

export const dayAfter = (day: string, days: number): string =>
  isoDay((dayNumber(day) + days) * dayMs)

/** Days from one `YYYY-MM-DD` to another; negative where the other is earlier. */
export const daysBetween = (fromOn: string, toOn: string): number =>
  dayNumber(toOn) - dayNumber(fromOn)

/**
 * The newest part of `closes` (ascending): dates d with last - periodDays < d <= last, in calendar
 * days.
 */
export function closesIn<T extends { day: string }>(closes: readonly T[], periodDays: number): T[] {
  const last = closes.at(-1)
  if (!last) return []
  const before = dayAfter(last.day, -periodDays)
  let start = closes.length
  while (start > 0 && closes[start - 1]!.day > before) start--
  return closes.slice(start)
}

/** The closes of the window, when there are enough of them. */
export function windowOf<T extends { day: string }>(
  closes: readonly T[],
  periodDays: number,
): Measured<T[]> {
  const inside = closesIn(closes, periodDays)
  return inside.length < closesMin ? tooFew(inside.length, closesMin) : measured(inside)
}

/** Closes of a year by the median of the days between them: the longest gap, and how many. */
const closesAYear: readonly (readonly [gapDaysMax: number, closes: number])[] = [
  [4, 252],
  [10, 52],
  [45, 12],
  [120, 4],
]

/**
 * Closes per year at this spacing: 252 where the median gap is at most four days, 52 up to ten, 12
 * up to 45, 4 up to 120, otherwise 1. What scales with time is scaled by it. 252 under two closes,
 * which have no spacing.
 */
export function closesPerYear(closes: readonly { day: string }[]): number {
  const gaps: number[] = []
  for (let i = 1; i < closes.length; i++)
    gaps.push(dayNumber(closes[i]!.day) - dayNumber(closes[i - 1]!.day))
  if (gaps.length === 0) return closesAYear[0]![1]
  gaps.sort((a, b) => a - b)
  const middle = gaps.length >> 1
  const median = gaps.length % 2 === 1 ? gaps[middle]! : (gaps[middle - 1]! + gaps[middle]!) / 2
  return closesPerYearAt(median)
}

/** How many closes a year has whose median distance is so many days. */
export const closesPerYearAt = (medianGapDays: number): number =>
  closesAYear.find(([gapDaysMax]) => medianGapDays <= gapDaysMax)?.[1] ?? 1

/** Twenty times its window, the weight of what an indicator began with is under 1e-8. */
const warmUpWindows = 20

/**
 * The newest closes that a recursive indicator (EMA, RSI) needs for its value at the last of them
 * to be that of all of history to 1e-6, or all there are; `window` + 1 at least.
 */
export function warmUpFor<T>(closes: readonly T[], window: number): Measured<T[]> {
  if (closes.length < window + 1) return tooFew(closes.length, window + 1)
  return measured(closes.slice(-warmUpCount(window)))
}

/** The most closes that a warm-up uses. */
export const warmUpCount = (window: number): number => Math.max(250, warmUpWindows * window)

/**
 * ln(close / previous close), dimensionless, dated by the later close; a non-positive price drops
 * the two returns it touches.
 */
export function logReturns(closes: readonly Close[]): Close[] {
  const returns: Close[] = []
  for (let i = 1; i < closes.length; i++) {
    const [before, after] = [closes[i - 1]!, closes[i]!]
    if (before.value > 0 && after.value > 0)
      returns.push({ day: after.day, value: Math.log(after.value / before.value) })
  }
  return returns
}

/** One day on which every series has a close; `values` in the order of the series. */
export interface CommonDay {
  day: string
  values: number[]
}

/**
 * The days that all series (each ascending by day) share, ascending; with a period only those with
 * last - period < d <= last, the last being the newest shared day. What lies before it is not
 * checked.
 */
export function commonDays(
  series: readonly (readonly Close[])[],
  periodDays = Number.POSITIVE_INFINITY,
): CommonDay[] {
  const days: CommonDay[] = []
  const at = series.map(closes => closes.length - 1)
  let before = ''
  while (series.length > 0) {
    const newest = at.map((position, i) => series[i]![position])
    if (!newest.every(close => close !== undefined)) break
    let earliest = newest[0]!.day
    for (const { day } of newest) if (day < earliest) earliest = day
    if (earliest <= before) break
    if (newest.every(close => close.day === earliest)) {
      if (days.length === 0 && periodDays < Number.POSITIVE_INFINITY)
        before = dayAfter(earliest, -periodDays)
      days.push({ day: earliest, values: newest.map(close => close.value) })
      for (let i = 0; i < at.length; i++) at[i]!--
    } else
      for (let i = 0; i < at.length; i++)
        while (at[i]! >= 0 && series[i]![at[i]!]!.day > earliest) at[i]!--
  }
  return days.reverse()
}
