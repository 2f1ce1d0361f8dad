import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Close } from '../../prices/math/window.ts'
import {
  closesBefore,
  forecastPublishedAt,
  lastPublication,
  monthlyForecast,
  monthsAhead,
} from '../math/monthly-forecast.ts'
import type { MonthlyForecastStore } from '../store/monthly-forecasts.ts'

/**
 * A series that begins to be forecast gets the forecasts of so many months as they would have been
 * made: accuracy needs a past.
 */
const publicationsKept = 24

/** The forecasts that this service makes of the mean price of each month. */
export type MonthlyForecasts = ReturnType<typeof createMonthlyForecasts>

export interface PublishOptions {
  /** Months beyond the usual ones that are forecast too. */
  further?: readonly string[]
  /** All of them count as made when they were due: of a history that is invented as a whole. */
  inTime?: boolean
}

export function createMonthlyForecasts(store: MonthlyForecastStore) {
  return {
    /**
     * Makes the missing forecasts of a series that were due by `now`, each from the closes
     * (ascending) of the days before its publication; returns how many publications.
     */
    publish(
      series: Series,
      now: number,
      closes: readonly Close[],
      { further = [], inTime = false }: PublishOptions = {},
    ) {
      const published = new Set(store.publications(series.id))
      const last = lastPublication(isoDay(now), now)
      let count = 0
      for (let back = publicationsKept - 1; back >= 0; back -= 1) {
        const month = monthAfter(last, -back)
        const publishedAt = forecastPublishedAt(month)
        if (published.has(publishedAt)) continue
        const usual = Array.from({ length: monthsAhead + 1 }, (_, n) => monthAfter(month, n))
        const forecast = monthlyForecast(closesBefore(closes, `${month}-01`), [
          ...usual,
          ...further.filter(furtherMonth => furtherMonth > usual.at(-1)!),
        ])
        if (!forecast) continue
        const rounded = (value: number) => roundTo(value, series.decimals)
        store.write(
          forecast.months.map(monthForecast => ({
            seriesId: series.id,
            month: monthForecast.month,
            publishedAt,
            dataPoints: forecast.dataPoints,
            recordedAt: inTime ? publishedAt : now,
            value: rounded(monthForecast.value),
            low: rounded(monthForecast.low),
            high: rounded(monthForecast.high),
          })),
        )
        count += 1
      }
      return count
    },
  }
}
