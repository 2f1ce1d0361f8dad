import { dayMs, minuteMs, startOfDay } from '../../../lib/time/instant.ts'
import type { MarketName } from '../../catalogue/math/terms.ts'
import {
  europeExchange,
  euroSettlement,
  type Holidays,
  londonBank,
  londonExchange,
  usExchange,
  usFederal,
  usPower,
  weekdayOfDay,
} from './holidays.ts'

/** A calendar that series share: `weekday` closes on weekends only, `every_day` never. */
export type Market = MarketName

interface Rules {
  holidays?: Holidays
  weekends: boolean
  /** Minutes from midnight UTC of the trading day; a negative opening is on the evening before. */
  session?: { openMinute: number; closeMinute: number }
}

const rules: Readonly<Record<Market, Rules>> = {
  us_energy: {
    holidays: usExchange,
    weekends: false,
    session: { openMinute: 60, closeMinute: 1380 },
  },
  london_energy: {
    holidays: londonExchange,
    weekends: false,
    session: { openMinute: 60, closeMinute: 1380 },
  },
  europe_energy: {
    holidays: europeExchange,
    weekends: false,
    session: { openMinute: 420, closeMinute: 1020 },
  },
  fx: {
    holidays: euroSettlement,
    weekends: false,
    session: { openMinute: -120, closeMinute: 1320 },
  },
  metals: { holidays: londonBank, weekends: false, session: { openMinute: 60, closeMinute: 1320 } },
  us_government: { holidays: usFederal, weekends: false },
  us_power: { holidays: usPower, weekends: true },
  weekday: { weekends: false },
  every_day: { weekends: true },
}

export const markets = Object.keys(rules) as readonly Market[]

const firstYear = 1980
const endYear = 2101
const firstDay = Date.UTC(firstYear, 0, 1) / dayMs
const endDay = Date.UTC(endYear, 0, 1) / dayMs
const closedByMarket = new Map<Market, Uint8Array>()

/**
 * One byte a day for the years that data can have: it is looked up for every point of every series,
 * where computing a date each time would dominate.
 */
function closedDays(market: Market): Uint8Array {
  const cached = closedByMarket.get(market)
  if (cached) return cached
  const days = new Uint8Array(endDay - firstDay)
  if (!rules[market].weekends)
    for (let i = 0; i < days.length; i++) days[i] = weekdayOfDay(firstDay + i) > 5 ? 1 : 0
  for (let year = firstYear; year <= endYear; year++)
    for (const day of rules[market].holidays?.(year) ?? []) days[day - firstDay] = 1
  closedByMarket.set(market, days)
  return days
}

function closedOutside(market: Market, day: number): boolean {
  const year = new Date(day * dayMs).getUTCFullYear()
  if (!rules[market].weekends && weekdayOfDay(day) > 5) return true
  return [year, year + 1].some(holidayYear => rules[market].holidays?.(holidayYear).includes(day))
}

/** Whether the market trades, sets or publishes on the UTC calendar day that contains `at`. */
export function isTradingDay(market: Market, at: number): boolean {
  const day = Math.floor(at / dayMs)
  return day >= firstDay && day < endDay
    ? closedDays(market)[day - firstDay] === 0
    : !closedOutside(market, day)
}

/** Midnight UTC of the last trading day before the day that contains `at`. */
export function previousTradingDay(market: Market, at: number): number {
  let day = startOfDay(at) - dayMs
  while (!isTradingDay(market, day)) day -= dayMs
  return day
}

/** Midnight UTC of the first trading day after the day that contains `at`. */
export function nextTradingDay(market: Market, at: number): number {
  let day = startOfDay(at) + dayMs
  while (!isTradingDay(market, day)) day += dayMs
  return day
}

/**
 * `count` trading days later at the same time of day; 0 moves an instant on a closed day to the
 * next trading day.
 */
export function addTradingDays(market: Market, at: number, count: number): number {
  const timeOfDay = at - startOfDay(at)
  let day = startOfDay(at)
  if (!isTradingDay(market, day)) day = nextTradingDay(market, day)
  for (let i = 0; i < count; i++) day = nextTradingDay(market, day)
  return day + timeOfDay
}

/** Trading from `opensAt` up to and including the closing price at `closesAt`. */
export interface Session {
  opensAt: number
  closesAt: number
}

/**
 * The session of the trading day that contains `at`; undefined on a closed day and for markets that
 * publish instead of trading.
 */
export function sessionOf(market: Market, at: number): Session | undefined {
  const { session } = rules[market]
  if (!session || !isTradingDay(market, at)) return undefined
  const day = startOfDay(at)
  return {
    opensAt: day + session.openMinute * minuteMs,
    closesAt: day + session.closeMinute * minuteMs,
  }
}

const americanCrude =
  /^(ALASKA|BAKKEN|BONITO|CANADIAN|COLD_LAKE|ACCESS_WESTERN|EAGLE_FORD|EUGENE|HEAVY_LOUISIANA|KANSAS|KERN|LIGHT_SOUR|LLOYD|LOUISIANA|MARS|MIDWAY|MIXED_SWEET|NIOBRARA|OKLAHOMA|POSEIDON|SOUTHERN_GREEN|SYNTHETIC|THUNDER|UTAH|WCS|WTI|WTL|WTS|WYOMING)/
const americanProduct =
  /_(NYH|USGC|LA|SF|CHICAGO|GROUP3|PNW)_|^(GASOLINE_RBOB|GASOLINE|DIESEL|HEATING_OIL|JET_FUEL|ULSD_DIESEL|CARB_DIESEL_LA)_USD$/
/** Gas in storage of a European country: filling levels and volumes. */
export const europeanGasStorage = /^([A-Z]{2}_GAS_STORAGE|GAS_STORAGE_[A-Z]{2}_(PERCENT|TWH))$/

/** The calendar of a series: the operator's setting, else that of its category and code. */
export const calendarOf = (listing: {
  code: string
  category: string
  calendar?: MarketName
}): Market => listing.calendar ?? marketOf(listing.category, listing.code)

/** The calendar of a code of the catalogue. */
export function marketOf(category: string, code: string): Market {
  switch (category) {
    case 'fx':
      return 'fx'
    case 'metals':
      return 'metals'
    case 'list_prices':
    case 'power':
      return 'every_day'
    case 'storage':
      return europeanGasStorage.test(code) ? 'every_day' : 'us_government'
    case 'drilling':
    case 'supply_demand':
      return 'us_government'
    case 'retail_fuels':
      return code.endsWith('_USD') ? 'us_government' : 'weekday'
    case 'indices':
      return 'us_energy'
    case 'futures':
      return /^(WTI|NATURAL_GAS)_/.test(code)
        ? 'us_energy'
        : /^(EUA|UKA|TTF)_/.test(code)
          ? 'europe_energy'
          : 'london_energy'
    case 'natural_gas':
      return gasMarket(code)
    case 'coal':
      return /^(CAPP|ILLINOIS|NAPP|PRB|UINTA)_/.test(code) ? 'us_government' : 'london_energy'
    case 'carbon':
      return /_(EUR|GBP)$/.test(code)
        ? 'europe_energy'
        : /_(USD|CAD)$/.test(code)
          ? 'us_energy'
          : 'weekday'
    case 'crude_oil':
    case 'physical_crude':
      return americanCrude.test(code) ? 'us_energy' : 'london_energy'
    case 'ngl':
      return /_(NWE|FAR_EAST|CP)_/.test(code) ? 'london_energy' : 'us_energy'
    default:
      return americanProduct.test(code) ? 'us_energy' : 'london_energy'
  }
}

function gasMarket(code: string): Market {
  if (/_(EUR|GBP)$/.test(code)) return 'europe_energy'
  if (/_AUD$/.test(code)) return 'weekday'
  return /ASIA|INDIA|JAPAN/.test(code) ? 'london_energy' : 'us_energy'
}
