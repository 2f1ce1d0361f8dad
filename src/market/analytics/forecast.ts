import {
  type Close,
  closesIn,
  closesMin,
  dayNumber,
  type Measured,
  measured,
  tooFew,
  warmUpFor,
  windowOf,
} from '../prices/window.ts'
import { ema, leastSquares } from './indicators.ts'
import { annualVolatility, dailyVolatility } from './statistics.ts'

export type ForecastMethod = 'sma' | 'ema' | 'combined'

export const forecastMethods: readonly { id: ForecastMethod; name: string; description: string }[] =
  [
    {
      id: 'sma',
      name: 'Simple moving average',
      description:
        'No drift: the price is expected to stay where it is, around its 20-day average.',
    },
    {
      id: 'ema',
      name: 'Exponential moving average',
      description:
        'The daily log slope of the 20-day exponential average over the lookback goes on.',
    },
    {
      id: 'combined',
      name: 'Combined',
      description: 'Half the drift of the exponential method: the mean of the two.',
    },
  ]

export const horizonDays = [1, 7, 30] as const

const averageWindow = 20

/** Normal probability within one and two standard deviations. */
export const sigma1Probability = 0.6827
export const sigma2Probability = 0.9545

export interface Band {
  low: number
  high: number
}

/** A projection `horizonDays` calendar days ahead, in the unit of the series. */
export interface Projection {
  horizonDays: number
  value: number
  /** Against the last close; undefined when that is 0. */
  changePercent: number | undefined
  sigma1: Band
  sigma2: Band
}

export interface Forecast {
  method: ForecastMethod
  currentPrice: number
  dataPoints: number
  /** Log return a calendar day. */
  drift: number
  /** Sample standard deviation of the daily log returns of the lookback. */
  sigma: number
  /** Percent a year. */
  volatility: number
  projections: Projection[]
}

/**
 * Least-squares slope of ln(average) on calendar day number: log return a day; averages that are
 * not positive have no logarithm and are left out.
 */
export function logSlope(averages: readonly Close[]): number | undefined {
  return leastSquares(
    averages.filter(a => a.value > 0).map(a => ({ x: dayNumber(a.day), y: Math.log(a.value) })),
  )?.slope
}

/**
 * value = last x exp(drift x h); the bands are value x exp(+-sigma sqrt(h)) and the same with 2
 * sigma.
 */
export function project(last: number, drift: number, sigma: number, h: number): Projection {
  const value = last * Math.exp(drift * h)
  const band = (deviations: number): Band => {
    const edges = [-1, 1].map(sign => value * Math.exp(sign * deviations * sigma * Math.sqrt(h)))
    return { low: Math.min(...edges), high: Math.max(...edges) }
  }
  return {
    horizonDays: h,
    value,
    changePercent: last === 0 ? undefined : 100 * (value / last - 1),
    sigma1: band(1),
    sigma2: band(2),
  }
}

/**
 * Random walk with drift over a lookback of `periodDays`: drift 0 for `sma`, the log slope of
 * ema(20) over the lookback for `ema`, their mean for `combined`. Needs five closes in the lookback
 * and 21 in all.
 */
export function forecast(
  closes: readonly Close[],
  method: ForecastMethod,
  periodDays: number,
  horizons: readonly number[] = horizonDays,
): Measured<Forecast> {
  const inside = windowOf(closes, periodDays)
  if (!inside.enough) return inside
  const run = warmUpFor(closes, averageWindow)
  if (!run.enough) return run
  const sigma = dailyVolatility(inside.value)
  const slope = logSlope(closesIn(ema(run.value, averageWindow), periodDays))
  const positive = inside.value.filter(close => close.value > 0).length
  if (sigma === undefined || slope === undefined)
    return tooFew(positive, Math.max(closesMin, positive + 1))
  const drift = { sma: 0, ema: slope, combined: slope / 2 }[method]
  const last = inside.value.at(-1)!.value
  return measured({
    method,
    currentPrice: last,
    dataPoints: inside.value.length,
    drift,
    sigma,
    volatility: annualVolatility(inside.value)!,
    projections: horizons.map(h => project(last, drift, sigma, h)),
  })
}
