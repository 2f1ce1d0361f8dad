import { mean } from 'simple-statistics'
import { changePercent } from '../../prices/math/change.ts'
import {
  type Close,
  closesIn,
  dayNumber,
  type Measured,
  measured,
  tooFew,
  windowOf,
} from '../../prices/math/window.ts'
import { rsiBand } from './statistics.ts'

const rsiWindow = 14
const averageWindow = 20
const goldenFast = 50
const goldenSlow = 200

/**
 * A trend is a direction once the fitted line moves more than this over the window, percent of the
 * mean close.
 */
const sidewaysPercent = 1

/** Mean of the last n closes, at each close from the n-th on; unit of the series. */
export function sma(closes: readonly Close[], n: number): Close[] {
  return closes.slice(n - 1).map(({ day }, start) => {
    let sum = 0
    for (let i = start; i < start + n; i++) sum += closes[i]!.value
    return { day, value: sum / n }
  })
}

/**
 * Exponential average, alpha = 2 / (n + 1), seeded with the mean of the first n closes given, at
 * each close from the n-th on; unit of the series.
 */
export function ema(closes: readonly Close[], n: number): Close[] {
  if (closes.length < n) return []
  const alpha = 2 / (n + 1)
  let average = mean(closes.slice(0, n).map(close => close.value))
  const averages = [{ day: closes[n - 1]!.day, value: average }]
  for (const { day, value } of closes.slice(n)) {
    average = alpha * value + (1 - alpha) * average
    averages.push({ day, value: average })
  }
  return averages
}

/**
 * Relative strength index, 0..100, at each close from the (n + 1)-th on. Wilder, New Concepts in
 * Technical Trading Systems (1978): the first averages are the means of the first n gains and
 * losses given, then (previous x (n - 1) + current) / n.
 */
export function rsi(closes: readonly Close[], n: number): Close[] {
  if (closes.length < n + 1) return []
  let [gains, losses] = [0, 0]
  const values: Close[] = []
  for (let i = 1; i < closes.length; i++) {
    const change = closes[i]!.value - closes[i - 1]!.value
    const [gain, loss] = [Math.max(change, 0), Math.max(-change, 0)]
    if (i <= n) {
      gains += gain / n
      losses += loss / n
    } else {
      gains = (gains * (n - 1) + gain) / n
      losses = (losses * (n - 1) + loss) / n
    }
    if (i >= n) values.push({ day: closes[i]!.day, value: relativeStrength(gains, losses) })
  }
  return values
}

function relativeStrength(gain: number, loss: number): number {
  if (loss === 0) return gain === 0 ? 50 : 100
  return 100 - 100 / (1 + gain / loss)
}

/**
 * Indicator values at the dates of the last `periodDays`, oldest first, and their reading at the
 * newest close.
 */
export interface IndicatorRun {
  currentPrice: number
  currentValue: number
  values: Close[]
}

/**
 * The indicator over all closes, cut to the dates of the window, so that a date has the same value
 * for every period; needs `window` + 1 closes.
 */
export function indicatorRun(
  kind: 'sma' | 'ema' | 'rsi',
  closes: readonly Close[],
  window: number,
  periodDays: number,
): Measured<IndicatorRun> {
  if (closes.length < window + 1) return tooFew(closes.length, window + 1)
  const inside = closesIn(closes, periodDays)
  // Values before the first window do not affect the average of a window, so they are not checked.
  const values =
    kind === 'sma'
      ? sma(closes.slice(-(inside.length + window - 1)), window)
      : { ema, rsi }[kind](closes, window)
  return measured({
    currentPrice: closes.at(-1)!.value,
    currentValue: values.at(-1)!.value,
    values: values.slice(-inside.length),
  })
}

/** MACD at a date: ema(12) - ema(26), the ema(9) of that, and their difference. */
export interface Macd {
  day: string
  value: number
  /** Undefined before there are nine values. */
  signal: number | undefined
}

const macdWindows = { fast: 12, slow: 26, signal: 9 } as const

/** Moving average convergence and divergence (12, 26, 9) at each close from the 26-th on. */
export function macd(closes: readonly Close[]): Macd[] {
  const slow = ema(closes, macdWindows.slow)
  const fast = ema(closes, macdWindows.fast).slice(macdWindows.slow - macdWindows.fast)
  const line = slow.map(({ day, value }, i) => ({ day, value: fast[i]!.value - value }))
  const signals = ema(line, macdWindows.signal)
  const ahead = line.length - signals.length
  return line.map((point, i) => ({ ...point, signal: signals[i - ahead]?.value }))
}

/** A mean and the band around it, unit of the series. */
export interface Band {
  day: string
  value: number
  upper: number
  lower: number
}

const bandDeviations = 2

/**
 * Bollinger bands: sma(n) and two population standard deviations of the same n closes to either
 * side, at each close from the n-th on.
 */
export function bollinger(closes: readonly Close[], n: number): Band[] {
  return sma(closes, n).map(({ day, value }, start) => {
    let squares = 0
    for (let i = start; i < start + n; i++) squares += (closes[i]!.value - value) ** 2
    const reach = bandDeviations * Math.sqrt(squares / n)
    return { day, value, upper: value + reach, lower: value - reach }
  })
}

/** A day's highest, lowest and last value. */
export interface DayRange {
  day: string
  high: number
  low: number
  close: number
}

/**
 * Average true range, unit of the series, at each day from the (n + 1)-th on: Wilder's mean of the
 * greatest of high - low, |high - close before| and |low - close before|.
 */
export function atr(days: readonly DayRange[], n: number): Close[] {
  const values: Close[] = []
  let mean = 0
  for (let i = 1; i < days.length; i++) {
    const { day, high, low } = days[i]!
    const before = days[i - 1]!.close
    const range = Math.max(high - low, Math.abs(high - before), Math.abs(low - before))
    mean = i <= n ? mean + range / n : (mean * (n - 1) + range) / n
    if (i >= n) values.push({ day, value: mean })
  }
  return values
}

/** Indicator values cut to the dates of the last `periodDays`; needs `need` closes. */
export function shownOf<T extends { day: string }>(
  values: readonly T[],
  closes: readonly Close[],
  periodDays: number,
  need: number,
): Measured<{ currentPrice: number; values: T[] }> {
  if (values.length === 0) return tooFew(closes.length, need)
  const first = closesIn(closes, periodDays)[0]!.day
  return measured({
    currentPrice: closes.at(-1)!.value,
    values: values.filter(({ day }) => day >= first),
  })
}

/** sma(50) above sma(200) at the newest close, when there are 200 closes, otherwise false. */
export function goldenCross(closes: readonly Close[]): boolean {
  const fast = sma(closes.slice(-goldenFast), goldenFast).at(-1)
  const slow = sma(closes.slice(-goldenSlow), goldenSlow).at(-1)
  return fast !== undefined && slow !== undefined && fast.value > slow.value
}

/** Classic floor-trader levels, unit of the series. */
export type Pivots = ReturnType<typeof pivots>

/** P = (H + L + C) / 3; R1 = 2P - L, S1 = 2P - H; R2 = P + (H - L), S2 = P - (H - L). */
export function pivots(high: number, low: number, close: number) {
  const pivotPoint = (high + low + close) / 3
  const range = high - low
  return {
    pivotPoint,
    /** S1, S2. */
    support: [2 * pivotPoint - high, pivotPoint - range],
    /** R1, R2. */
    resistance: [2 * pivotPoint - low, pivotPoint + range],
  }
}

/** Pivots of the highest, the lowest and the last close of the window. */
export function pivotsOf(
  closes: readonly Close[],
  periodDays: number,
): Measured<Pivots & { currentPrice: number }> {
  const inside = windowOf(closes, periodDays)
  if (!inside.enough) return inside
  const values = inside.value.map(close => close.value)
  const currentPrice = values.at(-1)!
  return measured({
    ...pivots(Math.max(...values), Math.min(...values), currentPrice),
    currentPrice,
  })
}

/**
 * Ordinary least squares of y on x; `rSquared` 0..1, 0 when y does not vary. Undefined when x does
 * not vary.
 */
export function leastSquares(
  points: readonly { x: number; y: number }[],
): { slope: number; rSquared: number } | undefined {
  const mx = points.reduce((sum, p) => sum + p.x, 0) / points.length
  const my = points.reduce((sum, p) => sum + p.y, 0) / points.length
  let [xx, xy, yy] = [0, 0, 0]
  for (const { x, y } of points) {
    xx += (x - mx) ** 2
    xy += (x - mx) * (y - my)
    yy += (y - my) ** 2
  }
  if (!(xx > 0)) return undefined
  const flat = points.every(p => p.y === points[0]!.y)
  return {
    slope: flat ? 0 : xy / xx,
    rSquared: flat ? 0 : Math.min(1, (xy * xy) / (xx * yy)),
  }
}

export type TrendDirection = 'up' | 'down' | 'sideways'

/** The straight line through the closes of a window. */
export interface Trend {
  direction: TrendDirection
  /** 100 x R squared, 0..100. */
  strength: number
  /** Price units per calendar day. */
  slope: number
  /** 100 x (last - first) / |first|; undefined when the first close is 0. */
  changePercent: number | undefined
}

/**
 * Least squares of close on calendar day number. The direction is up or down when the line moves
 * more than 1% of the mean close between the window's first and last close.
 */
export function trendOf(closes: readonly Close[], periodDays: number): Measured<Trend> {
  const inside = windowOf(closes, periodDays)
  if (!inside.enough) return inside
  const points = inside.value.map(({ day, value }) => ({ x: dayNumber(day), y: value }))
  const { slope, rSquared } = leastSquares(points)!
  const [first, last] = [points[0]!, points.at(-1)!]
  const rise = slope * (last.x - first.x)
  const threshold = (Math.abs(mean(points.map(p => p.y))) * sidewaysPercent) / 100
  return measured({
    direction: Math.abs(rise) > threshold ? (rise > 0 ? 'up' : 'down') : 'sideways',
    strength: 100 * rSquared,
    slope,
    changePercent: changePercent(first.y, last.y),
  })
}

export type SignalValue = 'buy' | 'sell' | 'neutral'

export interface Signal {
  value: SignalValue
  interpretation: string
}

/**
 * Three votes, two of which decide: the trend's direction, the price against its average
 * (`priceVsSma`, percent), and the RSI band (oversold for buying, overbought for selling). Our own
 * rule; no source claims it predicts.
 */
export function signalOf(direction: TrendDirection, priceVsSma: number, rsiValue: number): Signal {
  const votes = [
    { vote: { up: 1, down: -1, sideways: 0 }[direction], reason: `the trend is ${direction}` },
    {
      vote: Math.sign(priceVsSma),
      reason: `the price is ${priceVsSma < 0 ? 'below' : 'at or above'} its average`,
    },
    {
      vote: { oversold: 1, overbought: -1 }[rsiBand(rsiValue)] ?? 0,
      reason: `momentum is ${rsiBand(rsiValue)}`,
    },
  ]
  const sum = votes.reduce((total, { vote }) => total + vote, 0)
  const value = sum >= 2 ? 'buy' : sum <= -2 ? 'sell' : 'neutral'
  const sentence = votes.map(({ reason }) => reason).join(', ')
  return { value, interpretation: `${sentence[0]!.toUpperCase()}${sentence.slice(1)}.` }
}

/** The body of the trend endpoint for one series. */
export interface TrendAnalysis {
  trend: Trend
  /** RSI(14), 0..100. */
  rsi: number
  sma20: number
  ema20: number
  /** 100 x (last - sma20) / |sma20|; undefined when the average is 0. */
  priceVsSma: number | undefined
  goldenCross: boolean
  pivots: Pivots
  signal: Signal
}

/** Needs five closes in the window and 21 in all, one more than the longest average. */
export function trendAnalysis(
  closes: readonly Close[],
  periodDays: number,
): Measured<TrendAnalysis> {
  const [trend, levels] = [trendOf(closes, periodDays), pivotsOf(closes, periodDays)]
  if (!trend.enough) return trend
  if (!levels.enough) return levels
  if (closes.length < averageWindow + 1) return tooFew(closes.length, averageWindow + 1)
  const sma20 = sma(closes.slice(-averageWindow), averageWindow).at(-1)!.value
  const momentum = rsi(closes, rsiWindow).at(-1)!.value
  const priceVsSma = changePercent(sma20, closes.at(-1)!.value)
  const { currentPrice: _, ...pivotLevels } = levels.value
  return measured({
    trend: trend.value,
    rsi: momentum,
    sma20,
    ema20: ema(closes, averageWindow).at(-1)!.value,
    priceVsSma,
    goldenCross: goldenCross(closes),
    pivots: pivotLevels,
    signal: signalOf(trend.value.direction, priceVsSma ?? 0, momentum),
  })
}
