import { dayMs, isoInstant, parseDay, parseInstant } from '../lib/time/instant.ts'

export const earliestAt = parseDay('1900-01-01')!

/** Clocks of publishers run ahead and days begin earlier in the east: a day of grace. */
export const latestAt = (now: number): number => now + dayMs

const blanks = new Set(['', '.', 'N/A', 'n/a', 'NA', 'w', 'W'])

/** Publishers' marks for a missing value: empty, `.`, `N/A`, `NA`, `w` (withheld); null in JSON. */
export const isBlank = (price: unknown): boolean =>
  price === null || (typeof price === 'string' && blanks.has(price.trim()))

/**
 * `value` times `scale` as decimals have it, without the noise of binary fractions: to 12
 * significant digits, more than any publisher prints.
 */
export const scaled = (value: number, scale: number): number =>
  scale === 1 ? value : Number((value * scale).toPrecision(12))

const zoneless = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/
const rightTime =
  'write an instant with its zone, such as 2024-03-28T14:30:00Z, or a day, such as 2024-03-28'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const englishDay = /^([A-Z][a-z]{2}) (\d{2}), (\d{4})$/

/**
 * `Aug 20, 1982`, as the tables of the Energy Information Administration write their weeks: the one
 * other spelling that means one day only.
 */
function englishDayOf(text: string): number | undefined {
  const [, month, date, year] = englishDay.exec(text) ?? []
  const index = months.indexOf(month?.toLowerCase() ?? '')
  return index < 0 ? undefined : parseDay(`${year}-${String(index + 1).padStart(2, '0')}-${date}`)
}

const dayInWords = /^(\d{1,2}) ([A-Z][a-z]{2,8}) (\d{4})$/

/** `13 April 2026`, as the European Central Bank writes its day. */
function dayInWordsOf(text: string): number | undefined {
  const [, date = '', month = '', year] = dayInWords.exec(text) ?? []
  const index = months.indexOf(month.slice(0, 3).toLowerCase())
  return index < 0
    ? undefined
    : parseDay(`${year}-${String(index + 1).padStart(2, '0')}-${date.padStart(2, '0')}`)
}

const period = /^(\d{4})(?:-(0[1-9]|1[0-2])|M(0?[1-9]|1[0-2])|-?Q([1-4]))$/

/** The first day of a month or a quarter: `1997-01`, `2026M05`, `2026-Q3`. */
function periodStartOf(text: string): number | undefined {
  const [, year, dashed, counted, quarter] = period.exec(text) ?? []
  if (year === undefined) return undefined
  const month = dashed ?? counted ?? String(3 * Number(quarter) - 2)
  return parseDay(`${year}-${month.padStart(2, '0')}-01`)
}

const timeOf = (text: string): number | undefined =>
  (text.length === 10 ? parseDay(text) : parseInstant(text)) ??
  englishDayOf(text) ??
  dayInWordsOf(text) ??
  periodStartOf(text)

/**
 * Unix ms of an ISO 8601 instant with a zone, of a bare day (its midnight UTC) or of the first day
 * of a month or a quarter; otherwise the fault as a sentence, with the name of the field.
 */
export function instantOf(time: unknown, now: number, field = 'observed_at'): number | string {
  if (typeof time !== 'string' || time.trim() === '')
    return `${field} ${absent(time)}: ${rightTime}`
  const text = time.trim()
  const at = timeOf(text)
  if (at === undefined) {
    if (!zoneless.test(text)) return `${field} ${shown(text)} is not a time: ${rightTime}`
    const utc = `${text.replace(' ', 'T')}Z`
    if (parseInstant(utc) === undefined)
      return `${field} ${shown(text)} is not in the calendar or on the clock: ${rightTime}`
    return `${field} ${text} has no zone: write ${utc} if it is UTC, otherwise end it with the offset, such as ${text.replace(' ', 'T')}+01:00`
  }
  if (at < earliestAt)
    return `${field} ${shown(text)} is before 1900: times from 1900-01-01 on are accepted`
  if (at > latestAt(now))
    return `${field} ${shown(text)} is in the future: times up to ${isoInstant(latestAt(now))} are accepted`
  return at
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const rightNumber =
  'write a decimal number with a point and without thousands separators, such as 1234.5, -36.98 or .833'

/** A JSON number or a plain decimal in text; otherwise the fault as a sentence. */
export function numberOf(price: unknown): number | string {
  if (typeof price === 'string') {
    const text = price.trim()
    if (!decimal.test(text)) return `price ${shown(text)} is not a plain number: ${rightNumber}`
    price = Number(text)
    if (!Number.isFinite(price))
      return `price ${shown(text)} is too large for a number: ${rightNumber}`
  }
  if (typeof price !== 'number') return `price ${absent(price)}: ${rightNumber}`
  if (!Number.isFinite(price)) return `price ${price} is not a finite number: ${rightNumber}`
  // Minus zero would come back as another number than it was sent.
  return price + 0
}

/** The fault of a value that is missing, or is not text where text is required. */
export function absent(value: unknown): string {
  if (value === undefined || value === null) return 'is missing'
  return typeof value === 'string' ? 'is empty' : `${shown(value)} has the wrong type`
}

/**
 * A value as a message shows it: at most 60 characters, control characters escaped, so that it
 * stays on one line.
 */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  const cut = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return JSON.stringify(cut) === `"${cut}"` && cut.trim() === cut && cut !== ''
    ? cut
    : JSON.stringify(cut)
}
