export type Interval = 'raw' | 'minute' | 'hour' | 'day' | 'week' | 'month'

const spellings: Record<Interval, readonly string[]> = {
  raw: ['raw', 'tick'],
  minute: ['minute', '1min', 'min', 'minutely'],
  hour: ['1h', 'h', 'hour', '1hour', 'hourly'],
  day: ['1d', 'd', 'day', '1day', 'daily'],
  week: ['1w', 'w', 'week', '1week', 'weekly'],
  month: ['1m', 'm', 'month', '1month', 'monthly'],
}

const intervalOf = new Map(
  Object.entries(spellings).flatMap(([interval, names]) =>
    names.map(name => [name, interval as Interval]),
  ),
)

/** Every accepted spelling, in the order of length of the interval. */
export const validIntervals: readonly string[] = Object.values(spellings).flat()

/** The interval that a spelling means, in any case; undefined for an unknown one. */
export const parseInterval = (text: string): Interval | undefined =>
  intervalOf.get(text.trim().toLowerCase())
