import type { Clock } from '../../../lib/time/clock.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { KnownPeriod } from '../../delivery/math/figures.ts'
import { resolutionOn } from '../../delivery/math/terms.ts'
import {
  type CompleteDay,
  completedDays,
  type DeliverySeries,
  isDelivery,
} from '../../delivery/service/market-days.ts'
import type { PeriodValues } from '../../prices/service/reads/period-values.ts'
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

  return (changes: readonly Change[]): void => {
    for (const { seriesId, inserted } of changes) {
      const series = catalogue.byId(seriesId)
      if (!isDelivery(series)) continue
      if (webhooks.subscribed('price.day_ahead.published').length === 0) continue
      for (const day of completedDays(series, inserted, clock.now(), deps.periodValues))
        events.emit({
          type: 'price.day_ahead.published',
          data: dayAheadData(series, day),
          at: clock.now(),
          dedupe: `${series.code} ${day.date}`,
          commodity: series.code,
        })
    }
  }
}

function dayAheadData(series: DeliverySeries, day: CompleteDay) {
  const { figures } = day
  const { code, name, currency, unit } = series
  return {
    commodity: code,
    commodity_code: code,
    name,
    date: day.date,
    zone: series.delivery.zone,
    resolution: resolutionOn(series.delivery, day.date),
    periods: figures.count,
    base: figures.base,
    peak: figures.peak,
    off_peak: figures.offPeak,
    min: extremeRow(figures.min!),
    max: extremeRow(figures.max!),
    negative_periods: figures.negativePeriods,
    currency,
    unit,
    published_at: isoInstant(day.publishedAt),
    timestamp: isoInstant(day.from),
  }
}

const extremeRow = ({ price, start, end }: KnownPeriod) => ({
  price,
  start: isoInstant(start),
  end: isoInstant(end),
})
