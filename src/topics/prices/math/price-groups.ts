import { weekdayOf } from '../../../lib/time/instant.ts'
import { roundTo } from './format.ts'
import { averageOf, meanOf, type Point, percentDecimals } from './summary.ts'

export const groupings = ['all', 'year', 'quarter', 'month', 'month_of_year', 'weekday'] as const
export type Grouping = (typeof groupings)[number]

/** Which points count; of a change in percent from the point before. Bounds are exclusive. */
export interface PointFilter {
  above?: number | undefined
  below?: number | undefined
  changeAbove?: number | undefined
  changeBelow?: number | undefined
}

/** The statistics of a group of points. Changes are in percent from the point before. */
export interface PriceGroup {
  group: string
  count: number
  mean: number
  low: number
  high: number
  /** Values of the first and the last point that count. */
  first: number
  last: number
  /** Null where no point of the group has one before it that is not zero. */
  meanChangePercent: number | null
  largestRisePercent: number | null
  largestFallPercent: number | null
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

function groupOf(at: string, grouping: Grouping): string {
  const month = Number(at.slice(5, 7))
  switch (grouping) {
    case 'all':
      return 'all'
    case 'year':
      return at.slice(0, 4)
    case 'quarter':
      return `${at.slice(0, 4)}-Q${Math.ceil(month / 3)}`
    case 'month':
      return at.slice(0, 7)
    case 'month_of_year':
      return at.slice(5, 7)
    case 'weekday':
      return weekdays[weekdayOf(Date.parse(at)) - 1]!
  }
}

/**
 * Points in the order of time, put together by their UTC calendar, in the order in which groups
 * first occur. A change is measured from the point before, whether that one counts or not.
 */
export function priceGroups(
  points: readonly Point[],
  grouping: Grouping,
  { above, below, changeAbove, changeBelow }: PointFilter = {},
): PriceGroup[] {
  const groups = new Map<string, { values: number[]; changes: number[] }>()
  for (const [i, { at, value }] of points.entries()) {
    const before = points[i - 1]?.value
    const change =
      before === undefined || before === 0 ? null : ((value - before) / Math.abs(before)) * 100
    if (above !== undefined && !(value > above)) continue
    if (below !== undefined && !(value < below)) continue
    if (changeAbove !== undefined && !(change !== null && change > changeAbove)) continue
    if (changeBelow !== undefined && !(change !== null && change < changeBelow)) continue
    const name = groupOf(at, grouping)
    const group = groups.getOrInsertComputed(name, () => ({ values: [], changes: [] }))
    group.values.push(value)
    if (change !== null) group.changes.push(change)
  }
  return [...groups].map(([group, { values, changes }]) => ({
    group,
    count: values.length,
    mean: meanOf(values),
    low: Math.min(...values),
    high: Math.max(...values),
    first: values[0]!,
    last: values.at(-1)!,
    meanChangePercent: percentOf(changes, averageOf),
    largestRisePercent: percentOf(changes, all => Math.max(...all)),
    largestFallPercent: percentOf(changes, all => Math.min(...all)),
  }))
}

const percentOf = (
  changes: readonly number[],
  statistic: (changes: readonly number[]) => number,
): number | null => (changes.length > 0 ? roundTo(statistic(changes), percentDecimals) : null)
