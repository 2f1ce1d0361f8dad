import { dayMs, weekdayOf } from '../../../lib/time/instant.ts'
import { type IsoWeek, isoWeek } from '../../calendars/math/weeks.ts'
import {
  type Close,
  dayAfter,
  dayNumber,
  type Measured,
  measured,
  tooFew,
} from '../../prices/math/window.ts'
import { stdDev, zScore } from './statistics.ts'

/** 28 December is in the last week of every year. */
const weeksIn = (year: number): number => isoWeek(`${year}-12-28`).week

/** Earlier years that a season is made of at most, and at least: one alone has no deviation. */
const yearsMax = 5
export const seasonYearsMin = 2

/** The rank of a level among those of the same week of earlier years, in the unit of the series. */
export interface Season {
  week: IsoWeek
  level: number
  average: number
  /** Sample basis, n - 1. */
  stdDev: number
  /** (level - average) / stdDev; undefined when the years do not differ. */
  zScore: number | undefined
  /** Earlier years that have a level in the week. */
  years: number
}

/**
 * The newest level among the same ISO week of the five years before its own. A year counts with the
 * mean of its levels in that week, and with its last week where the newest level is of week 53 and
 * it has none. Too few are counted in years.
 */
export function seasonOf(closes: readonly Close[]): Measured<Season> {
  const last = closes.at(-1)
  if (!last) return tooFew(0, seasonYearsMin)
  const week = isoWeek(last.day)
  const earlier = Array.from({ length: yearsMax }, (_, i) =>
    weekMean(closes, week.year - 1 - i, week.week),
  ).filter(level => level !== undefined)
  if (earlier.length < seasonYearsMin) return tooFew(earlier.length, seasonYearsMin)
  const average = earlier.reduce((sum, level) => sum + level, 0) / earlier.length
  const deviation = stdDev(earlier)!
  return measured({
    week,
    level: last.value,
    average,
    stdDev: deviation,
    zScore: zScore(last.value, average, deviation),
    years: earlier.length,
  })
}

function weekMean(closes: readonly Close[], year: number, week: number): number | undefined {
  const monday = mondayOf(year, Math.min(week, weeksIn(year)))
  const next = dayAfter(monday, 7)
  const inside = closes.filter(({ day }) => day >= monday && day < next)
  return inside.length === 0
    ? undefined
    : inside.reduce((sum, close) => sum + close.value, 0) / inside.length
}

/** 4 January is in the first week of every year. */
function mondayOf(year: number, week: number): string {
  const fourth = `${year}-01-04`
  return dayAfter(fourth, 1 - weekdayOf(dayNumber(fourth) * dayMs) + 7 * (week - 1))
}
