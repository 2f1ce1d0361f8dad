import { decimalsOf, roundTo } from './format.ts'

/** A value of a series at a time. */
export interface Point {
  at: string
  value: number
}

/** The summary of a stretch of a series. `changePercent` is null where it began at zero. */
export interface Summary {
  first: Point
  last: Point
  high: Point
  low: Point
  mean: number
  change: number
  changePercent: number | null
  count: number
}

export const percentDecimals = 2

const mostDecimals = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, decimalsOf(value)), 0)

export const averageOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** The mean of prices, with two decimals more than they have, as in the windows of the API. */
export const meanOf = (values: readonly number[]): number =>
  roundTo(averageOf(values), mostDecimals(values) + 2)

/** Summarizes points in chronological order; undefined where there are none. */
export function summaryOf(points: readonly Point[]): Summary | undefined {
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return undefined
  let [high, low] = [first, first]
  for (const point of points) {
    if (point.value > high.value) high = point
    if (point.value < low.value) low = point
  }
  const change = last.value - first.value
  return {
    first,
    last,
    high,
    low,
    mean: meanOf(points.map(({ value }) => value)),
    change: roundTo(change, mostDecimals([first.value, last.value])),
    changePercent:
      first.value === 0 ? null : roundTo((change / Math.abs(first.value)) * 100, percentDecimals),
    count: points.length,
  }
}

/**
 * At most so many of the points, evenly spread, with the first and the last, and with the highest
 * and the lowest of what lies between two that stay.
 */
export function thinned(points: readonly Point[], pointsMax: number): Point[] {
  if (points.length <= pointsMax) return [...points]
  if (pointsMax < 4) return points.length > 1 ? [points[0]!, points.at(-1)!] : [...points]
  const inner = points.slice(1, -1)
  const groups = Math.floor((pointsMax - 2) / 2)
  const chosen = new Set<Point>([points[0]!])
  for (let group = 0; group < groups; group += 1) {
    const from = Math.floor((group * inner.length) / groups)
    const to = Math.floor(((group + 1) * inner.length) / groups)
    const part = summaryOf(inner.slice(from, to))
    if (!part) continue
    const extremes = inner
      .slice(from, to)
      .filter(point => point === part.high || point === part.low)
    for (const point of extremes) chosen.add(point)
  }
  chosen.add(points.at(-1)!)
  return [...chosen]
}
