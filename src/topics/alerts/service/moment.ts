import { isoDay, startOfDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dayAt } from '../../delivery/math/days.ts'
import { completeDay, type DeliverySeries, isDelivery } from '../../delivery/service/market-days.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Close } from '../../prices/math/window.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import type { PeriodValues } from '../../prices/service/reads/period-values.ts'
import { type AlertMoment, alertMoment } from '../math/condition.ts'

/** A price of a series, as it was observed. */
export interface Priced {
  series: Series
  observedAt: number
  value: number
}

/** The newest price of the code that an alert watches. */
export interface Newest extends Priced {
  moment: AlertMoment
}

/** Prices as alerts see them: rounded as they are answered, with the closes of their day. */
export type AlertMoments = ReturnType<typeof createAlertMoments>

export function createAlertMoments(deps: {
  latestPrices: Pick<LatestPrices, 'quote'>
  closes: Pick<Closes, 'of'>
  catalogue: Pick<Catalogue, 'resolve'>
  periodValues: PeriodValues
  now(): number
}) {
  const { latestPrices, closes, catalogue, now } = deps
  const momentOf = ({ series, observedAt, value }: Priced): AlertMoment =>
    alertMoment(answeredPrice(series, value), reach => {
      const before = startOfDay(observedAt)
      return closesAt(closes.of(series.id, { ...reach, before }), observedAt, value)
    })
  /** A complete market day, judged before it begins. */
  const ofDay = (series: DeliverySeries, at: number): AlertMoment | undefined => {
    const day = completeDay(series, at, deps.periodValues)
    return day && alertMoment(day.figures.base!, () => [], day)
  }
  return {
    of: momentOf,
    ofDay,
    /** The market day after the present one; undefined unless all of its prices are known. */
    tomorrow: (series: Series) =>
      isDelivery(series) ? ofDay(series, dayAt(series.delivery, now()).to) : undefined,
    /** Undefined while the code has no price. */
    newest(watched: Series): Newest | undefined {
      const quote = latestPrices.quote(catalogue.resolve(watched.code, now())?.series ?? watched)
      if (!quote) return undefined
      const price = {
        series: quote.series,
        observedAt: quote.observation.observedAt,
        value: quote.observation.value,
      }
      return { ...price, moment: momentOf(price) }
    },
  }
}

/** Alerts are evaluated with the value that clients get. */
export const answeredPrice = (series: Series, value: number): number =>
  roundTo(value, series.decimals)

/**
 * The closes as they were when the price was the newest, without later prices of its day or after.
 */
function closesAt(allCloses: readonly Close[], observedAt: number, value: number): Close[] {
  const day = isoDay(observedAt)
  let end = allCloses.length
  while (end > 0 && allCloses[end - 1]!.day >= day) end -= 1
  return [...allCloses.slice(0, end), { day, value }]
}
