import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { createPath, type Path } from '../../prices/demo/path.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import { cotMarkets, cotReleasedAt, reportDays } from '../math/positions.ts'
import type { CotReport, PositionStore } from '../store/positions.ts'

/** Usual open interest in contracts, and which part of it managed money is long and short. */
const sizes: Readonly<Record<string, { openInterest: number; long: number; short: number }>> = {
  WTI: { openInterest: 1_850_000, long: 0.115, short: 0.042 },
  BRENT: { openInterest: 210_000, long: 0.16, short: 0.13 },
  NATURAL_GAS: { openInterest: 1_420_000, long: 0.145, short: 0.175 },
  RBOB: { openInterest: 385_000, long: 0.19, short: 0.045 },
  HEATING_OIL: { openInterest: 330_000, long: 0.13, short: 0.085 },
}

const historyDays = 5 * 366
/**
 * Funds follow a price that stands above its half-year: by so much more for each unit of its log
 * distance, and less where they are short.
 */
const [weekDays, monthDays, halfYearDays] = [7, 28, 182]
const followed = 2
const moodHalfLifeDays = 90
const moodWeight = 0.22
const sizeHalfLifeDays = 400
const sizeWeight = 0.09

/**
 * Natural logarithm of the mean close of a month over that of the half-year that it ends; undefined
 * where the closes do not reach back as far.
 */
function trendOn(closes: readonly Close[], day: string): number | undefined {
  const [monthAfter, halfYearAfter] = [dayAfter(day, -monthDays), dayAfter(day, -halfYearDays)]
  const end = closes.findLastIndex(close => close.day <= day) + 1
  // At most one close a day.
  const inside = closes
    .slice(Math.max(0, end - halfYearDays), end)
    .filter(close => close.day > halfYearAfter && close.value > 0)
  const month = inside.filter(close => close.day > monthAfter)
  if (month.length === 0 || inside[0]!.day > dayAfter(halfYearAfter, weekDays)) return undefined
  const mean = (closes: readonly Close[]) =>
    closes.reduce((sum, close) => sum + close.value, 0) / closes.length
  return Math.log(mean(month) / mean(inside))
}

const valueAt = (path: Path, day: string): number => {
  const out = new Float64Array(1)
  path.addTo(out, parseDay(day)! / dayMs, 1, true)
  return out[0]!
}

/**
 * Weekly reports of what managed money holds, as if they had come out on their Fridays: it buys
 * what has risen, in its own mood.
 */
export function createPositionFiller(deps: {
  seed: number
  positions: PositionStore
  /** Daily closes of a code; undefined until it has its history. */
  closesOf(code: string): readonly Close[] | undefined
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}): Filler {
  const { seed, positions, closesOf, clock, stopwatch = createSystemClock() } = deps
  const markets = cotMarkets.map(({ market, code }) => ({
    market,
    code,
    size: sizes[market]!,
    mood: createPath(seed, `cot/${market}/mood`, moodHalfLifeDays, false),
    interest: createPath(seed, `cot/${market}/interest`, sizeHalfLifeDays, false),
    /** When the next report comes out, Unix ms. */
    dueAt: Number.NEGATIVE_INFINITY,
  }))
  type Market = (typeof markets)[number]

  const reportOf = (
    { market, size, mood, interest }: Market,
    day: string,
    closes: readonly Close[],
  ): CotReport | undefined => {
    const trend = trendOn(closes, day)
    if (trend === undefined) return undefined
    const lean = followed * trend + moodWeight * valueAt(mood, day)
    const openInterest = Math.round(
      size.openInterest * Math.exp(sizeWeight * valueAt(interest, day)),
    )
    const part = (share: number, towards: number) =>
      Math.round(openInterest * Math.min(0.45, share * Math.exp(towards)))
    return {
      market,
      reportedOn: day,
      openInterest,
      source: generatedSource,
      managedMoneyLong: part(size.long, 0.5 * lean),
      managedMoneyShort: part(size.short, -lean),
    }
  }

  /**
   * Publishes the reports of a market that are due; answers how many. Imported reports are kept.
   */
  const publish = (market: Market, now: number): number => {
    if (now < market.dueAt) return 0
    const knownDays = new Set(positions.dates(market.market))
    const [from, to] = [isoDay(now - historyDays * dayMs), isoDay(now)]
    const days = reportDays(from, to)
    const missing = days.filter(day => !knownDays.has(day) && cotReleasedAt(day) <= now)
    // Years of closes are made for reports only that are to be written.
    const closes = missing.length === 0 ? [] : closesOf(market.code)
    if (!closes) return 0
    const reports = missing.flatMap(day => reportOf(market, day, closes) ?? [])
    if (reports.length > 0) {
      positions.write(
        reports.map(report => [report]),
        now,
      )
    }
    const next = [...days, ...reportDays(to, dayAfter(to, 7))]
      .map(cotReleasedAt)
      .filter(at => at > now)
    market.dueAt = Math.min(...next)
    return reports.length
  }

  return {
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      return markets.some(
        market => publish(market, clock.now()) > 0 && stopwatch.monotonic() >= until,
      )
    },
    advance: now => markets.reduce((count, market) => count + publish(market, now), 0),
  }
}
