import { forecast } from '../../analytics/math/forecast.ts'
import { daysIn, monthAfter, monthOf } from '../../calendars/math/period.ts'
import { type Close, closesIn, daysBetween } from '../../prices/math/window.ts'
import { firstAt, meanBetween } from './forecast-accuracy.ts'

export const forecastCodes: readonly string[] = [
  'BRENT_CRUDE_USD',
  'WTI_USD',
  'NATURAL_GAS_USD',
  'GASOLINE_USD',
  'HEATING_OIL_USD',
  'DIESEL_USD',
  'JET_FUEL_USD',
  'DUTCH_TTF_EUR',
  'NATURAL_GAS_GBP',
  'JKM_LNG_USD',
  'COAL_USD',
  'EU_CARBON_EUR',
]

/** The running month and so many after it. */
export const monthsAhead = 12

const lookbackDays = 365
/**
 * A trend of the past year fades: after this many days it has given 1 - 1/e of all it ever will.
 */
const driftDays = 30
/** Standard normal deviate that nine of ten draws stay within. */
const bandDeviations = 1.645

/** The mean price that is expected of a month, and where it is in nine cases of ten. */
export interface MonthForecast {
  /** `YYYY-MM`. */
  month: string
  value: number
  low: number
  high: number
}

export interface MonthlyForecast {
  months: MonthForecast[]
  /** Closes in the lookback. */
  dataPoints: number
}

/**
 * Forecasts of months from daily closes (ascending), the first month being that of `day` or later.
 * Value = last x exp(drift x 30 x (1 - exp(-h / 30))), h the calendar days from the last close to
 * the middle of the month, drift half the log slope of ema(20) over 365 days by the calendar day;
 * band = value x exp(+-1.645 sigma sqrt(h)), sigma a calendar day. The past days of a running month
 * enter with their own mean. Undefined with too few closes, or when one of the 365 days is not
 * positive.
 */
export function monthlyForecast(
  closes: readonly Close[],
  months: readonly string[],
): MonthlyForecast | undefined {
  const run = forecast(closes, 'combined', lookbackDays, [])
  const last = closes.at(-1)
  if (!run.enough || !last) return undefined
  const inside = closesIn(closes, lookbackDays)
  const returnsADay = (inside.length - 1) / Math.max(1, daysBetween(inside[0]!.day, last.day))
  const sigma = run.value.sigma * Math.sqrt(returnsADay)
  const drift = (run.value.drift * returnsADay) / 2
  const ahead = (days: number, width: number) => {
    const value = last.value * Math.exp(drift * driftDays * (1 - Math.exp(-days / driftDays)))
    const spread = bandDeviations * sigma * Math.sqrt(days) * width
    return { value, low: value * Math.exp(-spread), high: value * Math.exp(spread) }
  }
  const forecastOf = (month: string): MonthForecast => {
    const days = daysIn(month)
    const begun = monthOf(last.day) === month ? Number(last.day.slice(8)) : 0
    const share = begun / days
    const daysLeft = Math.max(0, daysBetween(last.day, `${month}-01`) + (begun + days) / 2)
    const rest = ahead(daysLeft, 1)
    const past = meanBetween(closes, `${month}-01`, last.day)
    if (past === undefined) return { month, ...rest }
    const mixed = (value: number) => share * past + (1 - share) * value
    return { month, value: mixed(rest.value), low: mixed(rest.low), high: mixed(rest.high) }
  }
  return { months: months.map(forecastOf), dataPoints: run.value.dataPoints }
}

/**
 * Forecasts come out at the beginning of each month, from the closes of the days before: 06:00 UTC
 * on the first.
 */
export const forecastPublishedAt = (month: string): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1, 1, 6)

/** The month whose publication was the last one at `at`. */
export function lastPublication(today: string, at: number): string {
  const month = monthOf(today)
  return forecastPublishedAt(month) <= at ? month : monthAfter(month, -1)
}

export const closesBefore = (closes: readonly Close[], day: string): Close[] =>
  closes.slice(0, firstAt(closes, day))
