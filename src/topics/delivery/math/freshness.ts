import { hourMs } from '../../../lib/time/instant.ts'
import { dateAfter, dayAt, dayOfDate, periodsOf, publishedAt } from './days.ts'
import { type DeliveryTerms, lengthOf, resolutionOn } from './terms.ts'

/** How long after its publication a market day may come without being late. */
const graceMs = hourMs

/**
 * Until when values are current and until when delayed, Unix ms, from the start of the newest period
 * that has one. By the publication of the market day that is not whole yet; without publications, as
 * long as they are at most two periods behind.
 */
export function freshnessOf(
  terms: DeliveryTerms,
  newest: number,
): { currentUntil: number; delayedUntil: number } {
  const day = dayAt(terms, newest)
  const last = periodsOf(terms, day).at(-1)!
  if (terms.publishesAt === undefined) {
    const currentUntil = newest + 3 * lengthOf(resolutionOn(terms, day.date)) - 1
    return { currentUntil, delayedUntil: currentUntil + day.to - day.from }
  }
  const missing = newest === last.start ? dateAfter(day.date, 1) : day.date
  const dueAt = (date: string) => publishedAt(terms, date)! + graceMs
  return { currentUntil: dueAt(missing), delayedUntil: dueAt(dateAfter(missing, 1)) }
}

/** When values of a market day are expected. */
export const expectedAt = (terms: DeliveryTerms, date: string): number =>
  publishedAt(terms, date) ?? dayOfDate(terms, date).from
