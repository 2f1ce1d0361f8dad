import { dayMs, isoDay, parseDay, weekdayOf } from '../../../lib/time/instant.ts'
import { isTradingDay } from '../../calendars/math/calendar.ts'
import { londonBank } from '../../calendars/math/holidays.ts'
import { dayAfter, dayNumber } from '../../prices/math/window.ts'
import { contractCode, type Family, type FamilyCode, listedCount } from './families.ts'

/** Whether the exchange does business on a day, given as days since 1970-01-01. */
export type BusinessDay = (day: number) => boolean

/**
 * The last trading day of the contract for a month (year x 12 + month - 1), as days since
 * 1970-01-01.
 */
type Expiry = (month: number, isBusinessDay: BusinessDay) => number

interface ExpiryRule {
  isBusinessDay: BusinessDay
  expiry: Expiry
}

/** A front month with so many days or fewer is near its expiry. */
const nearExpiryDays = 7

/** A position in the front month is due to be rolled this many days before its end or later. */
const rollDays = 3

const bankHolidays = new Map<number, ReadonlySet<number>>()

/**
 * Weekdays that are not bank holidays in England: the business day of the London exchange's rules,
 * which trades on most bank holidays.
 */
export const isLondonBusinessDay: BusinessDay = day => {
  const year = new Date(day * dayMs).getUTCFullYear()
  const holidays = bankHolidays.get(year) ?? new Set(londonBank(year))
  bankHolidays.set(year, holidays)
  return weekdayOf(day * dayMs) < 6 && !holidays.has(day)
}

/** Weekdays on which the United States energy exchange settles. */
const isNewYorkBusinessDay: BusinessDay = day => isTradingDay('us_energy', day * dayMs)

const dayIn = (month: number, day: number): number =>
  Date.UTC(Math.floor(month / 12), month % 12, day) / dayMs

/** The n-th business day before `day`, which itself does not count. */
function before(day: number, n: number, isBusinessDay: BusinessDay): number {
  let at = day
  for (let left = n; left > 0; ) if (isBusinessDay(--at)) left--
  return at
}

/** `day` or, when it is none, the business day before it. */
const atOrBefore = (day: number, isBusinessDay: BusinessDay): number =>
  before(day + 1, 1, isBusinessDay)

const brent: Expiry = (month, isBusinessDay) => {
  const last = before(dayIn(month - 1, 1), 1, isBusinessDay)
  const december = Math.floor((month - 2) / 12) * 12 + 11
  const eves = [dayIn(december, 25), dayIn(december + 1, 1)].map(feast =>
    before(feast, 1, isBusinessDay),
  )
  return eves.includes(last) ? before(last, 1, isBusinessDay) : last
}

const carbon: Expiry = (month, isBusinessDay) => {
  const end = dayIn(month + 1, 0)
  let monday = end - (weekdayOf(end * dayMs) - 1)
  while (![0, 1, 2, 3, 4].every(days => isBusinessDay(monday + days))) monday -= 7
  return monday
}

const carbonRule = {
  // Last Monday of the contract month; when it or one of the four days after it is a UK bank
  // holiday, the Monday before, and so on back.
  isBusinessDay: isLondonBusinessDay,
  expiry: carbon,
}

/** The exchanges' published rules. */
const rules: Readonly<Record<FamilyCode, ExpiryRule>> = {
  BRENT_FUTURES: {
    // Last UK business day of the second month before the contract month; one earlier when that is
    // the business day before Christmas Day or New Year's Day.
    isBusinessDay: isLondonBusinessDay,
    expiry: brent,
  },
  WTI_FUTURES: {
    // Three US business days before the 25th of the month before the contract month, counted from
    // the business day before the 25th when that is not one.
    isBusinessDay: isNewYorkBusinessDay,
    expiry: (month, isBusinessDay) =>
      before(atOrBefore(dayIn(month - 1, 25), isBusinessDay), 3, isBusinessDay),
  },
  GASOIL_FUTURES: {
    // Two UK business days before the 14th of the contract month.
    isBusinessDay: isLondonBusinessDay,
    expiry: (month, isBusinessDay) => before(dayIn(month, 14), 2, isBusinessDay),
  },
  NATURAL_GAS_FUTURES: {
    // Third-last US business day of the month before the contract month.
    isBusinessDay: isNewYorkBusinessDay,
    expiry: (month, isBusinessDay) => before(dayIn(month, 1), 3, isBusinessDay),
  },
  EUA_FUTURES: carbonRule,
  UKA_FUTURES: carbonRule,
  TTF_FUTURES: {
    // Two UK business days before the first day of the contract month.
    isBusinessDay: isLondonBusinessDay,
    expiry: (month, isBusinessDay) => before(dayIn(month, 1), 2, isBusinessDay),
  },
  JKM_FUTURES: {
    // The 15th of the month before the contract month, or the UK business day before it when that
    // is not one.
    isBusinessDay: isLondonBusinessDay,
    expiry: (month, isBusinessDay) => atOrBefore(dayIn(month - 1, 15), isBusinessDay),
  },
}

function monthNumber(month: string): number {
  const [, year, of] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === undefined)
    throw new Error(`contract month is ${JSON.stringify(month)}; it must be written YYYY-MM`)
  return Number(year) * 12 + Number(of) - 1
}

/** `YYYY-MM` plus `count` months. */
export function monthAfter(month: string, count: number): string {
  const number = monthNumber(month) + count
  return `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`
}

const expiries = new Map<FamilyCode, Map<string, string>>()

/**
 * The day on which trading in the contract for `YYYY-MM` ends, by the family's rule;
 * `isBusinessDay` replaces the exchange's calendar.
 */
export function lastTradingDay(
  code: FamilyCode,
  month: string,
  isBusinessDay?: BusinessDay,
): string {
  const { expiry, isBusinessDay: own } = rules[code]
  if (isBusinessDay) return isoDay(expiry(monthNumber(month), isBusinessDay) * dayMs)
  const cachedDays = expiries.getOrInsertComputed(code, () => new Map<string, string>())
  const day = cachedDays.get(month) ?? isoDay(expiry(monthNumber(month), own) * dayMs)
  // Every answer needs a dozen of these, mostly the same ones; months outside this range are not
  // cached.
  if (month > '1980' && month < '2100') cachedDays.set(month, day)
  return day
}

/**
 * The first `count` contract months (`YYYY-MM`) whose last trading day is `day` or later, nearest
 * first.
 */
export function listedMonths(code: FamilyCode, day: string, count = listedCount): string[] {
  let front = day.slice(0, 7)
  while (lastTradingDay(code, front) < day) front = monthAfter(front, 1)
  return Array.from({ length: count }, (_, i) => monthAfter(front, i))
}

/**
 * The day whose listed months are the curve of a trading date. A date that is over is seen at its
 * end, when the contracts whose last trading day it was have left; the running one (`today`) is
 * seen while they still trade.
 */
export const listingDay = (date: string, today: string): string =>
  date < today ? dayAfter(date, 1) : date

/** Calendar days from `day` to the last trading day; 0 on it, negative after it. */
export const daysToExpiry = (code: FamilyCode, month: string, day: string): number =>
  dayNumber(lastTradingDay(code, month)) - dayNumber(day)

export type ContractStatus = 'front_month' | 'near_expiry' | 'active' | 'expired'

/**
 * The state of a contract on `day`: near expiry with seven days or fewer, front month when it is
 * the first listed, expired after its last trading day.
 */
export function contractStatus(code: FamilyCode, month: string, day: string): ContractStatus {
  const days = daysToExpiry(code, month, day)
  if (days < 0) return 'expired'
  if (days <= nearExpiryDays) return 'near_expiry'
  return listedMonths(code, day, 1)[0] === month ? 'front_month' : 'active'
}

/** Whether to roll a front month that is about to expire. */
export interface RollIndicator {
  /** With three days or fewer. */
  shouldRoll: boolean
  daysRemaining: number
  /** `YYYY-MM`. */
  nextMonth: string
  message: string
}

/** Undefined while the front month has more than seven days. */
export function rollIndicator(code: FamilyCode, day: string): RollIndicator | undefined {
  const [front, next] = listedMonths(code, day, 2) as [string, string]
  const days = daysToExpiry(code, front, day)
  if (days > nearExpiryDays) return undefined
  const when = days === 0 ? 'today' : days === 1 ? 'tomorrow' : `in ${days} days`
  return {
    shouldRoll: days <= rollDays,
    daysRemaining: days,
    nextMonth: next,
    message: `${contractCode(code, front)} trades for the last time ${when}, on ${lastTradingDay(code, front)}; ${contractCode(code, next)} follows.`,
  }
}

/** Wall time of `at` in the family's zone. */
function localTime({ hours }: Family, at: number): { day: string; time: string } {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(hours.timezone)
  return { day: local.toPlainDate().toString(), time: local.toPlainTime().toString().slice(0, 5) }
}

const opensEveningBefore = ({ hours }: Family): boolean => hours.open > hours.close

const lastDates = new Map<FamilyCode, { from: number; to: number; date: string }>()

/**
 * The trading date that an instant counts to: the local calendar day, or the next one once its
 * evening session has opened.
 */
export function tradingDate(family: Family, at: number): string {
  // Most calls are about the same date as the call before, and zoned arithmetic costs more than all
  // the rest of an answer.
  const last = lastDates.get(family.code)
  if (last && at >= last.from && at < last.to) return last.date
  const { day, time } = localTime(family, at)
  const date = opensEveningBefore(family) && time >= family.hours.open ? dayAfter(day, 1) : day
  lastDates.set(family.code, { ...tradingSpan(family, date), date })
  return date
}

/** The instant at which the clocks of the family's zone show `HH:MM` on a day. */
const instantIn = ({ hours }: Family, day: string, time: string): number =>
  Temporal.ZonedDateTime.from(`${day}T${time}[${hours.timezone}]`).epochMilliseconds

/** All that counts to a trading date, half-open, as instants: the inverse of `tradingDate`. */
export function tradingSpan(family: Family, date: string): { from: number; to: number } {
  if (!opensEveningBefore(family))
    return {
      from: instantIn(family, date, '00:00'),
      to: instantIn(family, dayAfter(date, 1), '00:00'),
    }
  return {
    from: instantIn(family, dayAfter(date, -1), family.hours.open),
    to: instantIn(family, date, family.hours.open),
  }
}

/** Opening and closing of trading, half-open, as instants. */
export interface ContractSession {
  opensAt: number
  closesAt: number
}

/**
 * When trading on a date begins and ends by the family's hours, whether or not the exchange is
 * closed on it.
 */
export const sessionOn = (family: Family, date: string): ContractSession => ({
  opensAt: instantIn(
    family,
    opensEveningBefore(family) ? dayAfter(date, -1) : date,
    family.hours.open,
  ),
  closesAt: instantIn(family, date, family.hours.close),
})

/** Whether the exchange trades on a date. */
export const tradesOn = (family: Family, date: string): boolean =>
  isTradingDay(family.market, parseDay(date)!)

/** The session running at an instant; undefined while the market is closed. */
export function sessionAt(family: Family, at: number): ContractSession | undefined {
  const date = tradingDate(family, at)
  const session = tradesOn(family, date) ? sessionOn(family, date) : undefined
  return session && session.opensAt <= at && at < session.closesAt ? session : undefined
}

/** Whether the family trades at an instant, by its own hours, zone and holidays. */
export const isOpen = (family: Family, at: number): boolean => sessionAt(family, at) !== undefined

/** The days that a session ends on. */
export const tradingDays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'] as const
