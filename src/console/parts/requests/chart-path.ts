import { dayMs, isoDay } from '../../../lib/time/instant.ts'

export const ranges = [
  { value: '1w', text: '1 W', days: 7 },
  { value: '1m', text: '1 M', days: 31 },
  { value: '3m', text: '3 M', days: 92 },
  { value: '1y', text: '1 Y', days: 366 },
  { value: '3y', text: '3 Y', days: 3 * 365.25 },
  { value: '10y', text: '10 Y', days: 10 * 365.25 },
] as const

export const daysOf = (query: Record<string, string>): number =>
  ranges.find(({ value }) => value === query.range)?.days ?? 366

/** The chart of a code for so many days, in bars of an interval where it has one. */
const pathOf = (code: string, days: number, interval: string, asOf: string, now: number): string =>
  `/v1/prices/chart?${new URLSearchParams({
    code,
    start_date: isoDay(now - days * dayMs),
    ...(interval && { interval }),
    ...(asOf && { as_of: `${asOf}T23:59:59Z` }),
  })}`

/** The chart of a code, as the address of its page asks for it. */
export function chartPath(code: string, query: Record<string, string>, now: number): string {
  const { interval, type, as_of: asOf = '' } = query
  const days = daysOf(query)
  return pathOf(code, days, interval || (type === 'candles' ? candlesOf(days) : ''), asOf, now)
}

/**
 * The interval with few enough candles to have readable bodies: many series have one price a day.
 */
const candlesOf = (days: number): string =>
  days <= 8 ? 'hour' : days <= 100 ? 'day' : days <= 1200 ? 'week' : 'month'

/** The codes of the chart on the first page of a demo instance, and half a year of one. */
export const homeCodes = ['BRENT_CRUDE_USD', 'WTI_USD'] as const
export const homeChartPath = (code: string, now: number, asOf = ''): string =>
  pathOf(code, 183, 'day', asOf, now)
