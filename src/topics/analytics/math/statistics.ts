import { mean, median, sampleStandardDeviation } from 'simple-statistics'
import {
  type Close,
  closesPerYear,
  logReturns,
  type Measured,
  measured,
  windowOf,
} from '../../prices/math/window.ts'

/**
 * Statistics of the closes of a window, in the unit of the series unless noted otherwise; undefined
 * where a definition has no value.
 */
export interface Statistics {
  /** Arithmetic. */
  mean: number
  median: number
  /** Sample basis, n - 1. */
  stdDev: number
  min: number
  max: number
  /** (last - mean) / stdDev, in standard deviations. */
  zScore: number | undefined
  /** 0..100. */
  percentile: number
  /** Percent a year. */
  volatility: number | undefined
  /** Closes of a year at the spacing of these. */
  observationsPerYear: number
  dataPoints: number
}

/**
 * Sample standard deviation (n - 1), exactly 0 for equal values where rounding would leave a
 * residue; undefined under two values.
 */
export function stdDev(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined
  return values.every(value => value === values[0])
    ? 0
    : sampleStandardDeviation(values as number[])
}

/** (value - mean) / stdDev; undefined when the deviation is 0 or unknown. */
export function zScore(
  value: number,
  center: number,
  deviation: number | undefined,
): number | undefined {
  return deviation ? (value - center) / deviation : undefined
}

/**
 * 100 x count(v <= value) / n, 0..100: the share of `values` (at least one) that do not exceed
 * `value`.
 */
export function percentile(values: readonly number[], value: number): number {
  return (100 * values.filter(v => v <= value).length) / values.length
}

/** Sample standard deviation of the log returns from close to close; undefined under two returns. */
export const returnDeviation = (closes: readonly Close[]): number | undefined =>
  stdDev(logReturns(closes).map(r => r.value))

/**
 * Sample standard deviation of the log returns from close to close x sqrt(closes a year) x 100:
 * percent a year; undefined under two returns.
 */
export function annualVolatility(closes: readonly Close[]): number | undefined {
  const deviation = returnDeviation(closes)
  return deviation === undefined ? undefined : deviation * Math.sqrt(closesPerYear(closes)) * 100
}

/**
 * Statistics of the last `periodDays` calendar days of daily closes (ascending), which must hold at
 * least five.
 */
export function statisticsOf(closes: readonly Close[], periodDays: number): Measured<Statistics> {
  const inside = windowOf(closes, periodDays)
  if (!inside.enough) return inside
  const values = inside.value.map(close => close.value)
  const last = values.at(-1)!
  const center = mean(values)
  const deviation = stdDev(values)!
  return measured({
    mean: center,
    median: median(values),
    stdDev: deviation,
    min: Math.min(...values),
    max: Math.max(...values),
    zScore: zScore(last, center, deviation),
    percentile: percentile(values, last),
    volatility: annualVolatility(inside.value),
    observationsPerYear: closesPerYear(inside.value),
    dataPoints: values.length,
  })
}

/** The specification's five bands of a z-score; a value on an edge belongs to the calmer band. */
export function zScoreBand(z: number): string {
  if (z < -2) return 'extremely oversold'
  if (z < -1) return 'below average'
  if (z <= 1) return 'normal'
  return z <= 2 ? 'above average' : 'extremely overbought'
}

/** The specification's four bands of an RSI, 0..100. */
export function rsiBand(rsi: number): string {
  if (rsi > 70) return 'overbought'
  if (rsi >= 50) return 'bullish'
  return rsi >= 30 ? 'bearish' : 'oversold'
}

export function percentileBand(percent: number): string {
  if (percent <= 10) return 'near the low of the period'
  if (percent <= 25) return 'in the lower quarter of the period'
  if (percent <= 75) return 'in the middle of the period'
  return percent <= 90 ? 'in the upper quarter of the period' : 'near the high of the period'
}

/** Bands of an annualised volatility in percent: crude oil spends most years between 25 and 45. */
export function volatilityBand(annualPercent: number): string {
  if (annualPercent < 15) return 'low'
  if (annualPercent < 30) return 'moderate'
  return annualPercent < 60 ? 'high' : 'extreme'
}
