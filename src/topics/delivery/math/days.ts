import { dayMs, isoDay, minuteMs, parseDay } from '../../../lib/time/instant.ts'
import { zoneClock } from '../../../lib/time/zone-clock.ts'
import { type DeliveryTerms, lengthOf, type Resolution, resolutionOn } from './terms.ts'

/** The time between the starts of two market days: `[from, to)`, named by its local date. */
export interface MarketDay {
  date: string
  from: number
  to: number
}

/** A delivery period, `[start, end)`. */
export interface Period {
  start: number
  end: number
}

/** The boundaries of days: the zone and the local minute at which they begin. */
export type DayTerms = Pick<DeliveryTerms, 'zone' | 'dayStarts'>

/** The days of a zone from its midnights on. */
export const calendarDays = (zone: string): DayTerms => ({ zone, dayStarts: 0 })

const startOf = ({ zone, dayStarts }: DayTerms, day: number): number =>
  zoneClock(zone).firstAt(day * dayMs + dayStarts * minuteMs)

const dayNumbered = (terms: DayTerms, day: number): MarketDay => ({
  date: isoDay(day * dayMs),
  from: startOf(terms, day),
  to: startOf(terms, day + 1),
})

/**
 * The day of a date; a change of the clock makes it shorter or longer, and a date that the zone left
 * out has no time at all.
 */
export const dayOfDate = (terms: DayTerms, date: string): MarketDay =>
  dayNumbered(terms, parseDay(date)! / dayMs)

/** The day that contains a moment. */
export function dayAt(terms: DayTerms, at: number): MarketDay {
  const local = zoneClock(terms.zone).localAt(at) - terms.dayStarts * minuteMs
  let day = Math.floor(local / dayMs)
  while (startOf(terms, day) > at) day -= 1
  while (startOf(terms, day + 1) <= at) day += 1
  return dayNumbered(terms, day)
}

/** The days that have time within `[from, to)`, the oldest first. */
export function daysBetween(terms: DayTerms, from: number, to: number): MarketDay[] {
  const days: MarketDay[] = []
  for (let at = from; at < to; at = days.at(-1)!.to) days.push(dayAt(terms, at))
  return days
}

/** The date so many days after another. */
export const dateAfter = (date: string, days: number): string =>
  isoDay(parseDay(date)! + days * dayMs)

const lengthIn = (day: MarketDay, resolution: Resolution): number =>
  resolution === 'P1D' ? day.to - day.from : lengthOf(resolution)

/** The periods of a market day in their order; the last one ends with the day. */
export function periodsOf(terms: DeliveryTerms, day: MarketDay): Period[] {
  const length = lengthIn(day, resolutionOn(terms, day.date))
  const periods: Period[] = []
  for (let start = day.from; start < day.to; start += length)
    periods.push({ start, end: Math.min(start + length, day.to) })
  return periods
}

/** The periods that begin within `[from, to)`. */
export const periodsBetween = (terms: DeliveryTerms, from: number, to: number): Period[] =>
  daysBetween(terms, from, to).flatMap(day => {
    const periods = periodsOf(terms, day)
    const isWhole = day.from >= from && day.to <= to
    return isWhole ? periods : periods.filter(({ start }) => start >= from && start < to)
  })

/** The period that contains a moment. */
export const periodAt = (terms: DeliveryTerms, at: number): Period =>
  createPeriodFinder(terms).at(at)

/** Finds periods of moments that mostly follow one another. */
export function createPeriodFinder(terms: DeliveryTerms) {
  let day: MarketDay | undefined
  let length = 0
  const at = (moment: number): Period => {
    if (!day || moment < day.from || moment >= day.to) {
      day = dayAt(terms, moment)
      length = lengthIn(day, resolutionOn(terms, day.date))
    }
    const start = moment - ((moment - day.from) % length)
    return { start, end: Math.min(start + length, day.to) }
  }
  return {
    at,
    /** Whether a period begins at a moment; immediate within the market day of the last call. */
    isStart: (moment: number): boolean =>
      day && moment >= day.from && moment < day.to
        ? (moment - day.from) % length === 0
        : at(moment).start === moment,
  }
}

/** When the values of a market day are published; undefined where they come with delivery. */
export const publishedAt = ({ zone, publishesAt }: DeliveryTerms, date: string) =>
  publishesAt === undefined
    ? undefined
    : zoneClock(zone).firstAt(parseDay(date)! - dayMs + publishesAt * minuteMs)
