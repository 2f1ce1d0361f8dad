import { parseDay, startOfNextMonth } from '../../../lib/time/instant.ts'
import { dayAfter } from '../../prices/math/window.ts'

/** A calendar month or quarter that a forecast is of. */
export interface Period {
  /** `2026-12` or `2026-Q4`. */
  text: string
  /** `YYYY-MM`, one or three. */
  months: readonly string[]
  firstOn: string
  lastOn: string
}

const monthPattern = /^(\d{4})-(0[1-9]|1[0-2])$/
const quarterPattern = /^(\d{4})-[Qq]([1-4])$/

/** Whether a text is a `YYYY-MM`. */
export const isMonth = (text: string): boolean => monthPattern.test(text)

export const monthOf = (day: string): string => day.slice(0, 7)

/** `YYYY-MM`, `count` months later. */
export function monthAfter(month: string, count: number): string {
  const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + count
  return `${String(Math.floor(index / 12)).padStart(4, '0')}-${String((index % 12) + 1).padStart(2, '0')}`
}

const lastDayOf = (month: string): string => dayAfter(`${monthAfter(month, 1)}-01`, -1)

/** The number of days of a `YYYY-MM`. */
export const daysIn = (month: string): number => Number(lastDayOf(month).slice(8))

/** Midnight UTC at which the month after a `YYYY-MM` begins. */
export const endOfMonth = (month: string): number => startOfNextMonth(parseDay(`${month}-01`)!)

/** `2026-12` or `2026-Q4`; undefined for anything else. */
export function parsePeriod(text: string): Period | undefined {
  const trimmed = text.trim()
  const quarter = quarterPattern.exec(trimmed)
  if (!quarter && !monthPattern.test(trimmed)) return undefined
  const first = quarter
    ? `${quarter[1]}-${String(3 * Number(quarter[2]) - 2).padStart(2, '0')}`
    : trimmed
  const months = quarter ? [first, monthAfter(first, 1), monthAfter(first, 2)] : [first]
  return {
    text: trimmed.toUpperCase(),
    months,
    firstOn: `${first}-01`,
    lastOn: lastDayOf(months.at(-1)!),
  }
}
