import { dayMs, isoDay, parseDay, weekdayOf } from '../../../lib/time/instant.ts'

export const weekDays = 7
/** A year of whole weeks. */
export const yearOfWeeksDays = 52 * weekDays

/** Spans of weekly counts are whole weeks, so that a day is compared with the same weekday. */
export const spanDays = {
  week: weekDays,
  month: 4 * weekDays,
  quarter: 13 * weekDays,
  year: yearOfWeeksDays,
} as const

/**
 * How much older than wanted a weekly count for comparison may be: a missing week is not replaced
 * by the one before it.
 */
export const slackDays = weekDays - 1

/** A week from Monday to Sunday; it belongs to the year of its Thursday. */
export type IsoWeek = ReturnType<typeof isoWeek>

/** ISO 8601 week of a `YYYY-MM-DD` day. */
export function isoWeek(day: string) {
  const at = parseDay(day)!
  const thursdayAt = at + (4 - weekdayOf(at)) * dayMs
  const year = isoDay(thursdayAt).slice(0, 4)
  const daysBefore = (thursdayAt - parseDay(`${year}-01-01`)!) / dayMs
  return { year: Number(year) /** 1 to 53. */, week: 1 + Math.floor(daysBefore / weekDays) }
}

/** `2026-W47`. */
export const weekName = ({ year, week }: IsoWeek): string =>
  `${year}-W${String(week).padStart(2, '0')}`

/** `2026-W47`: the ISO week of a day, by its name. */
export const weekNameOf = (day: string): string => weekName(isoWeek(day))
