import { slackDays, spanDays } from '../../calendars/math/weeks.ts'
import { changePercent } from '../../prices/math/change.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'

/** A count of a day, in whatever it counts. */
export interface Count {
  on: string
  value: number
}

export type CountSpan = keyof typeof spanDays

const spellings = new Map<string, CountSpan>([
  ...['week', 'weekly', 'day', 'daily', '7d', '1w'].map(text => [text, 'week'] as const),
  ...['month', 'monthly', '30d', '1m'].map(text => [text, 'month'] as const),
  ...['quarter', 'quarterly', '90d', '3m'].map(text => [text, 'quarter'] as const),
  ...['year', 'yearly', 'annual', '365d', '1y'].map(text => [text, 'year'] as const),
])
export const countSpans = Object.keys(spanDays) as readonly CountSpan[]

/** A span by its name; counts are weekly, so `daily` is a week. Undefined for anything else. */
export const countSpanOf = (text: string): CountSpan | undefined =>
  spellings.get(text.trim().toLowerCase())

/**
 * The newest count at least `days` before the last one and at most six days more; `counts` are
 * oldest first.
 */
export function countBefore(counts: readonly Count[], days: number): Count | undefined {
  const last = counts.at(-1)
  if (!last) return undefined
  const [latestOn, earliestOn] = [dayAfter(last.on, -days), dayAfter(last.on, -days - slackDays)]
  const earlier = counts.findLast(count => count.on <= latestOn)
  return earlier && earlier.on >= earliestOn ? earlier : undefined
}

/** Last count minus the one a span before; undefined where that one is missing. */
export function changeOver(counts: readonly Count[], span: CountSpan): number | undefined {
  const before = countBefore(counts, spanDays[span])
  return before && counts.at(-1)!.value - before.value
}

/** Percent of `from`, two places; undefined from 0. */
export function percentChange(from: number, to: number): number | undefined {
  const percent = changePercent(from, to)
  return percent === undefined ? undefined : roundTo(percent, 2)
}

export type Trend = 'up' | 'down' | 'flat'

/** A smaller change, in percent either way, counts as flat. */
const flatPercent = 1

/** `flat` within one percent either way; from 0 any rise is `up`. */
export function trendOf(from: number, to: number): Trend {
  const percent = changePercent(from, to) ?? (to === 0 ? 0 : Math.sign(to) * 100)
  if (Math.abs(percent) <= flatPercent) return 'flat'
  return percent > 0 ? 'up' : 'down'
}

export interface CountTrend {
  from: string
  to: string
  average: number
  min: number
  max: number
  change: number
  changePercent: number | undefined
  trend: Trend
}

/**
 * The counts from the one that lies a span before the last up to the last; from the first there is
 * where they do not reach back as far. Undefined without counts.
 */
export function countTrend(counts: readonly Count[], span: CountSpan): CountTrend | undefined {
  const last = counts.at(-1)
  if (!last) return undefined
  const earliestOn = dayAfter(last.on, -spanDays[span])
  const base = countBefore(counts, spanDays[span])
  const inside = counts.filter(count => count.on >= (base?.on ?? earliestOn))
  const first = inside[0]!
  const values = inside.map(count => count.value)
  return {
    from: first.on,
    to: last.on,
    average: roundTo(values.reduce((sum, value) => sum + value, 0) / values.length, 2),
    min: Math.min(...values),
    max: Math.max(...values),
    change: last.value - first.value,
    changePercent: percentChange(first.value, last.value),
    trend: trendOf(first.value, last.value),
  }
}

/** How many counts a moving average is of. */
const averagedCounts = 4

export interface AveragedCount extends Count {
  /** Mean of the count and the three before it, two places; undefined before the fourth. */
  average: number | undefined
  /** Where the count stands to that mean: `flat` within one percent, and before there is one. */
  trend: Trend
}

/** The count at an index of `counts`, which are oldest first, with its moving average. */
export function averaged(counts: readonly Count[], index: number): AveragedCount {
  const count = counts[index]!
  const from = index + 1 - averagedCounts
  if (from < 0) return { ...count, average: undefined, trend: 'flat' }
  let sum = 0
  for (let i = from; i <= index; i += 1) sum += counts[i]!.value
  return {
    ...count,
    average: roundTo(sum / averagedCounts, 2),
    trend: trendOf(sum / averagedCounts, count.value),
  }
}
