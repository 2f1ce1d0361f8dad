import { dayMs, isoDay, parseDay, parseInstant } from '../../lib/time/instant.ts'
import { monthNumber } from '../../lib/time/month-names.ts'

/** Kinds of periods by the number under which they are stored. */
export const storedKinds = ['day', 'week', 'month', 'quarter', 'year'] as const

/**
 * The period that a value covers. A week is named by the day that its publisher gives it; `instant`
 * is the start of a delivery period, whose length the series defines.
 */
export const periodKinds = ['instant', ...storedKinds] as const
export type PeriodKind = (typeof periodKinds)[number]

/**
 * The number that a period kind is stored as; a series never has both delivery periods and days.
 */
export const storedKind = (kind: PeriodKind): number =>
  kind === 'instant' ? 0 : storedKinds.indexOf(kind)

const patterns = {
  instant: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
  month: /^\d{4}-(?:0[1-9]|1[0-2])$/,
  quarter: /^\d{4}-Q[1-4]$/,
  year: /^\d{4}$/,
} as const

/** Whether a text is a period of a kind as it is stored: `2026-08-18`, `2026-08`, `2026-Q3`, `2026`. */
export const isPeriod = (text: string, kind: PeriodKind): boolean =>
  kind === 'day' || kind === 'week' ? parseDay(text) !== undefined : patterns[kind].test(text)

/** Normalizes `20260818`, `202608`, `2026Q3`, `2026M05`, `2026-Q3` and stored periods. */
export function periodOf(written: string, kind: PeriodKind): string | undefined {
  const text = written.trim()
  if (isPeriod(text, kind)) return text
  const period = spelled(text.slice(0, 4), text.slice(4).replaceAll('-', ''), kind)
  return isPeriod(period, kind) ? period : undefined
}

function spelled(year: string, rest: string, kind: PeriodKind): string {
  if (kind === 'day' || kind === 'week') return `${year}-${rest.slice(0, 2)}-${rest.slice(2)}`
  if (kind === 'month') return `${year}-${rest.replace(/^M/i, '')}`
  return kind === 'quarter' ? `${year}-${rest.toUpperCase()}` : year + rest
}

/** The days that a period is of, `from` to before `to`, as midnights UTC. A week is the seven days up to its day. */
export function spanOf(period: string, kind: PeriodKind): { from: number; to: number } {
  const first = firstOf(period, kind)
  if (kind === 'instant') return { from: first, to: first + 1 }
  if (kind === 'day') return { from: first, to: first + dayMs }
  if (kind === 'week') return { from: first - 6 * dayMs, to: first + dayMs }
  const months = { month: 1, quarter: 3, year: 12 }[kind]
  const [year, month] = isoDay(first).split('-').map(Number)
  return { from: first, to: Date.UTC(year!, month! - 1 + months, 1) }
}

/** Midnight UTC under which the value of a period is stored: the day itself, or the first day of a longer one. */
export function firstOf(period: string, kind: PeriodKind): number {
  if (kind === 'instant') return parseInstant(period)!
  if (kind === 'day' || kind === 'week') return parseDay(period)!
  if (kind === 'month') return parseDay(`${period}-01`)!
  if (kind === 'year') return parseDay(`${period}-01-01`)!
  const month = 3 * Number(period.slice(6)) - 2
  return Date.UTC(Number(period.slice(0, 4)), month - 1, 1)
}

/** The period that contains a day: `2026-08` for 2026-08-18. */
export function periodWith(day: string, kind: PeriodKind): string {
  if (kind === 'instant') return `${day}T00:00:00Z`
  if (kind === 'day' || kind === 'week') return day
  if (kind === 'month') return day.slice(0, 7)
  if (kind === 'year') return day.slice(0, 4)
  return `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`
}

const isoOf = (year: string, month: string, day: string): string | undefined => {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return parseDay(text) === undefined ? undefined : text
}

/** Two digits of a year: 70 to 99 are of the last century. */
const yearOf = (digits: string): string =>
  digits.length === 4 ? digits : `${Number(digits) < 70 ? '20' : '19'}${digits}`

/** `7/10/26` as Americans write it: the tenth of July. */
export function americanDay(written: string): string | undefined {
  const [, month = '', day = '', year = ''] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{2}|\d{4})$/.exec(written.trim()) ?? []
  return year && isoOf(yearOf(year), month, day)
}

/** `10/07/2026` as the British write it: the tenth of July. */
export function britishDay(written: string): string | undefined {
  const [, day = '', month = '', year = ''] =
    /^(\d{1,2})\/(\d{1,2})\/(\d{2}|\d{4})$/.exec(written.trim()) ?? []
  return year && isoOf(yearOf(year), month, day)
}

/** `13 April 2026` and `2026-Jul-09 00:00:00`. */
export function namedDay(written: string): string | undefined {
  const text = written.trim()
  const british = /^(\d{1,2}) ([A-Za-z]{3})[a-z]* (\d{4})$/.exec(text)
  const stamped = /^(\d{4})-([A-Za-z]{3})-(\d{2})(?: |$)/.exec(text)
  const [year, name, day] = british
    ? [british[3]!, british[2]!, british[1]!]
    : [stamped?.[1] ?? '', stamped?.[2] ?? '', stamped?.[3] ?? '']
  const month = monthNumber(name)
  return month > 0 ? isoOf(year, String(month), day) : undefined
}

const excelEpoch = Date.UTC(1899, 11, 30)

/** The day of a serial number in a workbook: 46030 is 2026-01-08. Times of day are dropped. */
export function serialDay(serial: number): string | undefined {
  if (!(serial >= 1 && serial < 2_958_466)) return undefined
  return isoDay(excelEpoch + Math.floor(serial) * dayMs)
}

/** The day at the start of an ISO timestamp, whatever its time of day. */
export function leadingDay(written: string): string | undefined {
  const day = written.trim().slice(0, 10)
  return parseDay(day) === undefined ? undefined : day
}
