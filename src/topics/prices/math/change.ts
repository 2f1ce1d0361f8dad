import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import { decimalDifference, roundTo } from './format.ts'

export type ChangeSpan = '24h' | '7d' | '30d' | '90d'

const spanDays: Record<ChangeSpan, number> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }

/**
 * The moments, Unix ms, before which the newest observation is what a price observed at
 * `observedAt` is compared with.
 */
export function changeBases(
  cadence: Cadence,
  observedAt: number,
): readonly (readonly [span: ChangeSpan, before: number])[] {
  const spans = Object.entries(spanDays) as [ChangeSpan, number][]
  return spans.map(([span, days]) => [
    span,
    // A daily series compares with its previous close, even where a weekend lies between.
    span === '24h' && cadence === 'daily' ? startOfDay(observedAt) : observedAt - days * dayMs + 1,
  ])
}

/**
 * How much older than its moment a base may be: two weeks, in which the longest market holidays end,
 * or three periods of a rarer series.
 */
export const baseAgeMaxMs = (cadence: Cadence): number =>
  dayMs * (cadence === 'monthly' ? 93 : cadence === 'weekly' ? 21 : 14)

export type PriceChange = ReturnType<typeof priceChange>

/**
 * 100 x (to / from - 1), against the absolute value of `from` so that its sign is the direction of
 * the price; undefined from 0.
 */
export const changePercent = (from: number, to: number): number | undefined =>
  from === 0 ? undefined : (100 * (to - from)) / Math.abs(from)

/** The change of a price, the amount rounded to the price's decimals and the percentage to two. */
export function priceChange(from: number, to: number, decimals: number) {
  const percent = changePercent(from, to)
  return {
    amount: roundTo(decimalDifference(to, from), decimals),
    /** Undefined when the previous price is 0. */
    percent: percent === undefined ? undefined : roundTo(percent, 2),
    previous: roundTo(from, decimals),
  }
}
