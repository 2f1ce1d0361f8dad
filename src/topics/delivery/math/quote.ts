import { dayMs } from '../../../lib/time/instant.ts'
import { zoneClock } from '../../../lib/time/zone-clock.ts'
import { dayAt, periodAt, periodsOf } from './days.ts'
import { isKnown, type KnownPeriod, meanPrice, priced } from './figures.ts'
import type { DeliveryTerms } from './terms.ts'

/** The period that is being delivered, as a quote has it. */
export interface QuotedDelivery {
  end: number
  /** The following period, where it has a price. */
  next: KnownPeriod | undefined
  /** Its market day. */
  day: { date: string; base: number | null; complete: boolean }
}

interface Value {
  observedAt: number
  value: number
}

/**
 * A quote of the period that begins at `start`: its end, the period after it, its market day,
 * and the price at the same local time a day before. `valuesOf` has the values of `[from, to)`.
 */
export function quotedDelivery(
  terms: DeliveryTerms,
  start: number,
  valuesOf: (from: number, to: number) => readonly Value[],
): { quoted: QuotedDelivery; before: number | undefined } {
  const { end } = periodAt(terms, start)
  const day = dayAt(terms, start)
  const clock = zoneClock(terms.zone)
  const dayBefore = periodAt(terms, clock.firstAt(clock.localAt(start) - dayMs)).start
  const following = periodAt(terms, end)
  const values = valuesOf(Math.min(dayBefore, day.from), Math.max(day.to, following.end))
  const prices = new Map(values.map(({ observedAt, value }) => [observedAt, value]))
  const periods = priced(periodsOf(terms, day), values)
  const known = periods.filter(isKnown)
  const price = prices.get(following.start)
  const next: KnownPeriod | undefined = price === undefined ? undefined : { ...following, price }
  return {
    quoted: {
      end,
      next,
      day: { date: day.date, base: meanPrice(known), complete: known.length === periods.length },
    },
    before: prices.get(dayBefore),
  }
}
