import {
  type Close,
  closesMin,
  dayAfter,
  type Measured,
  measured,
  tooFew,
} from '../../prices/math/window.ts'
import { stdDev } from './statistics.ts'

/** Returns over which the stability of a correlation is judged. */
const stabilityWindow = 7

/** Returns that differ by less than double rounding leaves in a logarithm do not vary. */
const returnNoise = 1e-12

export type Strength = 'very strong' | 'strong' | 'moderate' | 'weak' | 'none'
export type Direction = 'positive' | 'negative' | 'none'
export type Stability = 'stable' | 'moderate' | 'unstable'

/** The correlation of two series; `value` in -1..1, undefined when one of them did not move. */
export interface Correlation {
  value: number | undefined
  interpretation: string
  strength: Strength
  direction: Direction
  stability: Stability
  /** Closes on common dates inside the window. */
  dataPoints: number
}

/** A correlation dated by its newest return; undefined where a series did not move. */
export interface DatedCorrelation {
  day: string
  value: number | undefined
}

/** Log returns of two series between neighbouring common dates, dated by the later one. */
interface ReturnPairs {
  days: string[]
  first: number[]
  second: number[]
  /** Common dates inside the window. */
  closes: number
}

function varies(values: readonly number[]): boolean {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return values.length > 1 && high - low > returnNoise
}

function meanOf(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/**
 * Pearson's product-moment coefficient, two-pass, held to -1..1; undefined under two pairs or when
 * one side varies by rounding only.
 */
export function pearson(xs: readonly number[], ys: readonly number[]): number | undefined {
  if (!varies(xs) || !varies(ys)) return undefined
  const [mx, my] = [meanOf(xs), meanOf(ys)]
  let [xy, xx, yy] = [0, 0, 0]
  for (let i = 0; i < xs.length; i++) {
    const dx = xs[i]! - mx
    const dy = ys[i]! - my
    xy += dx * dy
    xx += dx * dx
    yy += dy * dy
  }
  return Math.min(1, Math.max(-1, xy / Math.sqrt(xx * yy)))
}

/**
 * The pairs inside the window that ends at the newest common date; a non-positive price in either
 * series drops the two pairs it touches. Both series are walked from their newest close, so that
 * the years before the window cost nothing.
 */
function returnPairs(
  a: readonly Close[],
  b: readonly Close[],
  periodDays: number,
  need: number,
): Measured<ReturnPairs> {
  const pairs: ReturnPairs = { days: [], first: [], second: [], closes: 0 }
  let [i, j, before] = [a.length - 1, b.length - 1, '']
  // Day and values of the common date after the one checked.
  let [day, x, y] = ['', 0, 0]
  while (i >= 0 && j >= 0) {
    const [first, second] = [a[i]!, b[j]!]
    if (first.day !== second.day) {
      if (first.day > second.day) i -= 1
      else j -= 1
      continue
    }
    if (first.day <= before) break
    if (pairs.closes === 0) before = dayAfter(first.day, -periodDays)
    else if (first.value > 0 && second.value > 0 && x > 0 && y > 0) {
      pairs.days.push(day)
      pairs.first.push(Math.log(x / first.value))
      pairs.second.push(Math.log(y / second.value))
    }
    day = first.day
    x = first.value
    y = second.value
    pairs.closes += 1
    i -= 1
    j -= 1
  }
  if (pairs.closes < need) return tooFew(pairs.closes, need)
  for (const list of [pairs.days, pairs.first, pairs.second]) list.reverse()
  return measured(pairs)
}

function rolling({ days, first, second }: ReturnPairs, window: number): DatedCorrelation[] {
  return days.slice(window - 1).map((day, start) => ({
    day,
    value: pearson(first.slice(start, start + window), second.slice(start, start + window)),
  }))
}

/** The specification's bands of |correlation|, each including its lower edge. */
export function strengthOf(correlation: number | undefined): Strength {
  const size = Math.abs(correlation ?? 0)
  if (size >= 0.9) return 'very strong'
  if (size >= 0.7) return 'strong'
  if (size >= 0.4) return 'moderate'
  return size >= 0.2 ? 'weak' : 'none'
}

export function directionOf(correlation: number | undefined): Direction {
  if (!correlation) return 'none'
  return correlation > 0 ? 'positive' : 'negative'
}

/**
 * From the sample standard deviation of the 7-return rolling correlations: under 0.25 stable, under
 * 0.5 moderate; without two of them unstable.
 */
function stabilityOf(pairs: ReturnPairs): Stability {
  const deviation =
    stdDev(rolling(pairs, stabilityWindow).flatMap(({ value }) => value ?? [])) ??
    Number.POSITIVE_INFINITY
  if (deviation < 0.25) return 'stable'
  return deviation < 0.5 ? 'moderate' : 'unstable'
}

function interpret(value: number | undefined): string {
  if (value === undefined) return 'no correlation can be given: one of the prices did not move'
  const strength = strengthOf(value)
  return strength === 'none'
    ? 'no meaningful correlation'
    : `${strength} ${directionOf(value)} correlation`
}

/**
 * Pearson of the daily log returns (sample) of two series of closes (ascending) on their common
 * dates in the last `periodDays`; needs five of them.
 */
export function correlationOf(
  a: readonly Close[],
  b: readonly Close[],
  periodDays: number,
): Measured<Correlation> {
  const inside = returnPairs(a, b, periodDays, closesMin)
  if (!inside.enough) return inside
  const pairs = inside.value
  const value = pearson(pairs.first, pairs.second)
  return measured({
    value,
    interpretation: interpret(value),
    strength: strengthOf(value),
    direction: directionOf(value),
    stability: stabilityOf(pairs),
    dataPoints: pairs.closes,
  })
}

/**
 * At each date of the window that has them, the correlation of the last `window` returns; oldest
 * first. Needs `window` + 1 common closes.
 */
export function rollingCorrelation(
  a: readonly Close[],
  b: readonly Close[],
  periodDays: number,
  window: number,
): Measured<DatedCorrelation[]> {
  const inside = returnPairs(a, b, periodDays, Math.max(closesMin, window + 1))
  return inside.enough ? measured(rolling(inside.value, window)) : inside
}

/** Symmetric; `cells[i][j]` belongs to series i and j, undefined where one did not move. */
export interface CorrelationMatrix {
  cells: (number | undefined)[][]
  /** Number of common closes of the pair with the fewest. */
  dataPoints: number
}

/** Every pair on its own common dates; the first pair under five closes is named by its indices. */
export function correlationMatrix(
  series: readonly (readonly Close[])[],
  periodDays: number,
):
  | { enough: true; value: CorrelationMatrix }
  | { enough: false; have: number; need: number; pair: [number, number] } {
  const cells: (number | undefined)[][] = series.map(() => [])
  let dataPoints = Number.POSITIVE_INFINITY
  for (const [i, first] of series.entries()) {
    for (let j = i; j < series.length; j++) {
      const inside = returnPairs(first, series[j]!, periodDays, closesMin)
      if (!inside.enough) return { ...tooFew(inside.have, inside.need), pair: [i, j] }
      const value = pearson(inside.value.first, inside.value.second)
      cells[i]![j] = value
      cells[j]![i] = value
      dataPoints = Math.min(dataPoints, inside.value.closes)
    }
  }
  return { enough: true, value: { cells, dataPoints: series.length ? dataPoints : 0 } }
}
