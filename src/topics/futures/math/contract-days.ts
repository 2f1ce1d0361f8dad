import { isoDay, parseDay } from '../../../lib/time/instant.ts'
import { bucketStart, type LongInterval } from '../../prices/math/bars.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { lastTradingDay, listedMonths, monthAfter } from './contracts.ts'
import type { FamilyCode } from './families.ts'

/**
 * One trading date of a futures contract, or several merged into one; prices in the currency and
 * unit of its family.
 */
export interface ContractDay {
  /** `YYYY-MM`. */
  month: string
  code: string
  /** The trading date; of merged days the last. */
  tradedOn: string
  open: number
  high: number
  low: number
  close: number
  /** The settlement that the exchange published, null until then: never derived from the close. */
  settlement: number | null
  /** Null where the source has none. */
  volume: number | null
  openInterest: number | null
  /** When the close was quoted, Unix ms. */
  quotedAt: number
  recordedAt: number
  source: string
}

/** The earlier of two days, as text. */
export function earlierDay(a: string, b: string): string {
  return [a, b].sort()[0]!
}

/** The later of two days, as text. */
export function laterDay(a: string, b: string): string {
  return [a, b].sort()[1]!
}

/** The price a curve is drawn with: the settlement where there is one, otherwise the last trade. */
export const curvePrice = (day: ContractDay): number => day.settlement ?? day.close

/**
 * Weeks, calendar months, quarters or years of days given newest first, newest first: first open,
 * highest, lowest, last close, volumes added up where all are known. Days of different contracts
 * are never merged: where the front month changes, a bucket has a bar for each.
 */
export function mergeDays(interval: LongInterval, days: readonly ContractDay[]): ContractDay[] {
  const merged: ContractDay[] = []
  let bucket = Number.NaN
  for (const day of days) {
    const dayBucket = bucketStart(interval, parseDay(day.tradedOn)!)
    const last = merged.at(-1)
    if (dayBucket !== bucket || last?.month !== day.month) {
      merged.push({ ...day })
      bucket = dayBucket
      continue
    }
    last.open = day.open
    last.high = Math.max(last.high, day.high)
    last.low = Math.min(last.low, day.low)
    last.volume = last.volume === null || day.volume === null ? null : last.volume + day.volume
  }
  return merged
}

/** A trade, or several of one time. */
export interface Tick {
  tradedAt: number
  price: number
  volume: number
}

/**
 * Ticks given oldest first on a grid of `stepMs`: the last price of each step, its volumes added
 * up, dated at its beginning.
 */
export function onGrid(ticks: readonly Tick[], stepMs: number): Tick[] {
  const steps: Tick[] = []
  for (const { tradedAt, price, volume } of ticks) {
    const startsAt = Math.floor(tradedAt / stepMs) * stepMs
    const last = steps.at(-1)
    if (last?.tradedAt === startsAt) {
      last.price = price
      last.volume += volume
    } else steps.push({ tradedAt: startsAt, price, volume })
  }
  return steps
}

/** Dates, both inclusive, on which the same contract is the front month. */
export interface Stretch {
  front: string
  from: string
  to: string
}

/** The dates from one to another (both inclusive) by their front months, newest first. */
export function stretchesOf(code: FamilyCode, from: string, to: string): Stretch[] {
  const stretches: Stretch[] = []
  let start = from
  for (let front = listedMonths(code, from, 1)[0]!; start <= to; front = monthAfter(front, 1)) {
    const last = lastTradingDay(code, front)
    stretches.push({ front, from: start, to: earlierDay(last, to) })
    start = dayAfter(last, 1)
  }
  return stretches.reverse()
}

/**
 * The same dates by the front months of their curves (`listingDay`), so that a history at a place of
 * the curve is of the contracts that the curve of each date has there. `to` is `today` or earlier.
 */
export function curveStretchesOf(
  code: FamilyCode,
  from: string,
  to: string,
  today: string,
): Stretch[] {
  const over = earlierDay(to, dayAfter(today, -1))
  const running = to < today ? [] : stretchesOf(code, today, to)
  if (from > over) return running
  const past = stretchesOf(code, dayAfter(from, 1), dayAfter(over, 1))
  return [
    ...running,
    ...past.map(({ front, ...dates }) => ({
      front,
      from: dayAfter(dates.from, -1),
      to: dayAfter(dates.to, -1),
    })),
  ]
}

/** A day as a source publishes it; null keeps what is stored. */
export interface DayRecord {
  family: FamilyCode
  month: string
  tradedOn: string
  open: number | null
  high: number | null
  low: number | null
  close: number | null
  settlement: number | null
  volume: number | null
  openInterest: number | null
  /**
   * When the close was quoted; absent: at the end of the session, or when it was recorded if that
   * was before.
   */
  quotedAt?: number
  /** Overrides the moment of the call. */
  recordedAt?: number
  source: string
}

export interface TickRecord extends Tick {
  family: FamilyCode
  month: string
  recordedAt?: number
  source: string
}

/**
 * `YYYY-MM-DD` of `months` calendar months before a day; the 31st becomes the last day of a shorter
 * month.
 */
export function monthsBefore(day: string, months: number): string {
  const at = new Date(parseDay(day)!)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() - months]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return isoDay(Date.UTC(year, month, Math.min(at.getUTCDate(), last)))
}
