import { mean } from 'simple-statistics'
import { firstNotBefore } from '../../../lib/sorted.ts'
import type { Close } from '../../prices/math/window.ts'

/** A forecast and the actual value, in the same unit. */
export interface Scored {
  forecast: number
  actual: number
}

/**
 * The accuracy of forecasts. An error is the forecast minus the actual value: positive when the
 * forecast was too high.
 */
export interface Accuracy {
  /**
   * Mean of |error| / |actual| x 100 over the forecasts whose actual value is not 0; undefined when
   * there is none.
   */
  mape: number | undefined
  /** Mean of |error|. */
  mae: number
  /** Square root of the mean squared error. */
  rmse: number
  meanError: number
  /** Mean of error / |actual| x 100, over the same as `mape`. */
  meanErrorPercent: number | undefined
  sampleSize: number
}

/** Undefined without a forecast to judge. */
export function accuracyOf(scored: readonly Scored[]): Accuracy | undefined {
  if (scored.length === 0) return undefined
  const errors = scored.map(forecast => forecast.forecast - forecast.actual)
  const percents = scored
    .filter(score => score.actual !== 0)
    .map(score => (100 * (score.forecast - score.actual)) / Math.abs(score.actual))
  return {
    mape: percents.length === 0 ? undefined : mean(percents.map(Math.abs)),
    mae: mean(errors.map(Math.abs)),
    rmse: Math.sqrt(mean(errors.map(error => error * error))),
    meanError: mean(errors),
    meanErrorPercent: percents.length === 0 ? undefined : mean(percents),
    sampleSize: scored.length,
  }
}

/**
 * The same errors in percent of the actual value, for forecasts of things in different units; those
 * of something that was 0 are left out.
 */
export const inPercent = (scored: readonly Scored[]): Scored[] =>
  scored
    .filter(score => score.actual !== 0)
    .map(score => ({
      forecast: (100 * score.forecast) / Math.abs(score.actual),
      actual: 100 * Math.sign(score.actual),
    }))

/** 100 less the error in percent of the actual value, at least 0; undefined when that is 0. */
export const accuracyPercent = ({ forecast, actual }: Scored): number | undefined =>
  actual === 0
    ? undefined
    : Math.max(0, 100 - (100 * Math.abs(forecast - actual)) / Math.abs(actual))

/**
 * Mean of the closes (ascending) of the days from `firstOn` to `lastOn`, both inclusive; undefined
 * without one.
 */
export function meanBetween(
  closes: readonly Close[],
  firstOn: string,
  lastOn: string,
): number | undefined {
  const start = firstAt(closes, firstOn)
  let end = start
  let sum = 0
  while (end < closes.length && closes[end]!.day <= lastOn) sum += closes[end++]!.value
  return end === start ? undefined : sum / (end - start)
}

/** The number of closes before `day`. */
export const firstAt = (closes: readonly Close[], day: string): number =>
  firstNotBefore(closes, close => close.day < day)
