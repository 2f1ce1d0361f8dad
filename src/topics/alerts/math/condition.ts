import { minuteMs } from '../../../lib/time/instant.ts'
import { rsi, type TrendDirection, trendOf } from '../../analytics/math/indicators.ts'
import { annualVolatility, statisticsOf } from '../../analytics/math/statistics.ts'
import type { Period } from '../../delivery/math/days.ts'
import { type WatchedDay, watchedFigures, watchWords } from '../../delivery/math/watch.ts'
import {
  type Close,
  closesIn,
  type Measured,
  measured,
  tooFew,
  warmUpCount,
  warmUpFor,
  windowOf,
} from '../../prices/math/window.ts'
import {
  anyPrice,
  type Bounds,
  type Operator,
  operatorOf,
  type PriceCondition,
} from './price-operators.ts'

export const analyticsTypes = ['z_score', 'rsi', 'volatility_spike', 'trend_reversal'] as const
export type AnalyticsType = (typeof analyticsTypes)[number]

export const directions = ['both', 'above', 'below'] as const

/**
 * A condition on a statistic of the daily closes; `period` in calendar days, of an RSI in closes.
 */
export type AnalyticsCondition =
  | { kind: 'z_score'; period: number; threshold: number; direction: (typeof directions)[number] }
  | { kind: 'rsi'; period: number; overbought: number; oversold: number }
  | { kind: 'volatility_spike'; period: number; multiplier: number }
  | { kind: 'trend_reversal'; period: number }

export type AlertCondition = PriceCondition | AnalyticsCondition

/**
 * Numbers behind the verdict of an analytics condition; those that its kind does not use are
 * absent.
 */
export interface Measures {
  zScore?: number
  mean?: number
  stdDev?: number
  rsi?: number
  /** Percent a year. */
  volatility?: number
  baselineVolatility?: number
  trend?: TrendDirection
  previousTrend?: TrendDirection
}

export interface Verdict {
  holds: boolean
  /**
   * The compared value: the price, z-score, RSI, volatility in percent per year, or slope of the
   * trend per day.
   */
  value: number
  /** The threshold, in the same unit. */
  threshold: number
  measures: Measures
  /** The delivery period that met the condition. */
  period?: Period
}

/** A price at the moment at which it is judged. */
export interface AlertMoment {
  price: number
  /**
   * Daily closes up to the price's day, whose close is this price as long as no later one is there:
   * at least those of a reach. Asked for by analytics conditions only.
   */
  closes(reach: ConditionReach): readonly Close[]
  /**
   * Measures that were computed at this moment already: a thousand alerts with the same period
   * compute once.
   */
  readonly memo: Map<string, Measured<Omit<Verdict, 'holds' | 'threshold'>>>
  /** The market day that has become complete, instead of a price. */
  readonly day?: WatchedDay
}

export const alertMoment = (
  price: number,
  closes: AlertMoment['closes'],
  day?: WatchedDay,
): AlertMoment => ({
  price,
  closes,
  memo: new Map(),
  ...(day && { day }),
})

/** Whether a condition is on a market day before it begins. */
export const watchesDay = (condition: AlertCondition): boolean =>
  condition.kind === 'price' && condition.watch !== undefined

/** A baseline is the usual value of the year before. */
const baselineDays = 365

/** Calendar days up to the day of a price, and at least so many closes before it. */
export interface ConditionReach {
  days: number
  least?: number
}

/** The closes that decide a condition. */
export function reachOf({ kind, period }: AnalyticsCondition): ConditionReach {
  switch (kind) {
    case 'z_score':
      return { days: period }
    case 'rsi':
      return { days: 0, least: warmUpCount(period) }
    case 'volatility_spike':
      return { days: period + baselineDays }
    case 'trend_reversal':
      // Two periods of closes are all that any of the windows below can reach.
      return { days: 2 * period + 1 }
  }
}

/**
 * Whether a condition holds at a moment: live alerts, their tests and backtests share this rule.
 * When there are too few closes, returns how many there are and how many are needed.
 */
export function evaluate(condition: AlertCondition, moment: AlertMoment): Measured<Verdict> {
  if (condition.kind === 'price') {
    const { price, day } = moment
    const { watch, value: threshold } = condition
    const holds = (value: number) => operatorOf(condition).holds(value, condition)
    if (watch === undefined)
      return measured({ holds: holds(price), value: price, threshold, measures: {} })
    if (!day) return tooFew(0, 1)
    const figures = watchedFigures(day, watch)
    const met = figures.find(({ value }) => holds(value))
    return measured({ holds: met !== undefined, threshold, measures: {}, ...(met ?? figures[0]!) })
  }
  const key = `${condition.kind} ${condition.period}`
  const reading =
    moment.memo.get(key) ??
    measureOf[condition.kind](moment.closes(reachOf(condition)), condition.period)
  moment.memo.set(key, reading)
  return reading.enough
    ? measured({ ...reading.value, ...judged(condition, reading.value) })
    : reading
}

/**
 * The prices outside of which a condition cannot hold, both ends included. Analytics conditions may
 * hold at any price.
 */
export const priceBounds = (condition: AlertCondition): Bounds =>
  condition.kind === 'price' && !watchesDay(condition)
    ? operatorOf(condition).bounds(condition)
    : anyPrice

type Reading = Measured<Omit<Verdict, 'holds' | 'threshold'>>

/** The measure of each kind of analytics condition, at the newest close. */
const measureOf: Record<AnalyticsType, (closes: readonly Close[], period: number) => Reading> = {
  z_score(closes, period) {
    const statistics = statisticsOf(closes, period)
    if (!statistics.enough) return statistics
    const { zScore, mean, stdDev } = statistics.value
    return measured({
      value: zScore ?? 0,
      measures: { ...(zScore !== undefined && { zScore }), mean, stdDev },
    })
  },
  rsi(closes, period) {
    const run = warmUpFor(closes, period)
    if (!run.enough) return run
    const value = rsi(run.value, period).at(-1)!.value
    return measured({ value, measures: { rsi: value } })
  },
  volatility_spike(closes, period) {
    const inside = windowOf(closes, period)
    if (!inside.enough) return inside
    // The window's first close ends the baseline: the two share no return.
    const near = closesIn(closes, period + baselineDays)
    const before = windowOf(near.slice(0, near.length - inside.value.length + 1), baselineDays)
    if (!before.enough) return tooFew(near.length, inside.value.length + before.need - 1)
    const volatility = annualVolatility(inside.value)
    const baselineVolatility = annualVolatility(before.value)
    return measured({
      value: volatility ?? 0,
      measures: {
        ...(volatility !== undefined && { volatility }),
        ...(baselineVolatility !== undefined && { baselineVolatility }),
      },
    })
  },
  trend_reversal(closes, period) {
    const near = closesIn(closes, 2 * period + 1)
    const trend = trendOf(near, period)
    if (!trend.enough) return trend
    const { direction, slope } = trend.value
    const previousTrend = directionBefore(near, period)
    return measured({
      value: slope,
      measures: { trend: direction, ...(previousTrend && { previousTrend }) },
    })
  },
}

/**
 * The last direction but sideways that the trend had at an earlier close, at most one period back.
 */
function directionBefore(closes: readonly Close[], period: number): TrendDirection | undefined {
  const earliest = closesIn(closes, period + 1)[0]!.day
  for (let end = closes.length - 1; end > 0 && closes[end - 1]!.day >= earliest; end -= 1) {
    const trend = trendOf(closes.slice(0, end), period)
    if (!trend.enough) return undefined
    if (trend.value.direction !== 'sideways') return trend.value.direction
  }
  return undefined
}

function judged(
  condition: AnalyticsCondition,
  { value, measures }: Omit<Verdict, 'holds' | 'threshold'>,
) {
  switch (condition.kind) {
    case 'z_score': {
      const { threshold, direction } = condition
      const above = direction !== 'below' && value > threshold
      const below = direction !== 'above' && value < -threshold
      return {
        holds: above || below,
        threshold:
          direction === 'below' || (direction === 'both' && value < 0) ? -threshold : threshold,
      }
    }
    case 'rsi': {
      const { overbought, oversold } = condition
      return {
        holds: value > overbought || value < oversold,
        threshold: value < 50 ? oversold : overbought,
      }
    }
    case 'volatility_spike': {
      const threshold =
        condition.multiplier * (measures.baselineVolatility ?? Number.POSITIVE_INFINITY)
      // Without a baseline nothing is a spike; the multiplier is returned as the threshold, which
      // must be finite.
      return Number.isFinite(threshold)
        ? { holds: value > threshold, threshold }
        : { holds: false, threshold: condition.multiplier }
    }
    case 'trend_reversal': {
      const { trend, previousTrend } = measures
      return {
        holds:
          (trend === 'up' && previousTrend === 'down') ||
          (trend === 'down' && previousTrend === 'up'),
        threshold: 0,
      }
    }
  }
}

/** Whether the cooldown of a trigger still runs: up to, and not at, its end. */
export const isCooling = (firedAt: number | null, cooldownMinutes: number, at: number): boolean =>
  firedAt !== null && at < firedAt + cooldownMinutes * minuteMs

/** The condition as people read it: `price above 90`. */
export function conditionText(condition: AlertCondition): string {
  switch (condition.kind) {
    case 'price':
      return `${condition.watch ? watchWords[condition.watch] : 'price'} ${operatorOf(condition).words(condition)}`
    case 'z_score': {
      const { threshold, period, direction } = condition
      const side = {
        both: `above ${threshold} or below -${threshold}`,
        above: `above ${threshold}`,
        below: `below -${threshold}`,
      }
      return `z-score over ${period} days ${side[direction]}`
    }
    case 'rsi':
      return `RSI(${condition.period}) above ${condition.overbought} or below ${condition.oversold}`
    case 'volatility_spike':
      return `volatility over ${condition.period} days above ${condition.multiplier} times its baseline`
    case 'trend_reversal':
      return `trend over ${condition.period} days reversed`
  }
}

/** The operator of a condition, in the one form that every alert shows. */
export function conditionOperator(condition: AlertCondition): Operator {
  switch (condition.kind) {
    case 'price':
      return condition.operator
    case 'z_score':
      return condition.direction === 'below' ? 'less_than' : 'greater_than'
    case 'rsi':
    case 'volatility_spike':
      return 'greater_than'
    case 'trend_reversal':
      return 'not_equals'
  }
}

/** The value of a condition, in the one form that every alert shows. */
export function conditionValue(condition: AlertCondition): number {
  switch (condition.kind) {
    case 'price':
      return condition.value
    case 'z_score':
      return condition.threshold
    case 'rsi':
      return condition.overbought
    case 'volatility_spike':
      return condition.multiplier
    case 'trend_reversal':
      return 0
  }
}
