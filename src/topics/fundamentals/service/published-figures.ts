import { isoDay } from '../../../lib/time/instant.ts'
import type { Period } from '../../calendars/math/period.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { closesIn, closesPerYear, dayAfter } from '../../prices/math/window.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import { meanBetween } from '../math/forecast-accuracy.ts'
import { totalProduced } from '../math/opec.ts'
import type { OpecStore } from '../store/opec.ts'

/** The series that the countries of OPEC add up to. */
const opecCode = 'OPEC_PRODUCTION'

/** The actual values that forecasts are compared with. */
export type PublishedFigures = ReturnType<typeof createPublishedFigures>

export function createPublishedFigures(deps: {
  closes: Closes
  opec: OpecStore
  now: () => number
}) {
  const { closes, opec, now } = deps
  const opecMean = (months: readonly string[]): number | undefined => {
    const totals = months.map(month => opec.ofMonth(month)).filter(rows => rows.length > 0)
    return totals.length < months.length
      ? undefined
      : totals.reduce((sum, rows) => sum + totalProduced(rows), 0) / months.length / 1e6
  }
  /** Whether the closes of a series come up to a day, as far as closes of their spacing can. */
  const reaches = (seriesId: number, day: string): boolean => {
    const last = closes.of(seriesId).at(-1)
    const aYear = closes.derived('closes a year', [seriesId], ([own]) =>
      closesPerYear(closesIn(own!, spacingDays)),
    )
    return last !== undefined && dayAfter(last.day, gapDaysMax[aYear]!) > day
  }
  return {
    /**
     * Mean of the daily closes of a period that is over, to the decimals of the series; undefined
     * before its end, without data and while the data stops before it. Of OPEC's production the mean of its months.
     */
    of(series: Series, period: Period) {
      if (isoDay(now()) <= period.lastOn) return undefined
      const value =
        (series.code === opecCode ? opecMean(period.months) : undefined) ??
        (reaches(series.id, period.lastOn)
          ? meanBetween(closes.of(series.id), period.firstOn, period.lastOn)
          : undefined)
      return value === undefined ? undefined : roundTo(value, series.decimals)
    },
  }
}

/** The longest wait for the next close, in days, by how many closes a year has. */
const gapDaysMax: Readonly<Record<number, number>> = { 252: 5, 52: 7, 12: 31, 4: 92, 1: 366 }
const spacingDays = 365
