import { parseDay } from '../../../src/lib/time/instant.ts'

/**
 * The computed numbers written down from their definitions by plain sums, apart from the code that
 * serves them.
 */

export interface Day {
  day: string
  value: number
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
export const mean = (values: readonly number[]) => sum(values) / values.length
export const deviation = (values: readonly number[]) => {
  const center = mean(values)
  return Math.sqrt(sum(values.map(value => (value - center) ** 2)) / (values.length - 1))
}
const number = (day: string) => parseDay(day)! / 86_400_000

/** Dates d with last - period < d <= last. */
export const window = <T extends { day: string }>(days: readonly T[], period: number): T[] =>
  days.filter(close => number(close.day) > number(days.at(-1)!.day) - period)

export const returns = (days: readonly Day[]): number[] => {
  const logReturns: number[] = []
  days.forEach((close, i) => {
    const before = days[i - 1]
    if (before && before.value > 0 && close.value > 0)
      logReturns.push(Math.log(close.value) - Math.log(before.value))
  })
  return logReturns
}

/** By the median of the days between closes. */
export function closesAYear(days: readonly Day[]): number {
  const gaps = days
    .slice(1)
    .map((close, i) => number(close.day) - number(days[i]!.day))
    .sort((a, b) => a - b)
  const middle = gaps.length / 2
  const median = (gaps[Math.ceil(middle) - 1]! + gaps[Math.floor(middle)]!) / 2
  if (median > 120) return 1
  return median <= 4 ? 252 : median <= 10 ? 52 : median <= 45 ? 12 : 4
}

export const volatility = (days: readonly Day[]) =>
  deviation(returns(days)) * Math.sqrt(closesAYear(days)) * 100

export function statistics(days: readonly Day[], period: number) {
  const inside = window(days, period)
  const values = inside.map(close => close.value)
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [
    sorted[Math.ceil(sorted.length / 2) - 1]!,
    sorted[Math.floor(sorted.length / 2)]!,
  ]
  const last = values.at(-1)!
  return {
    mean: mean(values),
    median: (low + high) / 2,
    std_dev: deviation(values),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    z_score: (last - mean(values)) / deviation(values),
    percentile: (100 * values.filter(value => value <= last).length) / values.length,
    volatility: volatility(inside),
    data_points: values.length,
  }
}

export const common = (a: readonly Day[], b: readonly Day[]) => {
  const valuesOfB = new Map(b.map(close => [close.day, close.value]))
  return a
    .filter(close => valuesOfB.has(close.day))
    .map(({ day, value }) => ({ day, a: value, b: valuesOfB.get(day)! }))
}

export function pairs(a: readonly Day[], b: readonly Day[], period: number) {
  const inside = window(common(a, b), period)
  const joined: { day: string; x: number; y: number }[] = []
  inside.forEach((day, i) => {
    const before = inside[i - 1]
    if (before && Math.min(before.a, before.b, day.a, day.b) > 0) {
      joined.push({
        day: day.day,
        x: Math.log(day.a) - Math.log(before.a),
        y: Math.log(day.b) - Math.log(before.b),
      })
    }
  })
  return { joined, closes: inside.length }
}

/** One pass over raw moments: another arithmetic than two passes over deviations. */
export function pearson(returnPairs: readonly { x: number; y: number }[]) {
  const n = returnPairs.length
  const [x, y] = [sum(returnPairs.map(pair => pair.x)), sum(returnPairs.map(pair => pair.y))]
  const xy = sum(returnPairs.map(pair => pair.x * pair.y))
  const [xx, yy] = [
    sum(returnPairs.map(pair => pair.x ** 2)),
    sum(returnPairs.map(pair => pair.y ** 2)),
  ]
  return (n * xy - x * y) / Math.sqrt((n * xx - x * x) * (n * yy - y * y))
}

export const smaAt = (days: readonly Day[], n: number) =>
  mean(days.slice(-n).map(close => close.value))

const valuesOf = (days: readonly Day[]) => days.map(close => close.value)

export const emaAt = (days: readonly Day[], n: number) => {
  const values = valuesOf(days)
  return values
    .slice(n)
    .reduce(
      (average, value) => average + (2 / (n + 1)) * (value - average),
      mean(values.slice(0, n)),
    )
}

export function rsiAt(days: readonly Day[], n: number) {
  const values = valuesOf(days)
  const changes = values.slice(1).map((value, i) => value - values[i]!)
  let [gain, loss] = [0, 0]
  for (const change of changes.slice(0, n)) {
    gain += Math.max(0, change) / n
    loss += Math.max(0, -change) / n
  }
  for (const change of changes.slice(n)) {
    gain = (gain * (n - 1) + Math.max(0, change)) / n
    loss = (loss * (n - 1) + Math.max(0, -change)) / n
  }
  if (loss === 0) return gain === 0 ? 50 : 100
  return (100 * gain) / (gain + loss)
}

/** Least squares by the normal equations, on days counted from the first. */
export function line(days: readonly Day[]) {
  const points = days.map(close => ({
    x: number(close.day) - number(days[0]!.day),
    y: close.value,
  }))
  const n = points.length
  const [x, y] = [sum(points.map(p => p.x)), sum(points.map(p => p.y))]
  const xx = n * sum(points.map(p => p.x ** 2)) - x * x
  const xy = n * sum(points.map(p => p.x * p.y)) - x * y
  const yy = n * sum(points.map(p => p.y ** 2)) - y * y
  return {
    slope: xy / xx,
    rSquared: xy ** 2 / (xx * yy),
    rise: (xy / xx) * points.at(-1)!.x,
    mean: y / n,
  }
}

export function pivots(days: readonly Day[]) {
  const values = days.map(close => close.value)
  const [high, low, close] = [Math.max(...values), Math.min(...values), values.at(-1)!]
  const point = (high + low + close) / 3
  return {
    pivot_point: point,
    support: [2 * point - high, point - (high - low)],
    resistance: [2 * point - low, point + (high - low)],
  }
}

/** Log slope of ema(20) from close to close over the lookback. */
export function emaDrift(days: readonly Day[], period: number) {
  const averages: number[] = []
  let average = mean(days.slice(0, 20).map(close => close.value))
  days.slice(19).forEach((close, i) => {
    if (i > 0) average += (2 / 21) * (close.value - average)
    averages.push(Math.log(average))
  })
  const recent = averages.slice(-window(days, period).length)
  const middle = (recent.length - 1) / 2
  const rise = recent.reduce((sum, value, i) => sum + (i - middle) * value, 0)
  return rise / recent.reduce((sum, _, i) => sum + (i - middle) ** 2, 0)
}
