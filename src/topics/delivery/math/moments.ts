import { addDuration } from '../../../lib/time/duration.ts'
import { parseDay, parseInstant } from '../../../lib/time/instant.ts'
import { zoneClock } from '../../../lib/time/zone-clock.ts'
import { createPeriodFinder, dayOfDate, periodsOf } from './days.ts'
import { type DeliveryTerms, resolutionOn } from './terms.ts'

/** Why a time is not the start of a period, with the starts before and after it. */
export interface NoPeriod {
  reason: 'no_such_period' | 'ambiguous'
  nearest: number[]
}

const localTime = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)$/
const wholeNumber = /^\d{1,3}$/

const readers = new WeakMap<DeliveryTerms, PeriodReader>()

/** Finds periods of a series; it caches the market day of its last result. */
export function periodReader(terms: DeliveryTerms): PeriodReader {
  const known = readers.get(terms) ?? createPeriodReader(terms)
  readers.set(terms, known)
  return known
}

/** Reads the times that values of a delivery series come with, for many values of one series. */
export function createPeriodReader(terms: DeliveryTerms) {
  const finder = createPeriodFinder(terms)
  const clock = zoneClock(terms.zone)

  const around = (at: number): number[] => {
    const before = finder.at(at)
    return [before.start, before.end]
  }
  const startAt = (at: number): number | NoPeriod =>
    finder.isStart(at) ? at : { reason: 'no_such_period', nearest: around(at) }

  let horizon = { now: Number.NaN, latest: 0 }
  return {
    isStart: finder.isStart,
    /** The latest start that values may have. */
    latest(now: number): number {
      if (horizon.now !== now) horizon = { now, latest: addDuration(now, terms.horizon) ?? now }
      return horizon.latest
    },
    /**
     * A time as text: an instant, a local time, or with periods of a day the market day. Undefined
     * for any other text.
     */
    read(text: string): number | NoPeriod | undefined {
      const at = parseInstant(text)
      if (at !== undefined) return startAt(at)
      const day = parseDay(text)
      if (day !== undefined)
        return resolutionOn(terms, text) === 'P1D' ? this.numbered(text, 1) : undefined
      const [, date, time] = localTime.exec(text) ?? []
      const local = date === undefined ? undefined : parseInstant(`${date}T${time}Z`)
      if (local === undefined) return undefined
      const moments = clock.momentsOf(local)
      if (moments.length === 1) return startAt(moments[0]!)
      if (moments.length > 1)
        return { reason: 'ambiguous', nearest: moments.map(moment => finder.at(moment).start) }
      // The clocks skip it: the starts on both sides of their change.
      const change = clock.firstAt(local)
      const { start, end } = finder.at(change)
      const after = start === change ? start : end
      return { reason: 'no_such_period', nearest: [finder.at(change - 1).start, after] }
    },
    /** A period of a market day by its number, from 1. Undefined: it is not a day or not a number. */
    numbered(date: unknown, number: unknown): number | NoPeriod | undefined {
      const text = typeof number === 'string' ? number.trim() : number
      const index = typeof text === 'string' && wholeNumber.test(text) ? Number(text) : text
      if (typeof date !== 'string' || parseDay(date.trim()) === undefined) return undefined
      if (typeof index !== 'number' || !Number.isInteger(index)) return undefined
      const day = dayOfDate(terms, date.trim())
      const periods = periodsOf(terms, day)
      const period = periods[index - 1]
      if (period) return period.start
      const nearest =
        index < 1
          ? [finder.at(day.from - 1).start, day.from]
          : [finder.at(day.to - 1).start, day.to]
      return { reason: 'no_such_period', nearest }
    },
  }
}

export type PeriodReader = ReturnType<typeof createPeriodReader>
