import { calendarOf, isTradingDay } from '../../calendars/math/calendar.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { PeriodValues } from '../../prices/service/reads/period-values.ts'
import { dayAt, type MarketDay, periodsOf } from '../math/days.ts'
import {
  type DayFigures,
  dayFigures,
  isKnown,
  type KnownPeriod,
  peakRule,
  priced,
} from '../math/figures.ts'
import type { DeliveryTerms } from '../math/terms.ts'

/** A series of delivery periods. */
export type DeliverySeries = Series & { delivery: DeliveryTerms }

export const isDelivery = (series: Series): series is DeliverySeries =>
  series.delivery !== undefined

/** Which periods of a series are peak: closed days of its calendar may have none. */
export const peakOf = (series: DeliverySeries) =>
  peakRule(series.delivery, day => !isTradingDay(calendarOf(series), day))

/** A market day with a price in each of its periods. */
export interface CompleteDay extends MarketDay {
  periods: KnownPeriod[]
  figures: DayFigures
  /** When the last of its prices was recorded. */
  publishedAt: number
}

/** The market day that contains a moment, if all of its prices are known. */
export function completeDay(
  series: DeliverySeries,
  at: number,
  periodValues: PeriodValues,
): CompleteDay | undefined {
  const day = dayAt(series.delivery, at)
  const values = periodValues(series.id, day.from, day.to)
  const all = periodsOf(series.delivery, day)
  const periods = priced(all, values).filter(isKnown)
  if (periods.length < all.length) return undefined
  const figures = dayFigures(periods, peakOf(series))
  const publishedAt = Math.max(...values.map(({ recordedAt }) => recordedAt))
  return { ...day, periods, figures, publishedAt }
}

/** The market days that have not ended and are complete with these new values, each once. */
export function completedDays(
  series: DeliverySeries,
  inserted: readonly Observation[],
  now: number,
  periodValues: PeriodValues,
): CompleteDay[] {
  const complete: CompleteDay[] = []
  let until = Number.NEGATIVE_INFINITY
  for (const { observedAt } of inserted) {
    if (observedAt < until) continue
    until = dayAt(series.delivery, observedAt).to
    const day = until > now ? completeDay(series, observedAt, periodValues) : undefined
    if (day) complete.push(day)
  }
  return complete
}
