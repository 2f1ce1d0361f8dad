import type { BarInterval } from './bars.ts'

export type Interval = 'raw' | 'minute' | BarInterval

const spellings: Record<Interval, readonly string[]> = {
  raw: ['raw', 'tick'],
  minute: ['minute', '1min', 'min', 'minutely'],
  hour: ['1h', 'h', 'hour', '1hour', 'hourly'],
  day: ['1d', 'd', 'day', '1day', 'daily'],
  week: ['1w', 'w', 'week', '1week', 'weekly', 'w-sun', 'week-sun', 'weekly-sun'],
  'w-mon': ['w-mon', 'week-mon', 'weekly-mon'],
  'w-tue': ['w-tue', 'week-tue', 'weekly-tue'],
  'w-wed': ['w-wed', 'week-wed', 'weekly-wed'],
  'w-thu': ['w-thu', 'week-thu', 'weekly-thu'],
  'w-fri': ['w-fri', 'week-fri', 'weekly-fri'],
  'w-sat': ['w-sat', 'week-sat', 'weekly-sat'],
  month: ['1m', 'm', 'month', '1month', 'monthly'],
  quarter: ['1q', 'q', 'quarter', '1quarter', 'quarterly'],
  year: ['1y', 'y', 'year', '1year', 'annual'],
}

const intervalOf = new Map(
  Object.entries(spellings).flatMap(([interval, names]) =>
    names.map(name => [name, interval as Interval]),
  ),
)

/** The interval of stored rows: prices by the minute are rows as they came. */
export const storedInterval = (interval: Interval): 'raw' | BarInterval =>
  interval === 'minute' ? 'raw' : interval

/** The intervals by their plain names, for messages. */
export const intervalNames = ['raw', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']

/** Every accepted spelling, in the order of length of the interval. */
export const validIntervals: readonly string[] = Object.values(spellings).flat()

/** The interval that a spelling means, in any case; undefined for an unknown one. */
export const parseInterval = (text: string): Interval | undefined =>
  intervalOf.get(text.trim().toLowerCase())
