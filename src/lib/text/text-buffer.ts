import { dayMs, hourMs, isoDay, minuteMs, secondMs, startOfDay } from '../time/instant.ts'

const bytesDefault = 64 * 1024
/** A longer buffer is not reused for the next text. */
const heldBytesMax = 2 ** 20
/** A text up to here is written character by character while it is ASCII. */
const shortCharacters = 24
/** Up to so many bytes, a loop takes less than the call that copies them. */
const copiedBytesMax = 8
const widestNumber = 20
const instantBytes = 24
const dayBytes = 10

const zero = 48
const minus = 45
const dot = 46
const comma = 44
const colon = 58
const [upperT, upperZ] = [84, 90]

const powers = Array.from({ length: 16 }, (_, n) => 10 ** n)

/** A piece of text that is written often, as bytes. */
export type Piece = Uint8Array

export const pieceOf = (text: string): Piece => encoder.encode(text)

type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

/**
 * A text that is made of many small pieces and numbers, in one buffer: strings of them would each
 * be allocated, joined and encoded.
 */
export class TextBuffer {
  private bytes: Bytes = new Uint8Array(bytesDefault)
  private length = 0
  private dayStartsAt = Number.NaN
  private readonly day = new Uint8Array(dayBytes)

  /** Drops an unfinished earlier text. */
  clear(): void {
    this.length = 0
  }

  piece(piece: Piece): void {
    this.makeRoom(piece.length)
    const { bytes, length } = this
    if (piece.length > copiedBytesMax) bytes.set(piece, length)
    else for (let i = 0; i < piece.length; i += 1) bytes[length + i] = piece[i]!
    this.length += piece.length
  }

  text(text: string): void {
    // A character takes up to three bytes.
    this.makeRoom(3 * text.length)
    const { bytes, length } = this
    let written = 0
    if (text.length <= shortCharacters)
      for (; written < text.length; written += 1) {
        const code = text.charCodeAt(written)
        if (code > 127) break
        bytes[length + written] = code
      }
    this.length +=
      written === text.length ? written : encoder.encodeInto(text, bytes.subarray(length)).written
  }

  /** An integer of at most fifteen digits. */
  integer(value: number): void {
    this.makeRoom(widestNumber)
    let rest = value
    if (rest < 0) {
      this.byte(minus)
      rest = -rest
    }
    this.digits(rest, digitCount(rest))
  }

  /** `units` of the last of so many places, as JavaScript writes the number: `75.1`. */
  decimal(units: number, decimals: number): void {
    this.makeRoom(widestNumber + decimals)
    const whole = this.signAndWhole(units, decimals)
    let fraction = Math.abs(units) - whole * powers[decimals]!
    if (fraction === 0) return
    let places = decimals
    while (fraction % 10 === 0) {
      fraction /= 10
      places -= 1
    }
    this.byte(dot)
    this.digits(fraction, places)
  }

  /** The same as people read it, with all places and groups of thousands: `1,275.10`. */
  grouped(units: number, decimals: number): void {
    this.makeRoom(2 * widestNumber + decimals)
    const magnitude = Math.abs(units)
    const whole = Math.floor(magnitude / powers[decimals]!)
    let group = whole < 1000 ? 1 : whole < 1_000_000 ? 1000 : 1_000_000
    this.digits(Math.floor(whole / group), digitCount(Math.floor(whole / group)))
    while (group > 1) {
      group /= 1000
      this.byte(comma)
      this.digits(Math.floor(whole / group) % 1000, 3)
    }
    if (decimals === 0) return
    this.byte(dot)
    this.digits(magnitude - whole * powers[decimals]!, decimals)
  }

  /** As `isoInstant` writes it. */
  instant(at: number): void {
    this.makeRoom(instantBytes)
    this.isoDay(at)
    const ms = at - this.dayStartsAt
    this.byte(upperT)
    this.twoDigits(Math.trunc(ms / hourMs))
    this.byte(colon)
    this.twoDigits(Math.trunc(ms / minuteMs) % 60)
    this.byte(colon)
    this.twoDigits(Math.trunc(ms / secondMs) % 60)
    if (ms % secondMs !== 0) {
      this.byte(dot)
      this.digits(ms % secondMs, 3)
    }
    this.byte(upperZ)
  }

  isoDay(at: number): void {
    const startsAt = startOfDay(at)
    if (this.dayStartsAt !== startsAt) {
      this.dayStartsAt = startsAt
      writeDay(this.day, startsAt)
    }
    this.makeRoom(dayBytes)
    const { bytes, day, length } = this
    for (let i = 0; i < dayBytes; i += 1) bytes[length + i] = day[i]!
    this.length += dayBytes
  }

  /** The whole text in UTF-8; the buffer is empty then. */
  take(): Bytes {
    const text = this.bytes.slice(0, this.length)
    this.length = 0
    if (this.bytes.length > heldBytesMax) this.bytes = new Uint8Array(bytesDefault)
    return text
  }

  private signAndWhole(units: number, decimals: number): number {
    if (units < 0) this.byte(minus)
    const whole = Math.floor(Math.abs(units) / powers[decimals]!)
    this.digits(whole, digitCount(whole))
    return whole
  }

  private byte(code: number): void {
    this.bytes[this.length] = code
    this.length += 1
  }

  private twoDigits(value: number): void {
    writePair(this.bytes, this.length, value)
    this.length += 2
  }

  private digits(value: number, count: number): void {
    const { bytes } = this
    let rest = value
    for (let at = this.length + count - 1; at >= this.length; at -= 1) {
      const tenth = Math.trunc(rest / 10)
      bytes[at] = zero + (rest - tenth * 10)
      rest = tenth
    }
    this.length += count
  }

  private makeRoom(count: number): void {
    if (this.length + count <= this.bytes.length) return
    const larger = new Uint8Array(2 * (this.length + count))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }
}

function digitCount(value: number): number {
  let count = 1
  while (value >= powers[count]!) count += 1
  return count
}

const daysOf400Years = 146_097
/** Days from 0000-03-01 to 1970-01-01; years that start in March end with their leap day. */
const marchDays = 719_468

/**
 * `YYYY-MM-DD` in ten bytes, or what is written for years of fewer or more digits: the days since
 * 0000-03-01 by arithmetic on integers, because each row of a page of days has another date.
 */
function writeDay(into: Uint8Array, startsAt: number): void {
  const shifted = (startsAt / dayMs + marchDays) | 0
  const era = (shifted / daysOf400Years) | 0
  const dayOfEra = shifted - era * daysOf400Years
  const leapDays = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0)
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  if (!(shifted > 0 && year >= 1000 && year <= 9999)) {
    encoder.encodeInto(isoDay(startsAt), into)
    return
  }
  const century = (year / 100) | 0
  writePair(into, 0, century)
  writePair(into, 2, year - 100 * century)
  into[4] = minus
  writePair(into, 5, month)
  into[7] = minus
  writePair(into, 8, dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1)
}

function writePair(into: Uint8Array, at: number, pair: number): void {
  const tens = (pair / 10) | 0
  into[at] = zero + tens
  into[at + 1] = zero + pair - 10 * tens
}
