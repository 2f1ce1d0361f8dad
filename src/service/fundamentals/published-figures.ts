import { isoDay } from '../../lib/instant.ts'
import type { Period } from '../../market/calendars/period.ts'
import { meanBetween } from '../../market/fundamentals/forecast-accuracy.ts'
import { totalProduced } from '../../market/fundamentals/opec.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { OpecStore } from '../../store/fundamentals/opec.ts'
import type { Closes } from '../prices/closes.ts'

/** The series that the countries of OPEC add up to. */
const opecCode = 'OPEC_PRODUCTION'

/** The actual values that forecasts are compared with. */
export interface PublishedFigures {
  /**
   * Mean of the daily closes of a period that is over, to the decimals of the series; undefined
   * before its end and without data. Of OPEC's production the mean of its months.
   */
  of(series: Series, period: Period): number | undefined
}

export function createPublishedFigures(deps: {
  closes: Closes
  opec: OpecStore
  now: () => number
}): PublishedFigures {
  const { closes, opec, now } = deps
  const opecMean = (months: readonly string[]): number | undefined => {
    const totals = months.map(month => opec.ofMonth(month)).filter(rows => rows.length > 0)
    return totals.length < months.length
      ? undefined
      : totals.reduce((sum, rows) => sum + totalProduced(rows), 0) / months.length / 1e6
  }
  return {
    of(series, period) {
      if (isoDay(now()) <= period.lastOn) return undefined
      const value =
        (series.code === opecCode ? opecMean(period.months) : undefined) ??
        meanBetween(closes.of(series.id), period.firstOn, period.lastOn)
      return value === undefined ? undefined : roundTo(value, series.decimals)
    },
  }
}
