import {
  dayMs,
  hourMs,
  isoDay,
  minuteMs,
  parseDay,
  secondMs,
  weekdayOf,
} from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import type { Observation } from '../../prices/demo/world.ts'
import { changeBases } from '../../prices/math/change.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { type DayRecord, earlierDay, laterDay, type TickRecord } from '../math/contract-days.ts'
import { lastTradingDay, listedMonths, monthAfter, tradingDate } from '../math/contracts.ts'
import { listedCount } from '../math/families.ts'
import { monthsOn, type WorldCurve } from './curves.ts'
import type { CurveDate } from './dates.ts'

/** How far back a copy holds what, in days. */
export interface Reach {
  /** Bars of all listed months. */
  wholeCurveDays: number
  /** Bars of the nearest months. */
  nearMonthsDays: number
  /** Ticks; further back a date is one bar. */
  tickDays: number
}

const nearMonths = 3
/**
 * The month that is listed next is quoted before: on the day that it is, the curve is whole before
 * its session opens.
 */
const quotedCount = listedCount + 1

/** The nearest contracts trade every five minutes, the others every half hour. */
const busyMonths = 3
const quietStride = 6

export const gridMs = 5 * minuteMs
/** From a trade or a settlement to its publication. */
export const lagMs = 20 * secondMs
const settlementMs = 19.5 * hourMs
const confirmationMs = 12 * hourMs

/** What is published of contracts: whole dates, and trades. */
export interface Published {
  days: DayRecord[]
  ticks: TickRecord[]
}

/** The contracts that are quoted at a moment, nearest first. */
export const quotedMonths = ({ family }: WorldCurve, at: number): string[] =>
  listedMonths(family.code, tradingDate(family, at), quotedCount)

/** The contract that answers for its family. */
export const frontMonth = ({ family }: WorldCurve, at: number): string =>
  listedMonths(family.code, tradingDate(family, at), 1)[0]!

/** The contracts whose history a copy holds that starts at `start`, oldest first. */
export function historyMonths({ family }: WorldCurve, start: number, reach: Reach): string[] {
  const oldest = isoDay(start - reach.nearMonthsDays * dayMs)
  const months: string[] = []
  let month = oldest.slice(0, 7)
  while (lastTradingDay(family.code, month) < oldest) month = monthAfter(month, 1)
  const today = isoDay(start)
  let listed = 0
  for (; listed < quotedCount; month = monthAfter(month, 1)) {
    months.push(month)
    // Strictly after: the trading date may be a day ahead of the calendar's.
    if (lastTradingDay(family.code, month) > today) listed += 1
  }
  return months
}

/** The first day of a contract that a copy holds which starts at `start`. */
function firstDayOf({ family }: WorldCurve, month: string, start: number, reach: Reach): string {
  const listedFrom = (count: number, daysBack: number) => {
    const from = dayAfter(lastTradingDay(family.code, monthAfter(month, -count)), 1)
    const oldest = isoDay(start - daysBack * dayMs)
    return laterDay(from, oldest)
  }
  const [whole, near] = [
    listedFrom(quotedCount, reach.wholeCurveDays),
    listedFrom(nearMonths, reach.nearMonthsDays),
  ]
  return earlierDay(whole, near)
}

/** All of one contract that was published before `start`, and not before `since`. */
export function historyOf(
  curve: WorldCurve,
  month: string,
  start: number,
  reach: Reach,
  since?: number,
): Published {
  const oldest = firstDayOf(curve, month, start, reach)
  // A session is published on its date, or the day after.
  const first = since === undefined ? oldest : laterDay(oldest, isoDay(since - dayMs))
  return daysOf(curve, month, first, lastTradingDay(curve.family.code, month), start, reach, since)
}

/** What of it is of these days, both inclusive. */
function daysOf(
  curve: WorldCurve,
  month: string,
  first: string,
  last: string,
  start: number,
  reach: Reach,
  since = Number.NEGATIVE_INFINITY,
): Published {
  const published: Published = { days: [], ticks: [] }
  const tickFrom = start - reach.tickDays * dayMs
  for (let day = first; day <= last && parseDay(day)! - dayMs < start; day = dayAfter(day, 1))
    collect(curve, day, [month], since, start, tickFrom, published)
  return published
}

/** Contracts trade every five minutes. */
const contractCadence = 'intraday_5m'

/** No exchange is closed for longer. */
const longestClosureDays = 10

/** What a contract is quoted with, and the moments before which each price is the newest. */
export function quotesOf(curve: WorldCurve, month: string, start: number, reach: Reach) {
  const first = firstDayOf(curve, month, start, reach)
  const pricesOf = (day: string): Observation[] => {
    if (day < first) return []
    const { days, ticks } = daysOf(curve, month, day, day, start, reach)
    return [
      ...days.flatMap(({ quotedAt, close, recordedAt }) =>
        quotedAt === undefined
          ? []
          : { observedAt: quotedAt, value: close!, recordedAt: recordedAt! },
      ),
      ...ticks.map(({ tradedAt, price, recordedAt }) => ({
        observedAt: tradedAt,
        value: price,
        recordedAt: recordedAt!,
      })),
    ].sort((a, b) => a.observedAt - b.observedAt)
  }
  // From the newest day back: what a day has is newer than all that the days before it have.
  const newestBefore = (before: number): Observation | undefined => {
    const last = isoDay(before + dayMs)
    for (let back = 0; back <= longestClosureDays + 1; back += 1) {
      const price = pricesOf(dayAfter(last, -back)).findLast(
        ({ observedAt }) => observedAt < before,
      )
      if (price) return price
    }
    return undefined
  }
  const prices: Observation[] = []
  for (let n = 0; prices.length === 0 && n <= longestClosureDays; n += 1)
    prices.push(...pricesOf(dayAfter(first, n)).slice(0, 1))
  const moments = new Set<number>()
  const newest = newestBefore(start)
  if (newest) {
    const bases = changeBases(contractCadence, newest.observedAt).map(([, before]) => ({
      before,
      price: newestBefore(before),
    }))
    for (const { before, price } of [
      { before: Number.MAX_SAFE_INTEGER, price: newest },
      ...bases,
    ]) {
      if (!price) continue
      moments.add(before)
      if (prices.every(({ observedAt }) => observedAt !== price.observedAt)) prices.push(price)
    }
  }
  return { prices: prices.sort((a, b) => a.observedAt - b.observedAt), moments }
}

/** All that is published of a family in `[from, to)`. */
export function publishedOf(
  curve: WorldCurve,
  from: number,
  to: number,
  tickFrom: number,
): Published {
  const published: Published = { days: [], ticks: [] }
  // A session can begin the evening before its date, and the last of a date is published on it.
  for (let day = isoDay(from - dayMs); parseDay(day)! - dayMs < to; day = dayAfter(day, 1)) {
    const date = curve.date(day)
    collect(
      curve,
      day,
      monthsOn(date ?? curve.dateBefore(day), quotedCount),
      from,
      to,
      tickFrom,
      published,
    )
  }
  return published
}

/**
 * Adds what is published in `[from, to)` of one day: ticks and settlements of a recent date, the
 * bar of an older one, nothing new on a holiday.
 */
function collect(
  curve: WorldCurve,
  day: string,
  months: readonly string[],
  from: number,
  to: number,
  tickFrom: number,
  made: Published,
) {
  const within = (at: number) => at + lagMs >= from && at + lagMs < to
  const date = curve.date(day)
  const settledAt = parseDay(day)! + settlementMs
  if (!date) {
    if (
      weekdayOf(parseDay(day)!) < 6 &&
      parseDay(day)! >= tickFrom &&
      within(parseDay(day)! + confirmationMs)
    )
      confirm(curve, day, months, made)
    return
  }
  const { closesAt } = date.session
  if (closesAt < tickFrom) {
    const recordedAt = Math.max(closesAt, settledAt) + lagMs
    if (recordedAt >= from && recordedAt < to)
      for (const month of months)
        made.days.push({ ...curve.bar(date, month), quotedAt: closesAt, recordedAt })
    return
  }
  const listed = monthsOn(date, quotedCount)
  for (const month of months) {
    const place = listed.indexOf(month)
    if (place < 0) continue
    for (const tick of curve.ticks(
      date,
      month,
      from - lagMs,
      to - lagMs,
      place < busyMonths ? 1 : quietStride,
    ))
      made.ticks.push({ ...tick, recordedAt: tick.tradedAt + lagMs })
    if (within(settledAt)) made.days.push(settlementRecord(curve, date, month, settledAt + lagMs))
  }
}

const settlementRecord = (
  curve: WorldCurve,
  { day }: CurveDate,
  month: string,
  recordedAt: number,
): DayRecord => ({
  ...blank(curve, month, day),
  settlement: curve.settlement(day, month),
  openInterest: curve.openInterest(day, month),
  recordedAt,
})

/**
 * On a weekday that the exchange is closed its last prices are confirmed at noon: no long holiday
 * makes a copy stale that is kept up.
 */
function confirm(curve: WorldCurve, day: string, months: readonly string[], made: Published) {
  const { day: before, ...last } = curve.dateBefore(day)
  const at = parseDay(day)! + confirmationMs
  const listed = monthsOn({ day: before, ...last }, quotedCount)
  for (const month of months.filter(month => listed.includes(month)))
    made.days.push({
      ...blank(curve, month, before),
      close: curve.close(before, month),
      quotedAt: at,
      recordedAt: at + lagMs,
    })
}

const blank = ({ family }: WorldCurve, month: string, tradedOn: string): DayRecord => ({
  family: family.code,
  month,
  tradedOn,
  open: null,
  high: null,
  low: null,
  close: null,
  settlement: null,
  volume: null,
  openInterest: null,
  source: generatedSource,
})
