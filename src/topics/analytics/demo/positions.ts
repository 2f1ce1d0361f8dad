import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { createPath, type Path } from '../../prices/demo/path.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import type { CotReport } from '../dataset/positions.ts'
import { cotMarkets, cotReleasedAt, reportDays } from '../math/positions.ts'
import type { PositionStore } from '../store/positions.ts'

/** Usual open interest in contracts, and which part of it managed money is long and short. */
const sizes: Readonly<Record<string, { openInterest: number; long: number; short: number }>> = {
  WTI: { openInterest: 1_850_000, long: 0.115, short: 0.042 },
  BRENT: { openInterest: 210_000, long: 0.16, short: 0.13 },
  NATURAL_GAS: { openInterest: 1_420_000, long: 0.145, short: 0.175 },
  RBOB: { openInterest: 385_000, long: 0.19, short: 0.045 },
  HEATING_OIL: { openInterest: 330_000, long: 0.13, short: 0.085 },
}

const historyDays = 5 * 366
/** From the day of a report to its release, holidays included. */
const longestReleaseMs = 14 * dayMs
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
export function createPositionData(deps: {
  seed: number
  positions: PositionStore
  /** Daily closes of a code up to `now`; undefined where there is no such code. */
  closesOf(code: string, now: number): readonly Close[] | undefined
}): DemoData {
  const { seed, positions, closesOf } = deps
  const markets = cotMarkets.map(({ market, code }) => ({
    market,
    code,
    size: sizes[market]!,
    mood: createPath(seed, `cot/${market}/mood`, moodHalfLifeDays, false),
    interest: createPath(seed, `cot/${market}/interest`, sizeHalfLifeDays, false),
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

  /** Imported reports are kept. */
  const write = (days: readonly string[], now: number): number => {
    if (days.length === 0) return 0
    let count = 0
    for (const market of markets) {
      const known = new Set(positions.dates(market.market))
      const closes = closesOf(market.code, now)
      if (!closes) continue
      const reports = days
        .filter(day => !known.has(day))
        .flatMap(day => reportOf(market, day, closes) ?? [])
      if (reports.length > 0)
        positions.write(
          reports.map(report => [report]),
          now,
        )
      count += reports.length
    }
    return count
  }
  const releasedIn = (from: number, to: number): string[] =>
    reportDays(isoDay(from - longestReleaseMs), isoDay(to)).filter(day => {
      const releasedAt = cotReleasedAt(day)
      return releasedAt >= from && releasedAt < to
    })

  return {
    percent: 2,
    generate: now => writtenAtOnce(() => write(releasedIn(now - historyDays * dayMs, now), now)),
    publish: (from, to) => write(releasedIn(from, to), to),
  }
}
