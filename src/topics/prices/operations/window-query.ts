import { binaryFormats } from '../../../http/answer/table.ts'
import { dayOf, instantOf, integerOf, momentOf } from '../../../http/input/query.ts'
import {
  codesParameter,
  instantParameter,
  integerParameter,
  momentParameter,
  textParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import {
  invalidParameter,
  Problem,
  refusedParameter,
  reversedRange,
} from '../../../http/problem/problem.ts'
import { oneOf, wrongValue } from '../../../lib/text/wrong-value.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { isIntraday, priceTypes } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { dayAt } from '../../delivery/math/days.ts'
import { type Interval, intervalNames, parseInterval, validIntervals } from '../math/interval.ts'
import { precisionQuery } from './precision.ts'
import { type BarDays, barDaysOf, type CutRange, cutRangeOf, zoneQuery } from './zone-query.ts'

/** The four windows by their path, in days. */
export const windowDays = { past_day: 1, past_week: 7, past_month: 30, past_year: 365 } as const
export type WindowName = keyof typeof windowDays

const isWindow = (text: string): text is WindowName => Object.hasOwn(windowDays, text)

export const windowFormats = ['json', 'csv', 'ndjson', ...binaryFormats] as const

export const windowQuery = {
  by_code: codesParameter(
    20,
    'One to twenty codes or aliases, comma-separated. Default: the codes of the free tier.',
    'WTI_USD',
  ),
  commodity: codesParameter(20, 'Another name of `by_code`.', 'WTI_USD'),
  code: codesParameter(20, 'Another name of `by_code`.', 'WTI_USD'),
  start_date: momentParameter(
    'First day (from 00:00 UTC) or time of the range, inclusive. Replaces the window of the path.',
    '2026-11-01',
  ),
  end_date: momentParameter(
    'Last day (to 24:00 UTC) or time of the range, inclusive. Without `start_date` the window ends here.',
    '2026-11-15',
  ),
  days: integerParameter(
    'Length of the window in days, 1 to 365; ignored when dates or `period` are given.',
    14,
    { minimum: 1, maximum: 365 },
  ),
  interval: wordParameter(
    validIntervals,
    'raw, minute, hour, day, week or month, in any of the accepted spellings. Default: raw for short windows, otherwise bars; see the metadata.',
    'day',
  ),
  by_type: wordParameter(
    priceTypes,
    'Only series of this type; `spot_price` means no filter.',
    'spot_price',
  ),
  currency: textParameter(
    'Converts prices to this currency, each row at the rate of its UTC day (for a bar, the day of its last observation): the last close of the rate on that day or the seven days before it, through USD or EUR if no series pairs the two. A row without such a rate is refused (400). See `fx_rate` and `fx_on`; with `as_of` the rate known at that time.',
    'EUR',
    { pattern: '^[A-Za-z]{3}$' },
  ),
  ...precisionQuery,
  ...zoneQuery,
  format: wordParameter(
    windowFormats,
    '`json`, `csv`, `ndjson` (one row per line, without metadata), `parquet`, `arrow` or `xlsx`; for csv and ndjson `Accept` works too. Without `page` and `per_page`, all but json return up to 10,000 rows on one page.',
    'json',
  ),
}

export const movingWindowQuery = {
  period: wordParameter(
    Object.keys(windowDays),
    '`past_day`, `past_week`, `past_month` or `past_year` instead of the window of the path.',
    'past_week',
  ),
  as_of: instantParameter(
    'Returns the prices known at this time, as raw rows. Before `X-Vintage-Revision-Coverage-Since`, the start of complete revision history, the first recorded values are returned.',
    '2026-11-01T12:00:00Z',
  ),
}

/** The parameters of a request as they came. */
export type WindowQuery = Readonly<Record<string, string | undefined>>

export interface Range {
  from: number
  /** Exclusive. */
  to: number
  /** The exclusive end of a series, where it comes before that of the range. */
  endOf?: (seriesId: number) => number
  /**
   * The range without parts that move with the clock: the same request a moment later has the same.
   */
  fixed: string
}

/**
 * Where a range ends that names no end: each series now, or with the market day that is being
 * delivered. A value of tomorrow is there when `end_date` reaches it.
 */
export function openEndOf(series: readonly Series[], now: number): Pick<Range, 'to' | 'endOf'> {
  const ends = new Map(
    series.map(({ id, delivery }) => [id, delivery ? dayAt(delivery, now).to : now + 1]),
  )
  const to = Math.max(now + 1, ...ends.values())
  // Gas days and power days end at different times, and must not lend each other a part of a day.
  return [...ends.values()].every(end => end === to)
    ? { to }
    : { to, endOf: seriesId => ends.get(seriesId) ?? to }
}

/**
 * The requested range: a day overrides dates, dates override a period, a period overrides days,
 * days override the path.
 */
export function rangeOf(
  query: WindowQuery,
  pathDays: number,
  now: number,
  openEnd: Pick<Range, 'to' | 'endOf'> = { to: now + 1 },
): Range {
  if (query.at) {
    const day = dayOf('at', query.at)
    return { from: day, to: day + dayMs, fixed: query.at }
  }
  const start = momentOf('start_date', query.start_date, 'start')
  const end = momentOf('end_date', query.end_date, 'end')
  if (start !== undefined || end !== undefined)
    return datedRange(query, start, end, pathDays, openEnd)
  const days = daysOf(query, pathDays)
  return { from: now - days * dayMs, ...openEnd, fixed: `${days} days` }
}

/**
 * The range of a query whose last moment is `at`, by the days of its series; `fallbackDays`: its
 * length where the query names none.
 */
export function requestedRange(
  query: WindowQuery,
  series: readonly Series[],
  fallbackDays: number,
  at: number,
): { range: Range; days: BarDays | undefined; cut: CutRange | undefined } {
  const asked = rangeOf(query, fallbackDays, at, openEndOf(series, at))
  const days = barDaysOf(query)
  const cut = days && cutRangeOf(days, series, query, asked)
  return { range: { ...asked, ...(cut && { from: cut.from, to: cut.to }) }, days, cut }
}

/** Whether a query states its own span. */
export const hasRange = ({ at, start_date, end_date, days, period }: WindowQuery): boolean =>
  [at, start_date, end_date, days, period].some(Boolean)

function daysOf({ period, days }: WindowQuery, pathDays: number): number {
  if (!period) return integerOf('days', days, pathDays, 1, 365)
  if (!isWindow(period)) throw invalidParameter('period', period, Object.keys(windowDays))
  return windowDays[period]
}

function datedRange(
  query: WindowQuery,
  start: number | undefined,
  end: number | undefined,
  pathDays: number,
  openEnd: Pick<Range, 'to' | 'endOf'>,
): Range {
  const until = end === undefined ? openEnd : { to: end }
  const from = start ?? until.to - pathDays * dayMs
  if (from < until.to) return { from, ...until, fixed: `${from} to ${end ?? 'now'}` }
  throw reversedRange(query)
}

/** A parameter for the length of bars; a day if it is absent. */
export const intervalParameter = (description: string) =>
  wordParameter(validIntervals, description, 'day', { default: 'day' })

/** The refusal of an interval; `right` says in words what it may be. */
export const invalidInterval = (text: string, right: string, intervals: readonly string[]) =>
  new Problem('invalid_interval', wrongValue('interval', right, text, intervals), {
    interval: text.slice(0, 100),
    valid_intervals: intervals,
  })

/** An accepted spelling of an interval, or undefined when none was given. */
export function intervalOf(text: string | undefined): Interval | undefined {
  if (text === undefined || text === '') return undefined
  const interval = parseInterval(text)
  if (interval === undefined) throw invalidInterval(text, oneOf(intervalNames), validIntervals)
  return interval
}

const rawDaysMax = 31

/**
 * The interval that is served. Where the query names none, short windows come as published and long
 * ones as bars; raw rows of an intraday code over more than 31 days come as hours. `downsampled`:
 * bars replace the raw rows that the request would get.
 */
export function servedInterval(
  requested: Interval | undefined,
  series: readonly Series[],
  range: Range,
): { interval: Interval; downsampled: boolean } {
  const intraday = series.some(entry => isIntraday(entry.cadence))
  const days = (range.to - range.from) / dayMs
  if (requested === 'raw' || requested === 'minute') {
    return intraday && days > rawDaysMax + 1e-6
      ? { interval: 'hour', downsampled: true }
      : { interval: requested, downsampled: false }
  }
  if (requested) return { interval: requested, downsampled: false }
  const dense = intraday || series.some(entry => entry.cadence === 'twice_daily')
  if (days <= 1 + 1e-6) return { interval: 'raw', downsampled: false }
  if (days <= 7 + 1e-6)
    return intraday
      ? { interval: 'hour', downsampled: true }
      : { interval: 'raw', downsampled: false }
  return dense ? { interval: 'day', downsampled: true } : { interval: 'raw', downsampled: false }
}

/** `as_of` of a query; it is answered with raw rows. */
export function asOfOf(
  text: string | undefined,
  interval: Interval | undefined,
): number | undefined {
  const at = instantOf('as_of', text)
  if (at === undefined) return undefined
  if (interval !== undefined && interval !== 'raw')
    throw refusedParameter(
      'as_of',
      text,
      'as_of returns raw rows, so interval must be raw or absent. For past bars use /v1/prices/chart or /v1/export/prices.',
    )
  return at
}
