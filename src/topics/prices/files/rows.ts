import {
  absent,
  earliestAt,
  instantOf,
  isBlank,
  numberOf,
  scaled,
  shown,
} from '../../../datasets/cell.ts'
import { isoDay, isoInstant, parseInstant } from '../../../lib/time/instant.ts'
import { momentAt } from '../../../lib/time/zone.ts'
import type { CodeLookup, SeriesIdentity } from '../../catalogue/math/lookup.ts'
import { boundsOf } from '../../catalogue/math/terms.ts'
import { type NoPeriod, periodReader } from '../../delivery/math/moments.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { likelyUnit } from '../../units/math/likely.ts'
import type { Point } from '../store/observations.ts'

/**
 * A row as it was sent: text from a CSV field, any JSON value from NDJSON or a request body;
 * undefined where it is absent.
 */
export interface RawRow {
  code: unknown
  observedAt: unknown
  /** The number of a delivery period, from 1, of the market day `observedAt`. */
  period?: unknown
  price: unknown
  currency?: unknown
  /** When the value became known; absent where that is now. */
  recordedAt?: unknown
  /** The name of its source; absent: that of the whole file. */
  source?: unknown
  /** Whether the point has no value any more. */
  deleted?: unknown
}

/** The wire name of the field that a rejection is about. */
export type Field =
  | 'code'
  | 'observed_at'
  | 'price'
  | 'currency'
  | 'recorded_at'
  | 'source'
  | 'deleted'

export type Checked =
  | { kind: 'point'; point: Point }
  | { kind: 'blank' }
  | { kind: 'rejected'; field: Field; reason: string; refusal?: TimeRefusal }

/**
 * Why a row is refused, as a word: its time is not that of a delivery period, with the starts next to
 * it, or its series is computed.
 */
export interface TimeRefusal {
  reason: NoPeriod['reason'] | 'beyond_horizon' | 'computed'
  nearest: readonly number[]
}

/**
 * Validates a row of a file or a request: returns its point, or a sentence with the field, its
 * value and a correct one. `scale` is the number of units of the series in one unit of the row.
 * `asRecorded`: another instance recorded it, so the current bounds do not apply.
 */
export function checkRow(
  raw: RawRow,
  catalogue: CodeLookup,
  now: number,
  scale = 1,
  asRecorded = false,
): Checked {
  const deleted = truthOf(raw.deleted)
  if (typeof deleted === 'string') return { kind: 'rejected', field: 'deleted', reason: deleted }
  if (isBlank(raw.price) && !deleted) return { kind: 'blank' }
  const series = seriesOf(raw.code, catalogue)
  if (typeof series === 'string') return { kind: 'rejected', field: 'code', reason: series }
  if (series.terms?.formula !== undefined)
    return {
      kind: 'rejected',
      field: 'code',
      reason: `code ${series.code} is computed by its formula and accepts no values`,
      refusal: { reason: 'computed', nearest: [] },
    }
  const observedAt = series.delivery
    ? startOf(raw, series.code, series.delivery, now, asRecorded)
    : momentOf(raw, series, now)
  if (typeof observedAt !== 'number')
    return {
      kind: 'rejected',
      field: 'observed_at',
      ...(typeof observedAt === 'string' ? { reason: observedAt } : observedAt),
    }
  const price = deleted ? 0 : numberOf(raw.price)
  if (typeof price === 'string') return { kind: 'rejected', field: 'price', reason: price }
  const value = scaled(price, scale)
  const currency = currencyFault(raw.currency, series)
  if (currency) return { kind: 'rejected', field: 'currency', reason: currency }
  const { min, max } = boundsOf(series)
  if (!asRecorded && !deleted && (value < min || value > max)) {
    const shownValue = scale === 1 ? `${price}` : `${price} (${value} by --scale ${scale})`
    const reason = beyond(shownValue, min, max, series) + unitHint(price, series)
    return { kind: 'rejected', field: 'price', reason }
  }
  const point: Point = { seriesId: series.id, observedAt, value }
  if (deleted) point.deleted = true
  const source = sourceOf(raw.source)
  if ('fault' in source) return { kind: 'rejected', field: 'source', reason: source.fault }
  if (source.name !== undefined) point.source = source.name
  if (raw.recordedAt === undefined || raw.recordedAt === null || raw.recordedAt === '')
    return { kind: 'point', point }
  const recordedAt = knownSince(raw.recordedAt, now)
  return typeof recordedAt === 'string'
    ? { kind: 'rejected', field: 'recorded_at', reason: recordedAt }
    : { kind: 'point', point: { ...point, recordedAt } }
}

const sourceCharactersMax = 80

/** The name of a value's source; an empty one counts as none. */
function sourceOf(written: unknown): { name: string | undefined } | { fault: string } {
  if (written === undefined || written === null) return { name: undefined }
  const name = typeof written === 'string' ? written.trim() : undefined
  if (name === '') return { name: undefined }
  return name !== undefined &&
    name.length <= sourceCharactersMax &&
    name.isWellFormed() &&
    !/\p{Cc}/u.test(name)
    ? { name }
    : {
        fault: `source ${shown(written)} is not a name: write one line of at most ${sourceCharactersMax} characters, such as EIA`,
      }
}

/** Whether a row deletes its point; an error where the cell is not a yes or no. */
function truthOf(written: unknown): boolean | string {
  if (written === undefined || written === null || written === '') return false
  const word = String(written).trim().toLowerCase()
  if (word === '' || word === 'false' || word === '0' || word === 'no') return false
  if (word === 'true' || word === '1' || word === 'yes') return true
  return `deleted ${shown(written)} must be true or false: true for a deleted value`
}

/** Nothing is known before it is: a day that has begun counts from its midnight, a later time is refused. */
function knownSince(written: unknown, now: number): number | string {
  const at = instantOf(written, now, 'recorded_at')
  if (typeof at === 'string' || at <= now) return at
  return `recorded_at ${shown(written)} is in the future: times up to now are accepted`
}

/** The start of the period that a value is of. */
function startOf(
  { observedAt: time, period }: RawRow,
  code: string,
  terms: DeliveryTerms,
  now: number,
  asRecorded: boolean,
): number | string | { reason: string; refusal: TimeRefusal } {
  const reader = periodReader(terms)
  const text = typeof time === 'string' ? time.trim() : ''
  const isNumbered = period !== undefined && period !== null && period !== ''
  // Values that another instance recorded are accepted, whatever the current periods are.
  const recorded = asRecorded ? parseInstant(text) : undefined
  if (recorded !== undefined) return recorded
  const start = isNumbered ? reader.numbered(text, period) : reader.read(text)
  const sent = isNumbered ? `date ${shown(time)}, period ${shown(period)}` : shownTime(time)
  if (start === undefined)
    return `${sent} must be the start of a delivery period of ${code}: an instant with its zone, a local time of ${terms.zone}, or date and period`
  if (typeof start === 'object') {
    const nearest = start.nearest.map(isoInstant).join(' and ')
    const reason =
      start.reason === 'ambiguous'
        ? `${sent} occurs twice in ${terms.zone}: write ${nearest.replace(' and ', ' or ')}`
        : `${sent} is not the start of a delivery period of ${code}: the nearest are ${nearest}`
    return { reason, refusal: start }
  }
  if (start < earliestAt) return `${sent} is before 1900: times from 1900-01-01 on are accepted`
  const latest = reader.latest(now)
  if (start <= latest) return start
  const reason = `${sent} is beyond the horizon of ${code}, ${terms.horizon}: periods up to ${isoInstant(latest)} are accepted`
  return { reason, refusal: { reason: 'beyond_horizon', nearest: [] } }
}

const shownTime = (time: unknown): string =>
  `observed_at ${typeof time === 'string' && time.trim() !== '' ? shown(time.trim()) : absent(time)}`

/** When a value was made; one that comes with its day alone, at the time of day that its series has. */
function momentOf(
  { observedAt: time, period }: RawRow,
  { code, valueAt }: SeriesIdentity,
  now: number,
): number | string {
  if (period !== undefined && period !== null && period !== '')
    return `period ${shown(period)} must be absent: ${code} has no delivery periods`
  const at = instantOf(time, now)
  const isDay = typeof time === 'string' && dayAlone.test(time.trim())
  if (!valueAt || !isDay || typeof at === 'string') return at
  return momentAt(isoDay(at), valueAt.minute, valueAt.zone)
}

const dayAlone = /^(\d{4}-\d{2}-\d{2}|[A-Z][a-z]{2} \d{2}, \d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})$/

function beyond(
  value: string,
  min: number,
  max: number,
  { code, currency, unit }: SeriesIdentity,
): string {
  const measure = currency === null ? unit : `${currency}, ${unit}`
  return `price ${value} is outside the accepted range for ${code}, ${min} to ${Number(max.toPrecision(12))} (${measure}): check the unit and the decimal mark`
}

/** A value outside of its range, converted from the unit that it is probably in. */
function unitHint(value: number, series: SeriesIdentity): string {
  const unit = likelyUnit(series, value)
  if (!unit) return ''
  const converted = scaled(value, unit.scale)
  return `; as ${unit.name} it would be ${converted} (scale ${unit.scale})`
}

function seriesOf(code: unknown, catalogue: CodeLookup): SeriesIdentity | string {
  if (typeof code !== 'string' || code.trim() === '')
    return `code ${absent(code)}: give a code of the catalogue, such as WTI_USD`
  const text = code.trim()
  const series = catalogue.find(text)
  if (series?.terms?.active === false)
    return `code ${series.code} is retired and accepts no values: reactivate it first`
  if (series) return series
  const nearest = catalogue.nearest(text)
  return `code ${shown(text)} is not in the catalogue: ${nearest ? `did you mean ${nearest}?` : 'correct it, or add it as a custom series'}`
}

/** Only `USD` and `usd` are USD: markets write `GBp` for pence, a hundredth of `GBP`. */
const isCurrency = (text: string, currency: string | null): boolean =>
  currency !== null && (text === currency || text === currency.toLowerCase())

function currencyFault(currency: unknown, series: SeriesIdentity): string | undefined {
  if (currency === undefined || currency === null || currency === '') return undefined
  const text = typeof currency === 'string' ? currency.trim() : undefined
  if (text === '' || (text !== undefined && isCurrency(text, series.currency))) return undefined
  if (series.currency === null)
    return `currency ${shown(currency)} does not belong to ${series.code}, which is not a price: leave it empty`
  return `currency ${shown(currency)} is not that of ${series.code}: convert the price to ${series.currency} (${series.unit})`
}
