import { dayMs, hourMs, isoDay, startOfDay } from '../../../lib/time/instant.ts'
import { previousTradingDay } from '../../calendars/math/calendar.ts'
import { daysIn, endOfMonth, monthAfter, monthOf } from '../../calendars/math/period.ts'

/** States with data for single wells. */
export const wellStates: readonly string[] = ['AK', 'ND', 'NM', 'TX']

/**
 * Thousand cubic feet of gas that have the energy of a barrel of oil, by the convention of the
 * industry.
 */
const mcfPerBoe = 6

/** Barrels of oil equivalent of a month's oil and gas; undefined where neither is known. */
export function oilEquivalent(oilBbl: number | null, gasMcf: number | null): number | undefined {
  return oilBbl === null && gasMcf === null ? undefined : (oilBbl ?? 0) + (gasMcf ?? 0) / mcfPerBoe
}

/** The daily mean of a `YYYY-MM` month's production. */
export const perDay = (volume: number, month: string): number => volume / daysIn(month)

/**
 * When the production of a month is published, Unix ms: on the last working day of the second month
 * after it, at 15:00 UTC.
 */
export const productionPublishedAt = (month: string): number =>
  previousTradingDay('us_government', endOfMonth(monthAfter(month, 2))) + 15 * hourMs

export function newestPublishedMonth(now: number): string {
  let month = monthAfter(monthOf(isoDay(now)), -2)
  while (productionPublishedAt(month) > now) month = monthAfter(month, -1)
  return month
}

/** 62 days until a month is published, 31 until the next one is, and two weeks. */
const staleDays = 62 + 31 + 14

/** How long ago the newest month ended; `stale` once the next one is two weeks overdue. */
export function productionAge(
  newestMonth: string,
  now: number,
): { ageDays: number; stale: boolean } {
  const ageDays = Math.max(0, (startOfDay(now) - endOfMonth(newestMonth)) / dayMs)
  return { ageDays, stale: ageDays > staleDays }
}
