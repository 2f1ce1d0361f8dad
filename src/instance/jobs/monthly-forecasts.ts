import type { Clock } from '../../lib/time/clock.ts'
import { sleep } from '../../lib/time/clock.ts'
import { hourMs, isoDay } from '../../lib/time/instant.ts'
import { monthAfter } from '../../topics/calendars/math/period.ts'
import type { Catalogue } from '../../topics/catalogue/service/catalogue.ts'
import {
  forecastCodes,
  forecastPublishedAt,
  lastPublication,
} from '../../topics/fundamentals/math/monthly-forecast.ts'
import type { MonthlyForecasts } from '../../topics/fundamentals/service/monthly-forecasts.ts'
import type { Closes } from '../../topics/prices/service/days/closes.ts'
import type { Job } from './job.ts'

const nextAfter = (at: number): number =>
  forecastPublishedAt(monthAfter(lastPublication(isoDay(at), at), 1))

/**
 * Makes the forecasts of the month at its beginning, and within an hour those of a code whose
 * closes were imported.
 */
export function createMonthlyForecastJob(deps: {
  catalogue: Catalogue
  closes: Closes
  forecasts: MonthlyForecasts
  clock: Pick<Clock, 'now'>
}): Job {
  let nextAt = Number.NEGATIVE_INFINITY
  return {
    name: 'monthly forecasts',
    async pass() {
      const now = deps.clock.now()
      if (now < nextAt) return
      for (const code of forecastCodes) {
        const series = deps.catalogue.named(code)
        if (!series) continue
        deps.forecasts.publish(series, now, deps.closes.of(series.id))
        await sleep(0)
      }
      nextAt = Math.min(nextAfter(now), now + hourMs)
    },
    nextStop: nextAfter,
  }
}
