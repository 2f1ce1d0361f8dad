import { dayMs, hourMs, minuteMs, secondMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import type { MarketName, ReleaseTerms } from '../../catalogue/math/terms.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import {
  addTradingDays,
  calendarOf,
  isTradingDay,
  type Market,
  nextTradingDay,
} from './calendar.ts'
import { weekdayOfDay } from './holidays.ts'

/** The facts that determine when a code is published. */
export interface Listing {
  code: string
  category: string
  cadence: Cadence
  /** Set where the operator has stated it. */
  calendar?: MarketName
  /** Days between the date of a value and its release. */
  releaseLagDays?: number
  /** The days of publication, set where the operator has stated them. */
  releases?: ReleaseTerms
  /** The zone of the time of day that its values are made at. */
  valueAt?: { zone: string }
  /** Present for a series of delivery periods. */
  delivery?: DeliveryTerms
}

export interface Schedule {
  market: Market
  cadence: Cadence
  /** Milliseconds between prices inside a session; 0 for codes that are not quoted all day. */
  stepMs: number
  /**
   * Minutes from midnight UTC at which a value is observed; the last one is the close of the day.
   * Empty for intraday codes.
   */
  minutes: readonly number[]
  /** 1 = Monday … 7 = Sunday: weekly codes only. */
  weekday?: number
  /** Day of the month: monthly codes only. */
  monthDay?: number
  /** Milliseconds from the observation to its publication, when that happens on the same day. */
  releaseAfterMs: number
  /** Published on the morning of the next business day instead. */
  nextDay: boolean
}

const periodMs: Readonly<Record<Exclude<Cadence, 'monthly'>, number>> = {
  intraday_2_5m: 150 * secondMs,
  intraday_5m: 5 * minuteMs,
  twice_daily: 12 * hourMs,
  daily: dayMs,
  weekly: 7 * dayMs,
}

const clockTime = (hour: number, minute = 0): number => hour * 60 + minute
const noon = clockTime(12)
/**
 * Surveys end at noon, and what a closed day delays comes out before the next one: so a late
 * release still finds its predecessor current.
 */
const delayedReleaseMinute = clockTime(10, 30)

const asian =
  /SINGAPORE|JAPAN|ASIA|CHINA|INDIA|INDONESIA|KOREA|AUSTRALIA|QINHUANGDAO|FAR_EAST|NEWCASTLE|DUBAI|OMAN|_(SIN|HKG|ZOS)_USD$/

/** When a code of the catalogue is observed and published. */
export function scheduleOf(listing: Listing): Schedule {
  const { category, code, cadence } = listing
  const base = {
    market: calendarOf(listing),
    cadence,
    stepMs: 0,
    minutes: [noon],
    releaseAfterMs: 10 * minuteMs,
    nextDay: false,
  }
  switch (cadence) {
    case 'intraday_2_5m':
    case 'intraday_5m':
      return { ...base, stepMs: periodMs[cadence], minutes: [], releaseAfterMs: 0 }
    case 'twice_daily':
      return { ...base, minutes: twiceDailyMinutes(base.market, code) }
    case 'daily':
      return { ...base, ...dailyTimes(listing, base.market) }
    case 'weekly':
      return { ...base, ...weeklyRelease(listing) }
    case 'monthly':
      return { ...base, monthDay: isStatistic(category) ? 15 : 1, releaseAfterMs: 2 * hourMs }
  }
}

const isStatistic = (category: string): boolean =>
  category === 'storage' || category === 'drilling' || category === 'supply_demand'

function twiceDailyMinutes(market: Market, code: string): number[] {
  if (market === 'us_energy') return [clockTime(14, 30), clockTime(19, 30)]
  return asian.test(code)
    ? [clockTime(4, 30), clockTime(8, 30)]
    : [clockTime(10, 30), clockTime(16, 30)]
}

function dailyTimes(
  { category, code }: Listing,
  market: Market,
): { minutes: number[]; releaseAfterMs?: number } {
  if (category === 'list_prices') return { minutes: [0], releaseAfterMs: minuteMs }
  if (category === 'storage') return { minutes: [clockTime(6)], releaseAfterMs: 11 * hourMs }
  if (category === 'drilling') return { minutes: [noon], releaseAfterMs: 2 * hourMs }
  if (category === 'indices') return { minutes: [clockTime(21)] }
  if (code.startsWith('GOLD_AM_')) return { minutes: [clockTime(10, 30)] }
  if (code.startsWith('GOLD_PM_')) return { minutes: [clockTime(15)] }
  if (code.startsWith('SILVER_FIX_')) return { minutes: [noon] }
  if (asian.test(code) && market !== 'fx') return { minutes: [clockTime(8, 30)] }
  return { minutes: [closingMinute[market]] }
}

const closingMinute: Readonly<Record<Market, number>> = {
  us_energy: clockTime(19, 30),
  london_energy: clockTime(16, 30),
  europe_energy: clockTime(17),
  fx: clockTime(14, 15),
  metals: clockTime(17),
  us_government: noon,
  us_power: noon,
  weekday: clockTime(16),
  every_day: noon,
}

function weeklyRelease({ category, code }: Listing): {
  weekday: number
  releaseAfterMs: number
  nextDay?: boolean
} {
  const [monday, wednesday, thursday, friday] = [1, 3, 4, 5]
  if (category === 'drilling') return { weekday: friday, releaseAfterMs: 5 * hourMs }
  if (category === 'retail_fuels')
    return { weekday: monday, releaseAfterMs: 9 * hourMs, nextDay: !code.endsWith('_USD') }
  if (category === 'coal') return { weekday: monday, releaseAfterMs: 8 * hourMs }
  if (category !== 'storage') return { weekday: wednesday, releaseAfterMs: 3.5 * hourMs }
  if (code.startsWith('SPR_')) return { weekday: friday, releaseAfterMs: 4 * hourMs }
  const onThursday = /NATGAS|^(ARA|FUJAIRAH|JAPAN|SINGAPORE)_/.test(code)
  return { weekday: onThursday ? thursday : wednesday, releaseAfterMs: 3.5 * hourMs }
}

/**
 * Whether a code that is not quoted all day has an observation on the UTC day that starts at
 * `dayAt`.
 */
export function isObserved(schedule: Schedule, dayAt: number): boolean {
  if (schedule.weekday !== undefined) return weekdayOfDay(dayAt / dayMs) === schedule.weekday
  if (schedule.monthDay !== undefined) return new Date(dayAt).getUTCDate() === schedule.monthDay
  return isTradingDay(schedule.market, dayAt)
}

/**
 * When an observation of a code that is not quoted all day is published, Unix ms. The dates of
 * weekly and monthly surveys are fixed; a closed day delays the publication, not the date.
 */
export function releasedAt(schedule: Schedule, observedAt: number): number {
  const isSurvey = schedule.weekday !== undefined || schedule.monthDay !== undefined
  if (isSurvey && (schedule.nextDay || !isTradingDay(schedule.market, observedAt)))
    return nextTradingDay(schedule.market, observedAt) + delayedReleaseMinute * minuteMs
  return observedAt + schedule.releaseAfterMs
}

/** One period later; a period that ends on a closed day ends on the next trading day. */
function addPeriod(cadence: Cadence, market: Market, at: number): number {
  return addTradingDays(
    market,
    cadence === 'monthly' ? oneMonthLater(at) : at + periodMs[cadence],
    0,
  )
}

/** The 31st is followed by the last day of a shorter month. */
function oneMonthLater(at: number): number {
  const d = new Date(at)
  const [year, month] = [d.getUTCFullYear(), d.getUTCMonth() + 1]
  const day = Math.min(d.getUTCDate(), new Date(Date.UTC(year, month + 1, 0)).getUTCDate())
  return Date.UTC(year, month, day) + (at - startOfDay(at))
}

/**
 * The age up to which an observation is current: one period of its cadence, counted in trading
 * days, and one business day.
 */
export const currentUntil = (cadence: Cadence, market: Market, observedAt: number): number =>
  addTradingDays(market, addPeriod(cadence, market, observedAt), 1)

/**
 * The age up to which an observation is delayed: three periods of its cadence, never less than
 * `currentUntil`.
 */
export function delayedUntil(cadence: Cadence, market: Market, observedAt: number): number {
  let at = observedAt
  for (let i = 0; i < 3; i++) at = addPeriod(cadence, market, at)
  return Math.max(at, currentUntil(cadence, market, observedAt))
}
