import { dayMs, isoDay, minuteMs, parseDay } from '../../lib/instant.ts'
import { sessionOf } from '../../market/calendars/calendar.ts'
import { generatedSource } from '../../market/catalogue/catalogue.ts'
import type { DayRecord, TickRecord } from '../../market/futures/contract-days.ts'
import {
  type ContractSession,
  listedMonths,
  monthAfter,
  sessionOn,
  tradesOn,
} from '../../market/futures/contracts.ts'
import { monthsBetween } from '../../market/futures/curve.ts'
import type { Family, FamilyCode } from '../../market/futures/families.ts'
import { dayAfter, dayNumber } from '../../market/prices/window.ts'
import { draw, keyOf, normal, uniform } from '../prices/noise.ts'
import { createPath } from '../prices/path.ts'
import type { World } from '../prices/world.ts'

/**
 * How the curve of a family lies: logarithms of far over near months, and lots of the front month
 * in a day.
 */
interface Shape {
  /** What the twelfth month is over the front on average, and how far that moves. */
  slope: number
  sway: number
  /** Winter over the mean of the year. */
  winter: number
  lots: number
}

const shapes: Readonly<Record<FamilyCode, Shape>> = {
  BRENT_FUTURES: { slope: -0.02, sway: 0.1, winter: 0, lots: 310_000 },
  WTI_FUTURES: { slope: -0.03, sway: 0.11, winter: 0, lots: 340_000 },
  GASOIL_FUTURES: { slope: -0.02, sway: 0.09, winter: 0.01, lots: 120_000 },
  NATURAL_GAS_FUTURES: { slope: 0.05, sway: 0.09, winter: 0.11, lots: 180_000 },
  EUA_FUTURES: { slope: 0.028, sway: 0.01, winter: 0, lots: 24_000 },
  UKA_FUTURES: { slope: 0.035, sway: 0.012, winter: 0, lots: 1_400 },
  TTF_FUTURES: { slope: -0.01, sway: 0.09, winter: 0.07, lots: 95_000 },
  JKM_FUTURES: { slope: 0.01, sway: 0.08, winter: 0.08, lots: 9_000 },
}

/** What is drawn for each contract and date, each from a sequence of its own. */
const draws = ['settlement', 'lots', 'interest', 'open', 'high', 'low'] as const
const swayHalfLifeDays = 120
const stepMs = 5 * minuteMs
/** The world begins in 1998, and a date needs the close before it. */
const firstDay = '1999-01-01'

/** One trading date of a family. */
export interface CurveDate {
  day: string
  /** The trading date before. */
  before: string
  front: string
  session: ContractSession
}

/**
 * The prices of the contracts of one family: functions of seed, contract and instant alone, the
 * front month closing where the family's own series does.
 */
export interface WorldCurve {
  family: Family
  /** Undefined when the exchange is closed on the day. */
  date(day: string): CurveDate | undefined
  /** The trading date before a day, whether that is one itself or not. */
  dateBefore(day: string): CurveDate
  close(day: string, month: string): number
  /** Near the close and never the same number. */
  settlement(day: string, month: string): number
  openInterest(day: string, month: string): number
  /** A whole date in one record, with its settlement. */
  bar(date: CurveDate, month: string): DayRecord
  /**
   * Prices of `[from, to)` on the five-minute grid of a session, every `stride`-th of them and the
   * close; opening and close included.
   */
  ticks(date: CurveDate, month: string, from: number, to: number, stride: number): TickRecord[]
}

export function createWorldCurve(deps: {
  seed: number
  family: Family
  decimals: number
  world: World
}): WorldCurve {
  const { family, decimals, world, seed } = deps
  const shape = shapes[family.code]
  const keys = Object.fromEntries(
    draws.map(name => [name, keyOf(`${seed}/contracts/${family.code}/${name}`)]),
  ) as Record<(typeof draws)[number], number>
  const sway = createPath(seed, `curve/${family.code}`, swayHalfLifeDays, false)
  const scale = 10 ** decimals
  const rounded = (value: number) => Math.max(1, Math.round(value * scale)) / scale
  const dates = new Map<string, CurveDate | undefined>()
  const years = new Map<
    string,
    { closes: Map<string, number>; slopes: Float64Array; firstDay: number }
  >()
  const paths = new Map<string, Float64Array>()
  let changes = world.changes?.()
  const forgetChanged = () => {
    if (world.changes?.() === changes) return
    changes = world.changes?.()
    years.clear()
    paths.clear()
  }

  /**
   * Closes and slopes are made a year at a time: one by one their paths would be walked anew for
   * each.
   */
  const yearOf = (day: string) => {
    forgetChanged()
    const name = day.slice(0, 4)
    const cached = years.get(name)
    if (cached) return cached
    const from = Date.UTC(Number(name), 0, 1)
    const to = Date.UTC(Number(name) + 1, 0, 1)
    const closesOnly = {
      from,
      hourlyFrom: Number.POSITIVE_INFINITY,
      rawFrom: Number.POSITIVE_INFINITY,
    }
    const observed = world.observations(family.code, from, to + dayMs, closesOnly)
    const slopes = new Float64Array((to - from) / dayMs)
    sway.addTo(slopes, from / dayMs, shape.sway, true)
    const year = {
      closes: new Map(
        observed.map(observation => [isoDay(observation.observedAt), observation.value]),
      ),
      slopes,
      firstDay: from / dayMs,
    }
    years.set(name, year)
    return year
  }

  /** The family's own series at the close of a trading date. */
  const frontClose = (day: string): number => yearOf(day).closes.get(day)!

  const date = (day: string): CurveDate | undefined => {
    if (dates.has(day)) return dates.get(day)
    const tradingDate = tradesOn(family, day)
      ? {
          day,
          before: dayBefore(day),
          front: listedMonths(family.code, day, 1)[0]!,
          session: sessionOn(family, day),
        }
      : undefined
    dates.set(day, tradingDate)
    return tradingDate
  }
  const dayBefore = (day: string): string => {
    let before = dayAfter(day, -1)
    while (!tradesOn(family, before)) before = dayAfter(before, -1)
    return before
  }
  const dateBefore = (day: string) => date(dayBefore(day))!

  const season = (month: string): number =>
    shape.winter * Math.cos((2 * Math.PI * (Number(month.slice(5)) - 1)) / 12)

  /** Logarithm of a contract's price over that of the front month; 0 for that itself. */
  const premium = ({ day, front }: CurveDate, month: string): number => {
    const year = yearOf(day)
    const months = monthsBetween(front, month)
    const slope = shape.slope + year.slopes[dayNumber(day) - year.firstDay]!
    return (
      (slope * (1 - Math.exp(-months / 6))) / (1 - Math.exp(-2)) + season(month) - season(front)
    )
  }

  const close = (day: string, month: string) =>
    rounded(frontClose(day) * Math.exp(premium(date(day)!, month)))

  const counter = (day: string, month: string): number =>
    dayNumber(day) * 2048 + (Number(month.slice(0, 4)) % 100) * 12 + Number(month.slice(5))

  const settlement = (day: string, month: string) => {
    const at = counter(day, month)
    const closed = close(day, month)
    const settled = rounded(closed * Math.exp(0.0008 * normal(keys.settlement, at)))
    return settled === closed
      ? rounded(closed + (draw(keys.settlement, at) % 2 === 0 ? 1 : -1) / scale)
      : settled
  }

  /** Lots of a whole day: most in the front month, less in each after it. */
  const lotsOf = ({ day, front }: CurveDate, month: string): number =>
    shape.lots *
    Math.exp(-0.42 * monthsBetween(front, month)) *
    (0.7 + 0.6 * uniform(keys.lots, counter(day, month)))

  const openInterest = (day: string, month: string): number => {
    const { front } = date(day)!
    const months = monthsBetween(front, month)
    // The front month is being left; most positions are in the second.
    return Math.round(
      shape.lots *
        (months === 0 ? 0.9 : 1.6 * Math.exp(-0.18 * months)) *
        (0.94 + 0.12 * uniform(keys.interest, counter(day, month))),
    )
  }

  /**
   * What the family's series is through a session: the close before, then every five minutes of the
   * world's own session up to the close.
   */
  const pathOf = (day: string): Float64Array => {
    forgetChanged()
    const cached = paths.get(day)
    if (cached) return cached
    const session = sessionOf(family.market, parseDay(day)!)!
    const steps = (session.closesAt - session.opensAt) / stepMs
    const path = new Float64Array(steps + 1)
    path[0] = frontClose(dayBefore(day))
    // Published with a lag: a few minutes more bring the close.
    for (const { observedAt, value } of world.observations(
      family.code,
      session.opensAt,
      session.closesAt + stepMs,
    )) {
      if (observedAt > session.opensAt && observedAt <= session.closesAt)
        path[(observedAt - session.opensAt) / stepMs] = value
    }
    if (paths.size > 20) paths.clear()
    paths.set(day, path)
    return path
  }

  const ticks: WorldCurve['ticks'] = (of, month, from, to, stride) => {
    const { opensAt, closesAt } = of.session
    const steps = (closesAt - opensAt) / stepMs
    const [firstStep, endStep] = [
      Math.max(0, Math.ceil((from - opensAt) / stepMs)),
      Math.min(steps + 1, Math.ceil((to - opensAt) / stepMs)),
    ]
    if (firstStep >= endStep) return []
    const path = pathOf(of.day)
    const [begin, end] = [premium(date(of.before)!, month), premium(of, month)]
    const lots = (lotsOf(of, month) * stride) / steps
    const at = counter(of.day, month)
    const records: TickRecord[] = []
    for (let step = firstStep; step < endStep; step++) {
      if (step % stride !== 0 && step !== steps) continue
      const share = step / steps
      const place = share * (path.length - 1)
      const low = Math.min(path.length - 2, Math.floor(place))
      const front = path[low]! + (path[low + 1]! - path[low]!) * (place - low)
      // The close is the close to the last digit.
      const price =
        step === steps
          ? close(of.day, month)
          : rounded(front * Math.exp(begin + (end - begin) * share))
      const volume = Math.round(lots * (0.4 + 1.2 * uniform(keys.lots ^ at, step)))
      records.push({
        family: family.code,
        month,
        tradedAt: opensAt + step * stepMs,
        price,
        volume,
        source: generatedSource,
      })
    }
    return records
  }

  return {
    family,
    date: day => (day < firstDay ? undefined : date(day)),
    dateBefore,
    close,
    settlement,
    openInterest,
    ticks,
    bar(of, month) {
      const at = counter(of.day, month)
      const closed = close(of.day, month)
      const open = rounded(close(of.before, month) * Math.exp(0.002 * normal(keys.open, at)))
      return {
        family: family.code,
        month,
        tradedOn: of.day,
        open,
        high: Math.max(
          open,
          closed,
          rounded(Math.max(open, closed) * (1 + 0.006 * uniform(keys.high, at))),
        ),
        low: Math.min(
          open,
          closed,
          rounded(Math.min(open, closed) * (1 - 0.006 * uniform(keys.low, at))),
        ),
        close: closed,
        settlement: settlement(of.day, month),
        volume: Math.round(lotsOf(of, month)),
        openInterest: openInterest(of.day, month),
        source: generatedSource,
      }
    },
  }
}

/** The months listed on a trading date, nearest first. */
export const monthsOn = ({ front }: CurveDate, count: number): string[] =>
  Array.from({ length: count }, (_, i) => monthAfter(front, i))
