import { shown } from '../../datasets/cell.ts'
import { wrongValue } from '../../lib/text/wrong-value.ts'
import {
  dayMs,
  isoDay,
  isoInstant,
  parseDay,
  parseInstant,
  secondMs,
} from '../../lib/time/instant.ts'
import { monthNumber } from '../../lib/time/month-names.ts'
import { minuteOf, momentAt, zoneName } from '../../lib/time/zone.ts'
import { zoneClock } from '../../lib/time/zone-clock.ts'

/** The notation of days and numbers in a file, where it is not the usual one. */
export interface SpellingOptions {
  /** `DD/MM/YYYY`, `D MMMM YYYY`, `%Y%m%d`, or `serial` for the day numbers of spreadsheets. */
  dateFormat?: string
  /** `1.234,56` is 1234.56. */
  decimalComma?: boolean
  /** The time of day of a value that comes with its day alone: `16:00`. */
  time?: string
  /** The zone of that time, and of times without one. */
  zone?: string
}

/** The option that reads a cell which the usual notation does not. */
export type Notation = 'decimal_comma' | 'date_format' | 'time_format'

const commaNumber = /^[+-]?[\d.]*\d,\d+$/
const otherDay = /^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}$/
const otherTime = /^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}[T ]+\d{1,2}:\d{2}(:\d{2})?$/

/** The notations of a refused row: with the first of two faults it shows both. */
export function notationsOf(row: { observedAt: unknown; price: unknown }): Notation[] {
  const has = (notation: RegExp, cell: unknown) =>
    typeof cell === 'string' && notation.test(cell.trim())
  const found: Notation[] = []
  if (has(commaNumber, row.price)) found.push('decimal_comma')
  if (has(otherDay, row.observedAt)) found.push('date_format')
  if (has(otherTime, row.observedAt)) found.push('time_format')
  return found
}

/** Cells in the usual spelling. */
export interface Spelling {
  /** Converts a time to ISO 8601, or returns it unchanged; a fault describes the correct form. */
  time(written: unknown): Spelt
  number(written: unknown): Spelt
  /** Converts a cell of unknown kind, if it can only be one. */
  cell(written: unknown): unknown
}

export type Spelt = { value: unknown } | { fault: string }

/** Undefined where everything is written the usual way. Throws a sentence that names the option. */
export function spellingOf(options: SpellingOptions): Spelling | undefined {
  const { dateFormat, decimalComma = false, time, zone } = options
  if (dateFormat === undefined && !decimalComma && time === undefined && zone === undefined)
    return undefined
  const zoneId = zone === undefined ? undefined : zoneName(zone)
  if (zone !== undefined && zoneId === undefined)
    throw new Error(wrongValue('--zone', 'the name of a time zone, such as America/New_York', zone))
  const minute = time === undefined ? undefined : minuteOf(time)
  if (time !== undefined && minute === undefined)
    throw new Error(wrongValue('--time', 'a time of day, such as 16:00', time))
  const days = dateFormat === undefined ? undefined : dayParser(dateFormat)
  const zoned = (text: string): Spelt =>
    zoneId === undefined ? { value: text } : inZone(text, zoneId)
  const inPlace = (text: string): Spelt =>
    minute !== undefined && parseDay(text) !== undefined
      ? { value: isoInstant(momentAt(text, minute, zoneId ?? 'UTC')) }
      : zoned(text)
  const readTime = (written: unknown): string | undefined => {
    const text = typeof written === 'number' && days ? String(written) : written
    if (typeof text !== 'string') return undefined
    return days ? days.read(text.trim()) : text.trim()
  }
  return {
    time(written) {
      // An instant means the same in any notation: it settles an hour that the clocks repeat.
      if (typeof written === 'string' && parseInstant(written.trim()) !== undefined)
        return { value: written.trim() }
      const read = readTime(written)
      if (read !== undefined) return inPlace(read)
      if (!days || typeof written !== 'string' || written.trim() === '') return { value: written }
      return { fault: `observed_at ${shown(written)} is not written ${days.name}` }
    },
    number(written) {
      if (!decimalComma || typeof written !== 'string') return { value: written }
      const text = written.trim()
      const value = withPoint(text)
      if (value !== undefined) return { value }
      return /\d/.test(text)
        ? {
            fault: `price ${shown(text)} is not a number with a decimal comma: write for example 1.234,56`,
          }
        : { value: written }
    },
    cell(written) {
      if (typeof written !== 'string') return written
      const number = decimalComma ? withPoint(written.trim()) : undefined
      if (number !== undefined) return number
      const read = readTime(written)
      if (read === undefined) return written
      const time = zoned(read)
      return 'value' in time ? time.value : written
    },
  }
}

const grouped = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$/

const withPoint = (text: string): string | undefined =>
  grouped.test(text) ? text.replaceAll('.', '').replace(',', '.') : undefined

const zoneless = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)$/

/**
 * Converts a time without a zone to its instant; a text that is not a time stays as written. The
 * hour that a change of the clocks repeats has two instants, and the one that it skips none: a guess
 * would put a value on the other one.
 */
function inZone(text: string, zone: string): Spelt {
  const [, day, time] = zoneless.exec(text) ?? []
  const local = day === undefined ? undefined : parseInstant(`${day}T${time}Z`)
  if (local === undefined) return { value: text }
  const clock = zoneClock(zone)
  const moments = clock.momentsOf(local)
  if (moments.length === 1) return { value: isoInstant(moments[0]!) }
  return {
    fault:
      moments.length > 1
        ? `observed_at ${shown(text)} occurs twice in ${zone}: write ${moments.map(isoInstant).join(' or ')}`
        : `observed_at ${shown(text)} does not occur in ${zone}, where the clocks skip it: they change at ${isoInstant(clock.firstAt(local))}`,
  }
}

interface DayParser {
  /** As the person wrote the format. */
  name: string
  /**
   * The day, month, quarter or zoneless time in ISO form; undefined where it is written
   * differently.
   */
  read(text: string): string | undefined
}

const tokens: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<short>\\d{2})',
  MMMM: '(?<name>[A-Za-z]{3,9})\\.?',
  MMM: '(?<name>[A-Za-z]{3,9})\\.?',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
  Q: '(?<quarter>[1-4])',
}
const percents: Readonly<Record<string, string>> = {
  '%Y': 'YYYY',
  '%y': 'YY',
  '%B': 'MMMM',
  '%b': 'MMM',
  '%m': 'M',
  '%d': 'D',
  '%H': 'H',
  '%M': 'mm',
  '%S': 'ss',
}

function dayParser(format: string): DayParser {
  if (format.toLowerCase() === 'serial')
    return { name: 'as the day number of a spreadsheet', read: serialOf }
  const usual = format.replaceAll(/%[A-Za-z]/g, code => percents[code] ?? code)
  const parts = usual.match(/\[[^\]]*\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|mm|ss|Q|[\s\S]/g) ?? []
  const pattern = parts.map(part => {
    if (part.length > 2 && part.startsWith('[')) return literal(part.slice(1, -1))
    return tokens[part] ?? literal(part)
  })
  const has = (name: string) => pattern.some(part => part.includes(`<${name}>`))
  const names = ['year', 'short', 'name', 'month', 'day', 'hour', 'minute', 'second', 'quarter']
  const isTwice = names.some(name => pattern.filter(part => part.includes(`<${name}>`)).length > 1)
  const isWhole = (has('year') || has('short')) && (has('month') || has('name') || has('quarter'))
  if (isTwice || !isWhole || (has('quarter') && has('day')))
    throw new Error(
      `--date-format ${shown(format)} is not one: write for example DD/MM/YYYY, D MMM YYYY, YYYYMMDD, YYYY-MM-DD HH:mm, %d.%m.%Y, or serial for the day numbers of spreadsheets`,
    )
  const whole = new RegExp(`^${pattern.join('')}$`)
  return {
    name: `as ${format}`,
    read(text) {
      const parts = whole.exec(text)?.groups
      return parts && dayOf(parts)
    },
  }
}

const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

function dayOf(found: Readonly<Record<string, string | undefined>>): string | undefined {
  const { short } = found
  // Two digits of a year: 70 to 99 are of the last century.
  const year = found.year ?? `${Number(short) < 70 ? '20' : '19'}${short}`
  if (found.quarter) return `${year}-Q${found.quarter}`
  const named = monthNumber((found.name ?? '').slice(0, 3))
  const month = two(found.month ?? String(named))
  if (month === '00') return undefined
  if (found.day === undefined) return `${year}-${month}`
  const day = `${year}-${month}-${two(found.day)}`
  if (parseDay(day) === undefined) return undefined
  const { hour, minute = '00', second = '00' } = found
  return hour === undefined ? day : `${day}T${two(hour)}:${minute}:${second}`
}

const two = (digits: string) => digits.padStart(2, '0')

// The console reads files too, in browsers that have no Temporal.
const spreadsheetEpoch = parseDay('1899-12-30')!

/**
 * The day that a spreadsheet counts as this number, 46030 for 2026-01-08; with a time of day where
 * it has a fraction.
 */
function serialOf(text: string): string | undefined {
  const serial = Number(text)
  if (text.trim() === '' || !(serial >= 1 && serial < 2_958_466)) return undefined
  const at = spreadsheetEpoch + Math.round(serial * (dayMs / secondMs)) * secondMs
  return at % dayMs === 0 ? isoDay(at) : isoInstant(at).slice(0, -1)
}
