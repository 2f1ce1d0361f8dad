import { dayMs, isoInstant, parseDay, parseInstant, secondMs } from '../../lib/time/instant.ts'
import { invalidParameter } from '../problem/problem.ts'

/** Items of a comma-separated list, without the empty ones. */
export function listOf(text = ''): string[] {
  const only = text.trim()
  // Most lists have one item.
  if (!only.includes(',')) return only === '' ? [] : [only]
  return only
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)
}

/** `true`/`1`/`yes` and `false`/`0`/`no`; anything else is refused. */
export function boolOf<Fallback extends boolean | undefined>(
  parameter: string,
  text: string | undefined,
  fallback: Fallback,
): boolean | Fallback {
  if (text === undefined || text === '') return fallback
  const word = text.toLowerCase()
  if (word === 'true' || word === '1' || word === 'yes') return true
  if (word === 'false' || word === '0' || word === 'no') return false
  throw invalidParameter(parameter, text, ['true', 'false'])
}

/** A plain decimal integer in `[min, max]`. */
export function integerOf(
  parameter: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  if (text === undefined || text === '') return fallback
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max))
    throw invalidParameter(parameter, text, wholeNumber(min, max))
  return value
}

/** The largest limits are technical: what matters to a caller is the smallest value. */
const wholeNumber = (min: number, max: number) =>
  max >= 1e9 ? `a whole number of ${min} or more` : `a whole number from ${min} to ${max}`

/** One of the words of a parameter, in any case; the fallback where it is absent or empty. */
export function wordOf<T extends string, Fallback extends T | undefined>(
  parameter: string,
  text: string | undefined,
  fallback: Fallback,
  words: readonly T[],
): T | Fallback {
  if (text === undefined || text === '') return fallback
  const typed = text.trim().toLowerCase()
  const word = words.find(candidate => candidate.toLowerCase() === typed)
  if (word === undefined) throw invalidParameter(parameter, text, words)
  return word
}

/**
 * A date or an instant with a zone; undefined for any other text. A date as the start of a range is
 * its midnight; as the end (exclusive here) the next midnight.
 */
export function parseEdge(text: string, edge: 'start' | 'end'): number | undefined {
  const day = parseDay(text)
  if (day !== undefined) return edge === 'start' ? day : day + dayMs
  const at = parseInstant(text)
  return at === undefined || edge === 'start' ? at : at + 1
}

/** The edge of a range in the query. */
export function momentOf(
  parameter: string,
  text: string | undefined,
  edge: 'start' | 'end',
): number | undefined {
  if (text === undefined || text === '') return undefined
  // An unencoded plus sign arrives as a space.
  const at = parseEdge(text.trim().replace(/ (\d{2}:?\d{2})$/, '+$1'), edge)
  if (at === undefined)
    throw invalidParameter(parameter, text, 'a date (YYYY-MM-DD) or an ISO 8601 time with a zone')
  return at
}

/** A moment of `by_period`, which clients also send as Unix seconds, as a date or time in words. */
export function periodMoment(name: string, text: string | undefined): string | undefined {
  if (text !== undefined && /^\d{5,11}$/.test(text.trim()))
    return isoInstant(Number(text.trim()) * secondMs)
  momentOf(name, text, 'start')
  return text
}

/** An instant with a zone. */
export function instantOf(parameter: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  // An unencoded plus sign arrives as a space.
  const at = parseInstant(text.trim().replace(/ (\d{2}:?\d{2})$/, '+$1'))
  if (at === undefined)
    throw invalidParameter(
      parameter,
      text,
      'an ISO 8601 time with a zone, such as 2026-11-01T12:00:00Z',
    )
  return at
}

/** A calendar day, as its midnight. */
export function dayOf(parameter: string, text: string): number {
  const day = parseDay(text.trim())
  if (day === undefined) throw invalidParameter(parameter, text, 'a date (YYYY-MM-DD)')
  return day
}
