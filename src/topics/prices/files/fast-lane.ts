import { earliestAt, latestAt, scaled } from '../../../datasets/cell.ts'
import { hourMs, minuteMs, parseDay, secondMs } from '../../../lib/time/instant.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import { boundsOf } from '../../catalogue/math/terms.ts'
import { periodReader } from '../../delivery/math/moments.ts'
import type { Columns } from './columns.ts'

/**
 * Reads the ordinary row (`WTI_USD,2024-03-28T14:30:00Z,83.17`) straight from its bytes, without a
 * string or an object for it: several million rows a second. It gives exactly the point that
 * `checkRow` gives, and leaves every row with anything unusual in it to `checkRow`.
 */
export interface Lane {
  /** True: the three values below are the row's. False: unusual, blank or wrong. */
  read(bytes: Uint8Array, start: number, end: number): boolean
  seriesId: number
  observedAt: number
  value: number
}

interface Spelling {
  name: Uint8Array
  id: number
  min: number
  max: number
  currency: Uint8Array
  latest: number
  /** Present for delivery periods only. */
  isStart: ((at: number) => boolean) | undefined
}

const zero = 48
const quote = 34
const spellingsMax = 10_000
const daysMax = 100_000
/**
 * Up to here both the digits and the power of ten are exact doubles, so that one division rounds
 * exactly as reading the text would.
 */
const digitsMax = 15
const textMax = 40
/** The length of `2026-10-25`. */
const dayLength = 10
const powers = Array.from({ length: digitsMax + 1 }, (_, n) => 10 ** n)

export interface Shape {
  columns: Columns<number>
  /** How many fields a row has. */
  width: number
  separator: string
}

export interface LaneRequest {
  catalogue: CodeLookup
  now: number
  scale?: number
}

/** Undefined for files with several values in a row. */
export function laneOf(
  { columns, width, separator }: Shape,
  { catalogue, now, scale = 1 }: LaneRequest,
): Lane | undefined {
  const only = columns.values.length === 1 ? columns.values[0]! : undefined
  if (!only) return undefined
  const places = {
    code: columns.code ?? -1,
    time: columns.observedAt,
    price: only.place,
    currency: columns.currency ?? -1,
  }
  const codeSpellings = spellings(catalogue, now)
  const fixed =
    only.code === undefined
      ? undefined
      : codeSpellings.find(Buffer.from(only.code), 0, only.code.length)
  if (only.code !== undefined && !fixed) return undefined
  const days = dayParser()
  const cut = separator.charCodeAt(0)
  const cuts = new Int32Array(width + 1)
  const lane: Lane = { seriesId: 0, observedAt: 0, value: 0, read }
  return lane

  function read(bytes: Uint8Array, start: number, end: number): boolean {
    let column = 0
    cuts[0] = start
    for (let p = start; p < end; p += 1) {
      const byte = bytes[p]!
      if (byte === cut) {
        column += 1
        if (column === width) return false
        cuts[column] = p + 1
      } else if (byte === quote) return false
    }
    if (column + 1 !== width) return false
    cuts[width] = end + 1
    const series =
      fixed ?? codeSpellings.find(bytes, cuts[places.code]!, cuts[places.code + 1]! - 1)
    if (!series) return false
    const at = timeAt(bytes, cuts[places.time]!, cuts[places.time + 1]! - 1, days)
    if (!(at >= earliestAt && at <= series.latest)) return false
    if (series.isStart !== undefined) {
      const isDay = cuts[places.time + 1]! - 1 - cuts[places.time]! === dayLength
      if (isDay || !series.isStart(at)) return false
    }
    const value = scaled(numberAt(bytes, cuts[places.price]!, cuts[places.price + 1]! - 1), scale)
    if (!(value >= series.min && value <= series.max)) return false
    if (places.currency >= 0) {
      const from = cuts[places.currency]!
      const to = cuts[places.currency + 1]! - 1
      if (from !== to && !same(series.currency, bytes, from, to)) return false
    }
    lane.seriesId = series.id
    lane.observedAt = at
    lane.value = value
    return true
  }
}

/**
 * Series by the bytes of their name. Files mostly repeat the code of the row before, so that one is
 * compared first.
 */
function spellings(catalogue: CodeLookup, now: number) {
  const byHash = new Map<number, Spelling>()
  let previous: Spelling | undefined
  const learn = (bytes: Uint8Array, from: number, to: number): Spelling | undefined => {
    const text = Buffer.from(bytes.subarray(from, to)).toString()
    const series = catalogue.find(text)
    // Series whose dates mean a time of day, and inactive ones, take the ordinary path.
    if (!series || series.valueAt || series.terms?.active === false) return undefined
    const reader = series.delivery && periodReader(series.delivery)
    return {
      name: Buffer.from(text),
      id: series.id,
      ...boundsOf(series),
      currency: Buffer.from(series.currency ?? ''),
      latest: reader ? reader.latest(now) : latestAt(now),
      isStart: reader?.isStart,
    }
  }
  return {
    find(bytes: Uint8Array, from: number, to: number): Spelling | undefined {
      if (previous && same(previous.name, bytes, from, to)) return previous
      let hash = 0
      for (let p = from; p < to; p += 1) hash = (Math.imul(hash, 31) + bytes[p]!) | 0
      let spelling = byHash.get(hash)
      if (spelling && !same(spelling.name, bytes, from, to)) return undefined
      if (!spelling) {
        spelling = learn(bytes, from, to)
        if (!spelling) return undefined
        if (byHash.size < spellingsMax) byHash.set(hash, spelling)
      }
      previous = spelling
      return spelling
    },
  }
}

function same(name: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false
  // From the end: codes of one family differ there.
  for (let i = name.length - 1; i >= 0; i -= 1) if (name[i] !== bytes[from + i]) return false
  return true
}

type DayParser = (year: number, month: number, day: number) => number

/**
 * Midnight UTC of a calendar day, NaN when there is none; the days of a file are few and come
 * again.
 */
function dayParser(): DayParser {
  const byKey = new Map<number, number>()
  let previousKey = -1
  let previous = Number.NaN
  return (year, month, day) => {
    const key = year * 10_000 + month * 100 + day
    if (key === previousKey) return previous
    let at = byKey.get(key)
    if (at === undefined) {
      const two = (n: number) => String(n).padStart(2, '0')
      at = parseDay(`${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`) ?? Number.NaN
      if (byKey.size < daysMax) byKey.set(key, at)
    }
    previousKey = key
    previous = at
    return at
  }
}

/** The number that two digits write; -1 for everything else. */
function pair(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - zero
  const ones = bytes[at + 1]! - zero
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

/**
 * Unix ms of `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM:SSZ` or `YYYY-MM-DDTHH:MM:SS.mmmZ`; NaN for everything
 * else.
 */
function timeAt(bytes: Uint8Array, from: number, to: number, days: DayParser): number {
  const length = to - from
  if (length !== 10 && length !== 20 && length !== 24) return Number.NaN
  if (bytes[from + 4] !== 45 || bytes[from + 7] !== 45) return Number.NaN
  const century = pair(bytes, from)
  const year = pair(bytes, from + 2)
  const month = pair(bytes, from + 5)
  const date = pair(bytes, from + 8)
  if ((century | year | month | date) < 0) return Number.NaN
  const day = days(century * 100 + year, month, date)
  if (length === 10) return day
  if (
    bytes[from + 10] !== 84 ||
    bytes[from + 13] !== 58 ||
    bytes[from + 16] !== 58 ||
    bytes[to - 1] !== 90
  )
    return Number.NaN
  const hour = pair(bytes, from + 11)
  const minute = pair(bytes, from + 14)
  const second = pair(bytes, from + 17)
  if ((hour | minute | second) < 0 || hour > 23 || minute > 59 || second > 59) return Number.NaN
  const at = day + hour * hourMs + minute * minuteMs + second * secondMs
  return length === 20 ? at : at + millisecondsAt(bytes, from + 19)
}

/** The milliseconds from three digits after a point; NaN for any other text. */
function millisecondsAt(bytes: Uint8Array, at: number): number {
  const ones = bytes[at + 3]! - zero
  const tens = pair(bytes, at + 1)
  return bytes[at] === 46 && tens >= 0 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

/** A decimal without exponent; NaN for everything else. */
function numberAt(bytes: Uint8Array, from: number, to: number): number {
  let p = from
  const negative = bytes[p] === 45
  if (negative) p += 1
  let digits = 0
  let decimals = -1
  let number = 0
  for (; p < to; p += 1) {
    const digit = bytes[p]! - zero
    if (digit >= 0 && digit <= 9) {
      number = number * 10 + digit
      digits += 1
      if (decimals >= 0) decimals += 1
    } else if (digit === -2 && decimals < 0) decimals = 0
    else return Number.NaN
  }
  if (digits === 0) return Number.NaN
  if (digits > digitsMax)
    return to - from > textMax
      ? Number.NaN
      : Number(String.fromCharCode(...bytes.subarray(from, to))) + 0
  const value = decimals > 0 ? number / powers[decimals]! : number
  return negative ? 0 - value : value
}
