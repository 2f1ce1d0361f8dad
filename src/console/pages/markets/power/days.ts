import { dayMs, isoDay } from '../../../../lib/time/instant.ts'
import { dataOf, whereThere } from '../../../parts/requests/ask.ts'
import { now } from '../../../parts/requests/boot.ts'

export interface Period {
  start: string
  end: string
  price: number | null
}

export interface Day {
  code: string
  name: string
  currency: string | null
  unit: string
  date: string
  zone: string
  resolution: string
  complete: boolean
  base: number | null
  peak: number | null
  off_peak: number | null
  negative_periods: number
  min: Period | null
  max: Period | null
  periods: Period[]
}

export const after = (date: string, days: number): string => isoDay(Date.parse(date) + days * dayMs)

/** A day of delivery; undefined where it has too few prices yet. */
export const dayOf = (code: string, query: string, signal: AbortSignal): Promise<Day | undefined> =>
  whereThere(dataOf<Day>(`/v1/delivery/${code}${query}`, { signal }))

export interface TwoDays<D> {
  today: D | undefined
  tomorrow: D | undefined
}

/** Figures of a day that has prices. */
export interface DayFigures {
  date: string
  start: string
  end: string
  base: number | null
  peak: number | null
  min: number | null
  max: number | null
}

export interface Days {
  currency: string | null
  unit: string
  days: DayFigures[]
}

/** The days of a range that have prices: others need not be asked for. */
export const daysOf = (
  code: string,
  start: string,
  end: string,
  signal: AbortSignal,
): Promise<Days> => dataOf<Days>(`/v1/delivery/${code}/days?start=${start}&end=${end}`, { signal })

/** The days around now: a market may be a day ahead of UTC or behind it. */
export async function daysAround(code: string, signal: AbortSignal) {
  const date = isoDay(now())
  const { days, currency, unit } = await daysOf(code, after(date, -1), after(date, 2), signal)
  const today = days.find(({ start, end }) => Date.parse(start) <= now() && now() < Date.parse(end))
  return { currency, unit, today, tomorrow: days.find(({ start }) => Date.parse(start) > now()) }
}

export async function twoDays(code: string, signal: AbortSignal): Promise<TwoDays<Day>> {
  const { today, tomorrow } = await daysAround(code, signal)
  const whole = async (day: DayFigures | undefined) =>
    day && (await dayOf(code, `?date=${day.date}`, signal))
  return { today: await whole(today), tomorrow: await whole(tomorrow) }
}
