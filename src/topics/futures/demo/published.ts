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
import { dayAfter } from '../../prices/math/window.ts'
import { type DayRecord, earlierDay, laterDay, type TickRecord } from '../math/contract-days.ts'
import { lastTradingDay, monthAfter } from '../math/contracts.ts'
import { listedCount } from '../math/families.ts'
import { monthsOn, type WorldCurve } from './curves.ts'
import type { CurveDate } from './dates.ts'

/** How far back a demo instance has what, in days. */
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

/** Published data of contracts: whole dates, and trades. */
export interface Published {
  days: DayRecord[]
  ticks: TickRecord[]
}

/** The contracts whose history is generated at `start`, oldest first. */
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

/** The first day of a contract whose history is generated at `start`. */
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

/** All of one contract that was published before `start`. */
export function historyOf(
  curve: WorldCurve,
  month: string,
  start: number,
  reach: Reach,
): Published {
  const published: Published = { days: [], ticks: [] }
  const tickFrom = start - reach.tickDays * dayMs
  const last = lastTradingDay(curve.family.code, month)
  for (
    let day = firstDayOf(curve, month, start, reach);
    day <= last && parseDay(day)! - dayMs < start;
    day = dayAfter(day, 1)
  )
    collect(curve, day, [month], Number.NEGATIVE_INFINITY, start, tickFrom, published)
  return published
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
 * On a weekday when the exchange is closed its last prices are confirmed at noon, so that a long
 * holiday does not make a running instance stale.
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
