import { dayMs, isoDay, startOfWeek, weekdayOf } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type Close, dayAfter, dayNumber } from '../../prices/math/window.ts'

/**
 * One line of a carrier's table: `min <= price < max`, price in the unit of the index (USD a gallon
 * for on-highway diesel).
 */
export interface SurchargeBand {
  min: number
  max: number
  /** Percent of the line-haul charge. */
  percent: number
}

/** A carrier's published table as data. */
export interface Schedule {
  /** Ascending, each `max` the next one's `min`. */
  bands: readonly SurchargeBand[]
  /**
   * Above the last band every further `width` is a band that adds `percent`, without end; absent:
   * the last band has no successor.
   */
  beyond?: { width: number; percent: number }
  /** 1 = Monday … 7 = Sunday: the day on which a week's index price takes effect. */
  effectiveWeekday: number
}

/** The price of an index for the week that it was published on. */
export interface WeekPrice {
  day: string
  price: number
}

/** A week's surcharge and the price and band it was matched to. */
export interface WeekSurcharge {
  effectiveOn: string
  indexPrice: number
  band: { min: number; max: number }
  percent: number
}

/** Edges are decimals of at most six places, so that a price on the edge compares equal to it. */
const decimal = (value: number): number => Math.round(value * 1e6) / 1e6

/**
 * `count` bands of equal width: the k-th (from 0) begins at `from` + k x `width` and costs
 * `percent` + k x `step`.
 */
export function steppedBands(
  from: number,
  width: number,
  count: number,
  percent: number,
  step: number,
): SurchargeBand[] {
  return Array.from({ length: count }, (_, k) => ({
    min: decimal(from + k * width),
    max: decimal(from + (k + 1) * width),
    percent: decimal(percent + k * step),
  }))
}

/**
 * The band whose `min <= price < max` holds the price; undefined below the first band, or above the
 * last of a table that ends.
 */
export function bandFor(schedule: Schedule, price: number): SurchargeBand | undefined {
  const last = schedule.bands.at(-1)
  if (!last || price < last.max)
    return schedule.bands.find(band => band.min <= price && price < band.max)
  if (!schedule.beyond || !Number.isFinite(price)) return undefined
  const { width, percent } = schedule.beyond
  const edge = (k: number) => decimal(last.max + k * width)
  let k = Math.floor((price - last.max) / width)
  if (price < edge(k)) k--
  if (price >= edge(k + 1)) k++
  return { min: edge(k), max: edge(k + 1), percent: decimal(last.percent + (k + 1) * percent) }
}

/** The first `weekday` (1 = Monday … 7 = Sunday) after `day`. */
export function nextWeekday(day: string, weekday: number): string {
  const today = weekdayOf(dayNumber(day) * dayMs)
  return dayAfter(day, ((weekday - today + 6) % 7) + 1)
}

/** A table and the day from which it holds. */
export interface DatedSchedule extends Schedule {
  validFromOn: string
}

/**
 * One surcharge for each effective date, newest first; a week whose price has no band is left out,
 * of two prices for one date the later counts.
 */
export function weeklySurcharges(schedule: Schedule, weeks: readonly WeekPrice[]): WeekSurcharge[] {
  const byDate = new Map<string, WeekSurcharge>()
  for (const { day, price } of [...weeks].sort((a, b) => (a.day < b.day ? -1 : 1))) {
    const band = bandFor(schedule, price)
    if (!band) continue
    const effectiveOn = nextWeekday(day, schedule.effectiveWeekday)
    byDate.set(effectiveOn, {
      effectiveOn,
      indexPrice: price,
      band: { min: band.min, max: band.max },
      percent: band.percent,
    })
  }
  return [...byDate.values()].reverse()
}

/**
 * The surcharges of the weeks that each of a service's tables (oldest first) holds for, with the
 * table they were read from.
 */
export function surchargesOf<T extends DatedSchedule>(
  tables: readonly T[],
  weeksOf: (table: T) => readonly WeekPrice[],
) {
  return tables.flatMap((table, i) => {
    const until = tables[i + 1]?.validFromOn
    return weeklySurcharges(table, weeksOf(table))
      .filter(
        ({ effectiveOn }) =>
          effectiveOn >= table.validFromOn && (until === undefined || effectiveOn < until),
      )
      .map(week => ({ table, week }))
  })
}

/**
 * The prices that tables are read at: a weekly survey as published; of an index that is quoted more
 * often the arithmetic mean of the closes of each week (Monday to Sunday) that is over on `today`,
 * dated by its Sunday. `closes` oldest first.
 */
export function indexWeeks(
  closes: readonly Close[],
  cadence: Cadence,
  decimals: number,
  today: string,
): WeekPrice[] {
  if (cadence === 'weekly' || cadence === 'monthly')
    return closes.map(({ day, value }) => ({ day, price: value }))
  const weeks = Map.groupBy(closes, ({ day }) =>
    isoDay(startOfWeek(dayNumber(day) * dayMs) + 6 * dayMs),
  )
  return [...weeks]
    .filter(([sunday]) => sunday < today)
    .map(([day, own]) => ({
      day,
      price: roundTo(own.reduce((sum, { value }) => sum + value, 0) / own.length, decimals),
    }))
}
