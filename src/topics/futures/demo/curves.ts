import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { draw, keyOf, normal, uniform } from '../../prices/demo/noise.ts'
import { createPath } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayNumber } from '../../prices/math/window.ts'
import type { DayRecord, TickRecord } from '../math/contract-days.ts'
import { monthAfter } from '../math/contracts.ts'
import { monthsBetween } from '../math/curve.ts'
import type { Family, FamilyCode } from '../math/families.ts'
import { type CurveDate, createCurveDates } from './dates.ts'
import { createFront, stepMs } from './front.ts'

/**
 * The shape of a family's curve: logarithms of far over near months, and lots of the front month in
 * a day.
 */
interface Shape {
  /** The mean premium of the twelfth month over the front, and how far it varies. */
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

/** The random draws for each contract and date, each from a separate sequence. */
const draws = ['settlement', 'lots', 'interest', 'open', 'high', 'low'] as const
const swayHalfLifeDays = 120
/** Generated data begins in 1998, and a date needs the close before it. */
const firstDay = '1999-01-01'

/**
 * The prices of the contracts of one family: functions of seed, contract and instant alone, the
 * front month closing where the family's custom series does.
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
  const dates = createCurveDates(family)
  const front = createFront(world, family, sway, shape.sway)
  const season = (month: string): number =>
    shape.winter * Math.cos((2 * Math.PI * (Number(month.slice(5)) - 1)) / 12)

  /** Logarithm of a contract's price over that of the front month; 0 for that itself. */
  const premium = ({ day, front: first }: CurveDate, month: string): number => {
    const months = monthsBetween(first, month)
    const slope = shape.slope + front.slope(day)
    return (
      (slope * (1 - Math.exp(-months / 6))) / (1 - Math.exp(-2)) + season(month) - season(first)
    )
  }

  const close = (day: string, month: string) =>
    rounded(front.close(day) * Math.exp(premium(dates.on(day)!, month)))

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
    const months = monthsBetween(dates.on(day)!.front, month)
    // The front month is being left; most positions are in the second.
    return Math.round(
      shape.lots *
        (months === 0 ? 0.9 : 1.6 * Math.exp(-0.18 * months)) *
        (0.94 + 0.12 * uniform(keys.interest, counter(day, month))),
    )
  }

  const ticks: WorldCurve['ticks'] = (of, month, from, to, stride) => {
    const { opensAt, closesAt } = of.session
    const steps = (closesAt - opensAt) / stepMs
    const [firstStep, endStep] = [
      Math.max(0, Math.ceil((from - opensAt) / stepMs)),
      Math.min(steps + 1, Math.ceil((to - opensAt) / stepMs)),
    ]
    if (firstStep >= endStep) return []
    const path = front.path(of.day, of.before)
    const [begin, end] = [premium(dates.on(of.before)!, month), premium(of, month)]
    const lots = (lotsOf(of, month) * stride) / steps
    const at = counter(of.day, month)
    const records: TickRecord[] = []
    for (let step = firstStep; step < endStep; step++) {
      if (step % stride !== 0 && step !== steps) continue
      const share = step / steps
      const place = share * (path.length - 1)
      const low = Math.min(path.length - 2, Math.floor(place))
      const frontPrice = path[low]! + (path[low + 1]! - path[low]!) * (place - low)
      // The close is the close to the last digit.
      const price =
        step === steps
          ? close(of.day, month)
          : rounded(frontPrice * Math.exp(begin + (end - begin) * share))
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
    date: day => (day < firstDay ? undefined : dates.on(day)),
    dateBefore: dates.before,
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
