import type { Clock } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { calendarOf, isTradingDay } from '../../calendars/math/calendar.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dayAt, type MarketDay, periodsOf } from '../../delivery/math/days.ts'
import {
  type DayFigures,
  dayFigures,
  type KnownPeriod,
  peakRule,
} from '../../delivery/math/figures.ts'
import { type DeliveryTerms, resolutionOn } from '../../delivery/math/terms.ts'
import type { PeriodValues } from '../../prices/service/period-values.ts'
import type { Change } from '../../prices/store/observations.ts'
import type { Events } from './events.ts'
import type { Webhooks } from './webhooks.ts'

export interface DayAheadEventsDeps {
  events: Events
  webhooks: Webhooks
  catalogue: Pick<Catalogue, 'byId'>
  periodValues: PeriodValues
  clock: Clock
}

/**
 * Emits the event of a market day that becomes complete before it ends, inside the transaction that
 * writes its last price. The id of the event is that of the day, so it is sent once.
 */
export function createDayAheadEvents(deps: DayAheadEventsDeps) {
  const { events, webhooks, catalogue, clock } = deps

  const emitIfComplete = (series: Series, terms: DeliveryTerms, day: MarketDay) => {
    const values = deps.periodValues(series.id, day.from, day.to)
    const prices = new Map(values.map(({ observedAt, value }) => [observedAt, value]))
    const periods = periodsOf(terms, day).map(period => ({
      ...period,
      price: prices.get(period.start) ?? null,
    }))
    const isPeak = peakRule(terms, local => !isTradingDay(calendarOf(series), local))
    const figures = dayFigures(periods, isPeak)
    if (!figures.complete) return
    const publishedAt = Math.max(...values.map(({ recordedAt }) => recordedAt))
    events.emit({
      type: 'price.day_ahead.published',
      data: dayAheadData(series, terms, day, figures, publishedAt),
      at: clock.now(),
      dedupe: `${series.code} ${day.date}`,
      commodity: series.code,
    })
  }

  return (changes: readonly Change[]): void => {
    for (const { seriesId, inserted } of changes) {
      const series = catalogue.byId(seriesId)
      const { delivery: terms } = series
      if (!terms || webhooks.subscribed('price.day_ahead.published').length === 0) continue
      let day: MarketDay | undefined
      for (const { observedAt } of inserted) {
        if (day && observedAt < day.to) continue
        day = dayAt(terms, observedAt)
        if (day.to > clock.now()) emitIfComplete(series, terms, day)
      }
    }
  }
}

function dayAheadData(
  series: Series,
  terms: DeliveryTerms,
  day: MarketDay,
  figures: DayFigures,
  publishedAt: number,
) {
  const { code, name, currency, unit } = series
  return {
    commodity: code,
    commodity_code: code,
    name,
    date: day.date,
    zone: terms.zone,
    resolution: resolutionOn(terms, day.date),
    periods: figures.count,
    base: figures.base,
    peak: figures.peak,
    off_peak: figures.offPeak,
    min: extremeRow(figures.min!),
    max: extremeRow(figures.max!),
    negative_periods: figures.negativePeriods,
    currency,
    unit,
    published_at: isoInstant(publishedAt),
    timestamp: isoInstant(day.from),
  }
}

const extremeRow = ({ price, start, end }: KnownPeriod) => ({
  price,
  start: isoInstant(start),
  end: isoInstant(end),
})
