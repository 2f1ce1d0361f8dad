import { dayMs, isoDay, parseDay, startOfDay, startOfWeek } from '../../../lib/time/instant.ts'
import { dataStatus } from '../../calendars/math/freshness.ts'
import {
  isObserved,
  type Listing,
  releasedAt,
  type Schedule,
  scheduleOf,
} from '../../calendars/math/schedule.ts'
import { dayAfter } from '../../prices/math/window.ts'

/** The first week of the weekly counts. */
export const firstRigCountOn = '2013-01-04'
/** The longest range of a response. */
export const longestPeriodYears = 15

const words = new Map<string, Temporal.DurationLike>([
  ['week', { weeks: 1 }],
  ['month', { months: 1 }],
  ['quarter', { months: 3 }],
  ['year', { years: 1 }],
])
const units = { d: 'days', w: 'weeks', m: 'months', y: 'years' } as const

/** The same day of an earlier year; the 29th of February falls on the 28th. */
export const yearsBefore = (day: string, years: number): string =>
  Temporal.PlainDate.from(day).subtract({ years }).toString()

/**
 * The first day of the calendar period that ends on `toOn`: `90d`, `26w`, `6m`, `5y`, or one week,
 * month, quarter or year by name; undefined for anything else.
 */
export function periodStart(token: string, toOn: string): string | undefined {
  const text = token.trim().toLowerCase()
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([dwmy])$/.exec(text) ?? []
  const duration =
    words.get(text) ?? (unit && { [units[unit as keyof typeof units]]: Number(count) })
  return duration ? Temporal.PlainDate.from(toOn).subtract(duration).toString() : undefined
}

/**
 * The calendars of the families: counts on Fridays at 17:00, crews on working days at 14:00,
 * surveys of the month on its 15th at 14:00, all UTC; a federal holiday holds a weekly or monthly
 * one back to the next working day.
 */
export type DrillingCalendar = 'week' | 'day' | 'month'

/** A code of the catalogue that keeps each calendar. */
const listings: Readonly<Record<DrillingCalendar, Listing>> = {
  week: { code: 'US_RIG_COUNT', category: 'drilling', cadence: 'weekly' },
  day: { code: 'US_FRAC_SPREADS', category: 'drilling', cadence: 'daily' },
  month: { code: 'US_DUC_WELLS', category: 'drilling', cadence: 'monthly' },
}
const schedules: Readonly<Record<DrillingCalendar, Schedule>> = {
  week: scheduleOf(listings.week),
  day: scheduleOf(listings.day),
  month: scheduleOf(listings.month),
}

/** The instant, Unix ms, at which the catalogue's series have the value of a row's day: noon. */
export const countedAt = (day: string): number => parseDay(day)! + dayMs / 2

/** When what was counted on a day is published, Unix ms. */
export const publishedAt = (calendar: DrillingCalendar, day: string): number =>
  releasedAt(schedules[calendar], countedAt(day))

/** The day that a survey of a month is dated: its middle. */
export const surveyOn = (month: string): string => `${month.slice(0, 7)}-15`

/** The days of a calendar in `[fromOn, toOn)`, oldest first. */
export function countDays(calendar: DrillingCalendar, fromOn: string, toOn: string): string[] {
  const days: string[] = []
  const to = parseDay(toOn)!
  for (let at = parseDay(fromOn)!; at < to; at += dayMs)
    if (isObserved(schedules[calendar], at)) days.push(isoDay(at))
  return days
}

/**
 * How old the newest count is; `stale` after three periods of its calendar, as the prices of the
 * catalogue are.
 */
export function countAge(
  calendar: DrillingCalendar,
  newestOn: string,
  now: number,
): { ageDays: number; stale: boolean } {
  return {
    ageDays: Math.max(0, (startOfDay(now) - parseDay(newestOn)!) / dayMs),
    stale: dataStatus(listings[calendar], countedAt(newestOn), now) === 'stale',
  }
}

/** The part of a range of days that the stored weeks cover. */
export interface Coverage {
  from: string | undefined
  to: string | undefined
  observations: number
  /**
   * A range has a count for every week whose Friday has been published, and begins no earlier than
   * the first count.
   */
  complete: boolean
}

/**
 * `countedDays` are the days of the stored counts inside `[fromOn, toOn]`, oldest first; `earliestOn` is
 * the first day of all.
 */
export function coverageOf(
  countedDays: readonly string[],
  {
    fromOn,
    toOn,
    earliestOn,
    now,
  }: { fromOn: string; toOn: string; earliestOn: string | undefined; now: number },
): Coverage {
  const weekOf = (day: string) => startOfWeek(parseDay(day)!)
  const weeks = new Set(countedDays.map(weekOf))
  const due = countDays('week', fromOn, dayAfter(toOn, 1)).filter(
    day => publishedAt('week', day) <= now,
  )
  const reachesBack = earliestOn !== undefined && weekOf(earliestOn) <= weekOf(fromOn)
  return {
    from: countedDays[0],
    to: countedDays.at(-1),
    observations: countedDays.length,
    complete: countedDays.length > 0 && reachesBack && due.every(day => weeks.has(weekOf(day))),
  }
}
