import { dayMs } from '../../../lib/time/instant.ts'

/**
 * The closed weekdays that belong to `year`, as days since 1970-01-01; an observed New Year may
 * fall in the year before.
 */
export type Holidays = (year: number) => number[]

const dayOf = (year: number, month: number, day: number): number =>
  Date.UTC(year, month - 1, day) / dayMs

/** 1 = Monday … 7 = Sunday of a day counted from 1970-01-01. */
export const weekdayOfDay = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1

/** Days since 1970-01-01 of Easter Sunday, by the anonymous Gregorian computus. */
export function easterDay(year: number): number {
  const golden = year % 19
  const century = Math.floor(year / 100)
  const rest = year % 100
  const leap =
    century -
    Math.floor(century / 4) -
    Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const moon = (19 * golden + leap + 15) % 30
  const sunday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - moon - (rest % 4)) % 7
  const shift = Math.floor((golden + 11 * moon + 22 * sunday) / 451)
  const month = Math.floor((moon + sunday - 7 * shift + 114) / 31)
  return dayOf(year, month, ((moon + sunday - 7 * shift + 114) % 31) + 1)
}

function nthWeekday(n: number, weekday: number, year: number, month: number): number {
  const first = dayOf(year, month, 1)
  return first + ((weekday - weekdayOfDay(first) + 7) % 7) + 7 * (n - 1)
}

function lastWeekday(weekday: number, year: number, month: number): number {
  const end = dayOf(year, month + 1, 1) - 1
  return end - ((weekdayOfDay(end) - weekday + 7) % 7)
}

/** A Saturday is observed on Friday, a Sunday on Monday: the rule of United States law. */
function nearestWeekday(day: number): number {
  const weekday = weekdayOfDay(day)
  return weekday === 6 ? day - 1 : weekday === 7 ? day + 1 : day
}

/** A Sunday is observed on Monday; a Saturday is not made up for. */
const sundayToMonday = (day: number): number => (weekdayOfDay(day) === 7 ? day + 1 : day)

/** Saturday and Sunday are both observed on Monday. */
function weekendToMonday(day: number): number {
  const weekday = weekdayOfDay(day)
  return weekday > 5 ? day + 8 - weekday : day
}

const [monday, thursday] = [1, 4]

const juneteenth = (year: number, since: number): number[] =>
  year >= since ? [nearestWeekday(dayOf(year, 6, 19))] : []

/** Full closures of the United States energy exchange. */
export const usExchange: Holidays = year => [
  sundayToMonday(dayOf(year, 1, 1)),
  nthWeekday(3, monday, year, 1),
  nthWeekday(3, monday, year, 2),
  easterDay(year) - 2,
  lastWeekday(monday, year, 5),
  ...juneteenth(year, 2022),
  nearestWeekday(dayOf(year, 7, 4)),
  nthWeekday(1, monday, year, 9),
  nthWeekday(4, thursday, year, 11),
  nearestWeekday(dayOf(year, 12, 25)),
]

/** Federal holidays of the United States: the days on which its agencies publish nothing. */
export const usFederal: Holidays = year => [
  nearestWeekday(dayOf(year, 1, 1)),
  nthWeekday(3, monday, year, 1),
  nthWeekday(3, monday, year, 2),
  lastWeekday(monday, year, 5),
  ...juneteenth(year, 2021),
  nearestWeekday(dayOf(year, 7, 4)),
  nthWeekday(1, monday, year, 9),
  nthWeekday(2, monday, year, 10),
  nearestWeekday(dayOf(year, 11, 11)),
  nthWeekday(4, thursday, year, 11),
  nearestWeekday(dayOf(year, 12, 25)),
]

/** Days on which power in North America has no peak hours; a holiday on a Saturday stays there. */
export const usPower: Holidays = year => [
  sundayToMonday(dayOf(year, 1, 1)),
  lastWeekday(monday, year, 5),
  sundayToMonday(dayOf(year, 7, 4)),
  nthWeekday(1, monday, year, 9),
  nthWeekday(4, thursday, year, 11),
  sundayToMonday(dayOf(year, 12, 25)),
]

/** Full closures of the London energy exchange. */
export const londonExchange: Holidays = year => [
  sundayToMonday(dayOf(year, 1, 1)),
  easterDay(year) - 2,
  sundayToMonday(dayOf(year, 12, 25)),
]

/** Full closures of the European gas and emission exchanges; nothing is made up for. */
export const europeExchange: Holidays = year => [
  dayOf(year, 1, 1),
  easterDay(year) - 2,
  easterDay(year) + 1,
  dayOf(year, 12, 25),
  dayOf(year, 12, 26),
]

/**
 * Closing days of the euro settlement system, fixed since 2000: no reference rates are set on them.
 * The changeover to cash added one.
 */
export const euroSettlement: Holidays = year => [
  ...europeExchange(year),
  dayOf(year, 5, 1),
  ...(year === 2001 ? [dayOf(2001, 12, 31)] : []),
]

/** Bank holidays that rules do not give: moved for an occasion, or proclaimed for it. */
const proclaimed: Readonly<
  Record<number, { early?: number; spring?: number; extra?: readonly number[] }>
> = {
  1995: { early: dayOf(1995, 5, 8) },
  1999: { extra: [dayOf(1999, 12, 31)] },
  2002: { spring: dayOf(2002, 6, 4), extra: [dayOf(2002, 6, 3)] },
  2011: { extra: [dayOf(2011, 4, 29)] },
  2012: { spring: dayOf(2012, 6, 4), extra: [dayOf(2012, 6, 5)] },
  2020: { early: dayOf(2020, 5, 8) },
  2022: { spring: dayOf(2022, 6, 2), extra: [dayOf(2022, 6, 3), dayOf(2022, 9, 19)] },
  2023: { extra: [dayOf(2023, 5, 8)] },
}

/** Bank holidays of England, substitute days included. */
export const londonBank: Holidays = year => {
  const christmas = dayOf(year, 12, 25)
  const special = proclaimed[year]
  return [
    weekendToMonday(dayOf(year, 1, 1)),
    easterDay(year) - 2,
    easterDay(year) + 1,
    special?.early ?? nthWeekday(1, monday, year, 5),
    special?.spring ?? lastWeekday(monday, year, 5),
    lastWeekday(monday, year, 8),
    ...christmasDays(christmas),
    ...(special?.extra ?? []),
  ]
}

/**
 * Christmas and Boxing Day: what falls on a weekend moves to the next weekdays that neither of them
 * takes.
 */
function christmasDays(christmas: number): number[] {
  const weekday = weekdayOfDay(christmas)
  if (weekday === 5) return [christmas, christmas + 3]
  if (weekday === 6) return [christmas + 2, christmas + 3]
  if (weekday === 7) return [christmas + 1, christmas + 2]
  return [christmas, christmas + 1]
}
