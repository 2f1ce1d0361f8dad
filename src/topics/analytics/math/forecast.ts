import { changePercent } from '../../prices/math/change.ts'
import {
  type Close,
  closesMin,
  closesPerYear,
  closesPerYearAt,
  dayNumber,
  type Measured,
  measured,
  tooFew,
  windowOf,
} from '../../prices/math/window.ts'
import { ema, leastSquares } from './indicators.ts'
import { annualVolatility, returnDeviation } from './statistics.ts'

export type ForecastMethod = 'sma' | 'ema' | 'combined'

export const forecastMethods: readonly { id: ForecastMethod; name: string; description: string }[] =
  [
    {
      id: 'sma',
      name: 'Simple moving average',
      description: 'The price is expected to return to the mean of its last 20 closes.',
    },
    {
      id: 'ema',
      name: 'Exponential moving average',
      description:
        'The log slope from close to close of the 20-close exponential average over the lookback is projected from the last price.',
    },
    {
      id: 'combined',
      name: 'Combined',
      description: 'The mean of the two values.',
    },
  ]

export const horizonDays = [1, 7, 30] as const

const averageWindow = 20
const daysAYear = 365

/** Normal probability within one and two standard deviations. */
export const sigma1Probability = 0.6827
export const sigma2Probability = 0.9545

export interface Band {
  low: number
  high: number
}

/** A projection `horizonDays` calendar days ahead, in the unit of the series. */
export type Projection = ReturnType<typeof project>

/** How often forecasts were right. */
export interface Calibration {
  horizonDays: number
  /** Forecasts of the past whose day has come and has a close. */
  intervals: number
  /** Shares of them within which the price then lay, 0..1. */
  sigma1Held: number
  sigma2Held: number
}

export interface Forecast {
  method: ForecastMethod
  currentPrice: number
  dataPoints: number
  /** Closes of a year at the spacing of the lookback. */
  observationsPerYear: number
  /** Log return from close to close. */
  drift: number
  /** Sample standard deviation of the log returns from close to close of the lookback. */
  sigma: number
  /** Percent a year. */
  volatility: number
  projections: Projection[]
}

/** Least-squares slope of ln(average) on the number of the close: log return from close to close. */
export function logSlope(averages: readonly number[]): number | undefined {
  return leastSquares(averages.map((average, x) => ({ x, y: Math.log(average) })))?.slope
}

/** How many closes are in so many calendar days at a spacing of `observationsPerYear`. */
export const closesAhead = (days: number, observationsPerYear: number): number =>
  (days * observationsPerYear) / daysAYear

/** Bands of one and two sigma sqrt(n) around a value n closes ahead. */
export function project(
  last: number,
  value: number,
  sigma: number,
  horizon: { days: number; closes: number },
) {
  const band = (deviations: number): Band => {
    const width = deviations * sigma * Math.sqrt(horizon.closes)
    return { low: value * Math.exp(-width), high: value * Math.exp(width) }
  }
  return {
    horizonDays: horizon.days,
    value,
    /** Against the last close. */
    changePercent: changePercent(last, value),
    sigma1: band(1),
    sigma2: band(2),
  }
}

/** The inputs of a forecast at one close. */
interface Base {
  last: number
  average: number
  drift: number
  sigma: number
}

/** The value n closes ahead: sma(20), last x exp(drift x n), or the mean of the two. */
function valueAhead(method: ForecastMethod, { last, average, drift }: Base, n: number): number {
  const trended = last * Math.exp(drift * n)
  return { sma: average, ema: trended, combined: (average + trended) / 2 }[method]
}

const notPositive =
  'a close of the lookback is zero or negative, from which a model of log returns forecasts nothing.'

/**
 * A forecast over a lookback of `periodDays`, n = days x closes a year / 365 closes ahead. Needs
 * five closes in the lookback, all positive, and 21 in all.
 */
export function forecast(
  closes: readonly Close[],
  method: ForecastMethod,
  periodDays: number,
  horizons: readonly number[] = horizonDays,
): Measured<Forecast> {
  const inside = windowOf(closes, periodDays)
  if (!inside.enough) return inside
  if (closes.length < averageWindow + 1) return tooFew(closes.length, averageWindow + 1)
  const dataPoints = inside.value.length
  if (!inside.value.every(close => close.value > 0))
    return { ...tooFew(dataPoints, dataPoints), reason: notPositive }
  const averages = ema(closes, averageWindow)
    .slice(-dataPoints)
    .map(average => average.value)
  // Long negative prices weigh on an exponential average beyond the lookback.
  if (!averages.every(average => average > 0))
    return { ...tooFew(dataPoints, dataPoints), reason: notPositive }
  const sigma = returnDeviation(inside.value)
  const drift = logSlope(averages)
  if (sigma === undefined || drift === undefined) return tooFew(averages.length, closesNeeded)
  const observationsPerYear = closesPerYear(inside.value)
  const base: Base = {
    last: inside.value.at(-1)!.value,
    average: meanOf(closes, closes.length),
    drift,
    sigma,
  }
  return measured({
    method,
    currentPrice: base.last,
    dataPoints,
    observationsPerYear,
    drift,
    sigma,
    volatility: annualVolatility(inside.value)!,
    projections: horizons.map(days => {
      const ahead = closesAhead(days, observationsPerYear)
      return project(base.last, valueAhead(method, base, ahead), sigma, { days, closes: ahead })
    }),
  })
}

/** Averages that a slope takes. */
const closesNeeded = 2

/** Mean of the 20 closes before place `end`. */
function meanOf(closes: readonly Close[], end: number): number {
  let sum = 0
  for (let i = end - averageWindow; i < end; i++) sum += closes[i]!.value
  return sum / averageWindow
}

/** A share of hits needs at least this many forecasts to be meaningful. */
const intervalsMin = 60
const calibrationDays = 30
/** Forecasts of the last five years are judged. */
const calibrationPeriodDays = 1825

/**
 * Scores the forecasts 30 days ahead that would have been made at each close of the last five
 * years: a price counts as within an interval by the last close at or before its day. Closes whose
 * lookback allows no forecast are skipped. Undefined under 60 forecasts.
 */
export function calibrationOf(
  closes: readonly Close[],
  method: ForecastMethod,
  periodDays: number,
): Calibration | undefined {
  const days = closes.map(close => dayNumber(close.day))
  const baseAt = createBases(closes, days)
  const lastDay = days.at(-1)
  if (lastDay === undefined) return undefined
  let [intervals, held1, held2] = [0, 0, 0]
  let [start, then] = [0, 0]
  for (let end = averageWindow; end < closes.length; end++) {
    const day = days[end]!
    if (day + calibrationDays > lastDay) break
    if (day <= lastDay - calibrationPeriodDays) continue
    while (days[start]! <= day - periodDays) start += 1
    while (then + 1 < closes.length && days[then + 1]! <= day + calibrationDays) then += 1
    const base = baseAt(start, end)
    if (!base || then <= end) continue
    const ahead = closesAhead(calibrationDays, base.observationsPerYear)
    const value = valueAhead(method, base, ahead)
    const realised = closes[then]!.value
    const deviations =
      realised > 0
        ? Math.abs(Math.log(realised / value)) / (base.sigma * Math.sqrt(ahead))
        : Number.POSITIVE_INFINITY
    intervals += 1
    if (deviations <= 1) held1 += 1
    if (deviations <= 2) held2 += 1
  }
  if (intervals < intervalsMin) return undefined
  return {
    horizonDays: calibrationDays,
    intervals,
    sigma1Held: held1 / intervals,
    sigma2Held: held2 / intervals,
  }
}

/**
 * The inputs of `forecast` at the close `end`, with a lookback from `start`; neither may go back
 * from one call to the next. Prefix sums are computed once, so that a lookback costs the same
 * however long it is.
 */
function createBases(closes: readonly Close[], days: readonly number[]) {
  const averages = ema(closes, averageWindow).map(average => average.value)
  const notPositiveCloses = runningSums(closes, close => (close.value > 0 ? 0 : 1))
  const notPositiveAverages = runningSums(averages, average => (average > 0 ? 0 : 1))
  const returnAt = (close: Close, i: number) => {
    const before = closes[i - 1]?.value ?? 0
    return before > 0 && close.value > 0 ? Math.log(close.value / before) : 0
  }
  const returns = runningSums(closes, returnAt)
  const squares = runningSums(closes, (close, i) => returnAt(close, i) ** 2)
  const logOf = (average: number) => (average > 0 ? Math.log(average) : 0)
  const logs = runningSums(averages, logOf)
  const weightedLogs = runningSums(averages, (average, i) => i * logOf(average))
  const medianGap = createMedianGap(days)

  /** Sample standard deviation of the returns between the closes from `start` to `end`. */
  const deviation = (start: number, end: number): number => {
    const n = end - start
    const mean = (returns[end + 1]! - returns[start + 1]!) / n
    const variance = (squares[end + 1]! - squares[start + 1]! - n * mean * mean) / (n - 1)
    return Math.sqrt(Math.max(0, variance))
  }
  /** Least-squares slope of the logarithms of the averages in `[from, to)` on their number. */
  const slope = (from: number, to: number): number => {
    const n = to - from
    const logSum = logs[to]! - logs[from]!
    const meanNumber = (n - 1) / 2
    const products = weightedLogs[to]! - weightedLogs[from]! - from * logSum
    return (products - meanNumber * logSum) / ((n * (n * n - 1)) / 12)
  }

  return (start: number, end: number): (Base & { observationsPerYear: number }) | undefined => {
    if (end - start + 1 < closesMin || notPositiveCloses[end + 1]! > notPositiveCloses[start]!)
      return undefined
    // The first average is that of the 20th close.
    const [from, to] = [Math.max(0, start - averageWindow + 1), end - averageWindow + 2]
    if (to - from < closesNeeded || notPositiveAverages[to]! > notPositiveAverages[from]!)
      return undefined
    const sigma = deviation(start, end)
    if (sigma === 0) return undefined
    return {
      last: closes[end]!.value,
      average: meanOf(closes, end + 1),
      drift: slope(from, to),
      sigma,
      observationsPerYear: closesPerYearAt(medianGap(start, end)),
    }
  }
}

/** Prefix sums: entry i is the sum of the first i items. */
function runningSums<T>(items: readonly T[], amountOf: (item: T, i: number) => number) {
  const sums = new Float64Array(items.length + 1)
  for (const [i, item] of items.entries()) sums[i + 1] = sums[i]! + amountOf(item, i)
  return sums
}

/** The median of the days between neighbours from `start` to `end`, neither of which goes back. */
function createMedianGap(days: readonly number[]) {
  const counts = new Map<number, number>()
  let [from, to] = [0, 0]
  const count = (i: number, change: number) => {
    const gap = days[i]! - days[i - 1]!
    counts.set(gap, (counts.get(gap) ?? 0) + change)
  }
  return (start: number, end: number): number => {
    while (to < end) count(++to, 1)
    while (from < start) count(++from, -1)
    const gaps = [...counts].sort(([a], [b]) => a - b)
    const gapAt = (place: number): number => {
      let passed = 0
      return gaps.find(([, times]) => {
        passed += times
        return passed > place
      })![0]
    }
    const middle = (end - start) >> 1
    return (end - start) % 2 === 1 ? gapAt(middle) : (gapAt(middle - 1) + gapAt(middle)) / 2
  }
}
