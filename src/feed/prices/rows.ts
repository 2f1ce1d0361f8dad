import { distance } from 'fastest-levenshtein'
import { dayMs, isoInstant, parseDay, parseInstant } from '../../lib/instant.ts'
import { valueBounds } from '../../market/catalogue/catalogue.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type { Point } from '../../store/prices/observations.ts'

/** What the checks need to know of a series. */
export type KnownSeries = Pick<Series, 'id' | 'code' | 'category' | 'currency' | 'unit' | 'level'>

export interface Catalogue {
  /** The series of a code or an alias, in any letter case. */
  find(code: string): KnownSeries | undefined
  /** The code that somebody who wrote `code` probably meant. */
  nearest(code: string): string | undefined
}

/**
 * A row as it was sent: text from a CSV field, any JSON value from NDJSON or a request body;
 * undefined where it is absent.
 */
export interface RawRow {
  code: unknown
  observedAt: unknown
  price: unknown
  currency?: unknown
}

/** The wire name of the field that a rejection is about. */
export type Field = 'code' | 'observed_at' | 'price' | 'currency'

export type Checked =
  | { kind: 'point'; point: Point }
  | { kind: 'blank' }
  | { kind: 'rejected'; field: Field; reason: string }

export const earliestAt = parseDay('1900-01-01')!

/** Clocks of publishers run ahead and days begin earlier in the east: a day of grace. */
export const latestAt = (now: number): number => now + dayMs

const blanks = new Set(['', '.', 'N/A', 'n/a', 'NA', 'w', 'W'])

/**
 * How publishers write that there is no value: nothing, `.`, `N/A`, `NA`, `w` (withheld); null in
 * JSON.
 */
export const isBlank = (price: unknown): boolean =>
  price === null || (typeof price === 'string' && blanks.has(price.trim()))

/**
 * `value` times `scale` as decimals have it, without the noise of binary fractions: to 12
 * significant digits, more than any publisher prints.
 */
export const scaled = (value: number, scale: number): number =>
  scale === 1 ? value : Number((value * scale).toPrecision(12))

/**
 * The point of a row, or a sentence that names the field, its value and what would be right. The
 * only judge of what goes in: files and requests alike. `scale` is how many units of the series one
 * unit of the row is.
 */
export function checkRow(raw: RawRow, catalogue: Catalogue, now: number, scale = 1): Checked {
  if (isBlank(raw.price)) return { kind: 'blank' }
  const series = seriesOf(raw.code, catalogue)
  if (typeof series === 'string') return { kind: 'rejected', field: 'code', reason: series }
  const observedAt = instantOf(raw.observedAt, now)
  if (typeof observedAt === 'string')
    return { kind: 'rejected', field: 'observed_at', reason: observedAt }
  const given = numberOf(raw.price)
  if (typeof given === 'string') return { kind: 'rejected', field: 'price', reason: given }
  const value = scaled(given, scale)
  const currency = currencyFault(raw.currency, series)
  if (currency) return { kind: 'rejected', field: 'currency', reason: currency }
  const { min, max } = valueBounds(series.category, series.level)
  if (value < min || value > max) {
    const shownValue = scale === 1 ? `${given}` : `${given} (${value} by --scale ${scale})`
    return { kind: 'rejected', field: 'price', reason: beyond(shownValue, min, max, series) }
  }
  return { kind: 'point', point: { seriesId: series.id, observedAt, value } }
}

function beyond(
  value: string,
  min: number,
  max: number,
  { code, currency, unit }: KnownSeries,
): string {
  const measure = currency === null ? unit : `${currency}, ${unit}`
  return `price ${value} is not believed of ${code}, which lies from ${min} to ${Number(max.toPrecision(12))} (${measure}): check the unit and the decimal mark`
}

function seriesOf(code: unknown, catalogue: Catalogue): KnownSeries | string {
  if (typeof code !== 'string' || code.trim() === '')
    return `code ${absent(code)}: give a code of the catalogue, such as WTI_USD`
  const text = code.trim()
  const series = catalogue.find(text)
  if (series) return series
  const nearest = catalogue.nearest(text)
  return `code ${shown(text)} is not in the catalogue: ${nearest ? `did you mean ${nearest}?` : 'GET /v1/commodities lists the codes'}`
}

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

/**
 * Unix ms of an ISO 8601 instant with a zone, or of a bare day (its midnight UTC); otherwise the
 * sentence that says what is wrong.
 */
export function instantOf(time: unknown, now: number): number | string {
  if (typeof time !== 'string' || time.trim() === '')
    return `observed_at ${absent(time)}: ${rightTime}`
  const text = time.trim()
  const at = text.length === 10 ? parseDay(text) : (parseInstant(text) ?? englishDayOf(text))
  if (at === undefined) {
    if (!zoneless.test(text)) return `observed_at ${shown(text)} is not a time: ${rightTime}`
    const utc = `${text.replace(' ', 'T')}Z`
    if (parseInstant(utc) === undefined)
      return `observed_at ${shown(text)} is not in the calendar or on the clock: ${rightTime}`
    return `observed_at ${text} has no zone: write ${utc} if it is UTC, otherwise end it with the offset, such as ${text.replace(' ', 'T')}+01:00`
  }
  if (at < earliestAt)
    return `observed_at ${shown(text)} is before 1900: times from 1900-01-01 on are accepted`
  if (at > latestAt(now))
    return `observed_at ${shown(text)} is in the future: times up to ${isoInstant(latestAt(now))} are accepted`
  return at
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const rightNumber =
  'write a decimal number with a point and without thousands separators, such as 1234.5, -36.98 or .833'

/** A JSON number or a plain decimal in text; otherwise the sentence that says what is wrong. */
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

/**
 * Only `USD` and `usd` are USD: `GBp` is how markets write pence, a hundredth of what is meant
 * here.
 */
export const isCurrency = (text: string, currency: string | null): boolean =>
  currency !== null && (text === currency || text === currency.toLowerCase())

function currencyFault(currency: unknown, series: KnownSeries): string | undefined {
  if (currency === undefined || currency === null || currency === '') return undefined
  const text = typeof currency === 'string' ? currency.trim() : undefined
  if (text === '' || (text !== undefined && isCurrency(text, series.currency))) return undefined
  if (series.currency === null)
    return `currency ${shown(currency)} does not belong to ${series.code}, which is not a price: leave it empty`
  return `currency ${shown(currency)} is not that of ${series.code}: convert the price to ${series.currency} (${series.unit})`
}

function absent(value: unknown): string {
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

/**
 * Only so many different wrong codes get a search for what was meant: a file of nothing but wrong
 * codes must not become slow.
 */
const nearestMax = 1000

export function catalogueOf(
  series: readonly (KnownSeries & { aliases: readonly string[] })[],
): Catalogue {
  const byName = new Map<string, KnownSeries>()
  for (const one of series) for (const alias of one.aliases) byName.set(alias.toUpperCase(), one)
  for (const one of series) byName.set(one.code.toUpperCase(), one)
  const meant = new Map<string, string | undefined>()
  const search = (code: string): string | undefined => {
    let best: string | undefined
    let bound = Math.max(2, Math.floor(code.length / 3)) + 1
    for (const [name, one] of byName) {
      if (Math.abs(name.length - code.length) >= bound) continue
      const far = distance(code, name)
      if (far < bound) [best, bound] = [one.code, far]
    }
    return best
  }
  return {
    find: code => byName.get(code) ?? byName.get(code.toUpperCase()),
    nearest(code) {
      const name = code.slice(0, 60).toUpperCase()
      if (!meant.has(name) && meant.size < nearestMax) meant.set(name, search(name))
      return meant.get(name)
    },
  }
}
