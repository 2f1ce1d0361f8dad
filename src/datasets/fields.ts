import { dayMs, isoDay, parseDay, parseInstant } from '../lib/time/instant.ts'
import type { CodeLookup, SeriesIdentity } from '../topics/catalogue/math/lookup.ts'
import { shown } from './cell.ts'

export type DatasetRow = Readonly<Record<string, unknown>>

/**
 * A row that cannot be recorded: which field, and a sentence that names its value and what would be
 * right.
 */
export interface DatasetFault {
  field: string
  reason: string
}

/** Carries a fault out of the middle of a row. */
class FieldFault extends Error {
  constructor(
    readonly field: string,
    readonly reason: string,
  ) {
    super(reason)
  }
}

/**
 * Refuses the row: `field` has `value`, which `is` something wrong; `right` describes a correct
 * value.
 */
export function refuse(field: string, value: unknown, is: string, right: string): never {
  throw new FieldFault(
    field,
    `${field} ${value === undefined || value === '' ? 'is missing' : `${shown(value)} ${is}`}: ${right}`,
  )
}

/** The record that `make` reads from a row, or the fault that stopped it. */
export function checked<T>(make: () => T): { record: T } | DatasetFault {
  try {
    return { record: make() }
  } catch (error) {
    if (error instanceof FieldFault) return { field: error.field, reason: error.reason }
    throw error
  }
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** The text of a field without spaces around it; undefined when it is absent or empty. */
export function textIn(row: DatasetRow, field: string, charactersMax = 200): string | undefined {
  const value = row[field]
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') refuse(field, value, 'is not text', 'write text')
  const text = value.trim()
  if (text.length > charactersMax || !text.isWellFormed() || /\p{Cc}/u.test(text)) {
    refuse(field, text, 'is not accepted', `write one line of at most ${charactersMax} characters`)
  }
  return text === '' ? undefined : text
}

export function neededText(
  row: DatasetRow,
  field: string,
  right: string,
  charactersMax = 200,
): string {
  return textIn(row, field, charactersMax) ?? refuse(field, undefined, '', right)
}

/** A number of `[min, max]`, also as text; undefined when the field is absent or empty. */
export function numberIn(
  row: DatasetRow,
  field: string,
  min: number,
  max: number,
): number | undefined {
  const value = row[field]
  if (value === undefined || value === null || value === '') return undefined
  const number = typeof value === 'string' && decimal.test(value.trim()) ? Number(value) : value
  if (typeof number !== 'number' || !(number >= min && number <= max)) {
    refuse(
      field,
      value,
      `is not a number from ${min} to ${max}`,
      'write a decimal number with a point and without thousands separators, such as 1234.5',
    )
  }
  // Minus zero would come back as another number than it was sent.
  return number + 0
}

/** Beyond this no number of any field is believed. */
const anyNumberMax = 1e15

/**
 * A number, also as text, that `noun` bounds: one that is well written but beyond them is refused
 * for that, and not as if it were no number.
 */
export function boundedIn(
  row: DatasetRow,
  field: string,
  min: number,
  max: number,
  noun: string,
): number | undefined {
  const number = numberIn(row, field, -anyNumberMax, anyNumberMax)
  if (number !== undefined && (number < min || number > max))
    refuse(
      field,
      row[field],
      `is out of range, ${min} to ${max}`,
      `check the unit; ${noun} is believed within twenty times its usual level`,
    )
  return number
}

export function neededNumber(row: DatasetRow, field: string, min: number, max: number): number {
  return (
    numberIn(row, field, min, max) ??
    refuse(field, undefined, '', `write a number from ${min} to ${max}`)
  )
}

/** A calendar day up to `aheadDays` after today. */
export function neededDay(row: DatasetRow, field: string, now: number, aheadDays: number): string {
  const text = neededText(row, field, 'write a day, such as 2026-11-18')
  if (parseDay(text) === undefined)
    refuse(field, text, 'is not a day', 'write a day, such as 2026-11-18')
  const last = isoDay(now + aheadDays * dayMs)
  if (text > last || text < '1900-01-01')
    refuse(field, text, 'is out of range', `write a day from 1900-01-01 to ${last}`)
  return text
}

const midnight = /[T ]00:00(:00(\.0+)?)?Z?$/
const rightDay = 'write a day, such as 2026-11-17'

/** A day up to today; agencies write it with the time of its midnight too. */
export function neededPastDay(row: DatasetRow, field: string, now: number): string {
  const text = neededText(row, field, rightDay)
  const day = text.replace(midnight, '')
  if (parseDay(day) === undefined) refuse(field, text, 'is not a day', rightDay)
  if (day > isoDay(now) || day < '1900-01-01')
    refuse(field, text, 'is out of range', `write a day from 1900-01-01 to ${isoDay(now)}`)
  return day
}

const rightMonth = 'write a month, such as 2026-10'
const monthPattern = /^(\d{4}-(?:0[1-9]|1[0-2]))(?:-\d{2})?$/

/** A month up to the current one; a day counts as its month. */
export function neededMonth(row: DatasetRow, field: string, now: number): string {
  const text = neededText(row, field, rightMonth)
  const month = monthPattern.exec(text)?.[1] ?? refuse(field, text, 'is not a month', rightMonth)
  const last = isoDay(now).slice(0, 7)
  if (month > last || month < '1900-01')
    refuse(field, text, 'is out of range', `write a month from 1900-01 to ${last}`)
  return month
}

/**
 * An instant with a zone, or a day as its midnight UTC; up to a day ahead of the clock, because
 * clocks differ.
 */
export function neededInstant(row: DatasetRow, field: string, now: number): number {
  const right = 'write a time with its zone, such as 2026-11-18T13:05:00Z'
  const text = neededText(row, field, right)
  const at = parseDay(text) ?? parseInstant(text) ?? refuse(field, text, 'is not a time', right)
  if (at > now + dayMs || at < 0)
    refuse(field, text, 'is out of range', `write a time from 1970-01-01 up to now`)
  return at
}

/** `true`/`1`/`yes` and `false`/`0`/`no`. */
export function boolIn(row: DatasetRow, field: string, fallback: boolean): boolean {
  const value = row[field]
  if (value === undefined || value === null || value === '') return fallback
  const word = String(value).trim().toLowerCase()
  if (word === 'true' || word === '1' || word === 'yes') return true
  if (word === 'false' || word === '0' || word === 'no') return false
  return refuse(field, value, 'must be true or false', 'write true or false')
}

/** One of a few words, in any letter case. */
export function wordIn<T extends string>(
  row: DatasetRow,
  field: string,
  words: readonly T[],
  fallback: T,
): T {
  const text = textIn(row, field)?.toLowerCase()
  if (text === undefined) return fallback
  return (
    words.find(word => word === text) ??
    refuse(field, text, 'is not known', `write ${words.join(' or ')}`)
  )
}

/** The series with a code or alias; without one, the refusal names the nearest code. */
export function seriesNamed(text: string, field: string, catalogue: CodeLookup): SeriesIdentity {
  const series = catalogue.find(text)
  if (series) return series
  const near = catalogue.nearest(text)
  return refuse(
    field,
    text,
    'is not in the catalogue',
    near ? `did you mean ${near}?` : 'wellhead codes search WORD finds the codes',
  )
}
