import { dayMs, isoDay } from '../../../../lib/time/instant.ts'
import type { DeliveryDay, DeliveryDays } from '../../../../topics/delivery/operations/delivery.ts'
import { dataOf, whereThere } from '../../../parts/requests/ask.ts'
import { dayAgo, now } from '../../../parts/requests/boot.ts'

export type Period = DeliveryDay['periods'][number]

export const after = (date: string, days: number): string => isoDay(Date.parse(date) + days * dayMs)

/** A day of delivery; undefined where it has too few prices yet. */
export const dayOf = (code: string, query: string, signal: AbortSignal) =>
  whereThere(dataOf<DeliveryDay>(`/v1/delivery/${code}${query}`, { signal }))

export interface TwoDays<D> {
  today: D | undefined
  tomorrow: D | undefined
}

/** Figures of a day that has prices. */
export type DayFigures = DeliveryDays['days'][number]

/** The days of a range that have prices: others need not be asked for. */
export const daysOf = (code: string, start: string, end: string, signal: AbortSignal) =>
  dataOf<DeliveryDays>(`/v1/delivery/${code}/days?start=${start}&end=${end}`, { signal })

/** The days around now: a market may be a day ahead of UTC or behind it. */
export async function daysAround(code: string, signal: AbortSignal) {
  const { days, currency, unit } = await daysOf(code, dayAgo(1), dayAgo(-2), signal)
  const today = days.find(({ start, end }) => Date.parse(start) <= now() && now() < Date.parse(end))
  return { currency, unit, today, tomorrow: days.find(({ start }) => Date.parse(start) > now()) }
}

export async function twoDays(code: string, signal: AbortSignal): Promise<TwoDays<DeliveryDay>> {
  const { today, tomorrow } = await daysAround(code, signal)
  const whole = async (day: DayFigures | undefined) =>
    day && (await dayOf(code, `?date=${day.date}`, signal))
  return { today: await whole(today), tomorrow: await whole(tomorrow) }
}
