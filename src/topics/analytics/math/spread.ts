import { dayMs, weekdayOf } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import {
  type Close,
  commonDays,
  dayNumber,
  type Measured,
  measured,
} from '../../prices/math/window.ts'
import { barrelsPerTonne, type SpreadIdentity } from '../../units/math/identities.ts'
import { type Statistics, statisticsOf, zScoreBand } from './statistics.ts'

/** Every series a spread needs, exchange rates last, each once. */
export function codesOf(identity: SpreadIdentity): string[] {
  const rates = identity.legs.flatMap(({ fx }) => fx ?? [])
  return [...new Set([...identity.legs.map(({ code }) => code), ...rates])]
}

/**
 * A spread with, for each leg, what one unit of its price counts for: a difference is the sum of
 * `price` x `weight`.
 */
export type Combined =
  | { complete: true; value: number; legs: { code: string; price: number; weight: number }[] }
  | { complete: false; missing: string }

/**
 * The spread of these prices, in its unit; names the first leg (or rate) without one, and the
 * divisor of a ratio when it is 0.
 */
export function combine(
  identity: SpreadIdentity,
  priceOf: (code: string) => number | undefined,
): Combined {
  const legs: { code: string; price: number; weight: number }[] = []
  for (const { code, weight, factor, fx } of identity.legs) {
    const [price, rate] = [priceOf(code), fx === undefined ? 1 : priceOf(fx)]
    if (price === undefined) return { complete: false, missing: code }
    if (rate === undefined) return { complete: false, missing: fx! }
    legs.push({ code, price, weight: weight * factor * rate })
  }
  if (identity.form === 'difference')
    return {
      complete: true,
      value: legs.reduce((sum, { price, weight }) => sum + price * weight, 0),
      legs,
    }
  const [over, under] = legs as [(typeof legs)[0], (typeof legs)[0]]
  if (under.price === 0) return { complete: false, missing: under.code }
  return { complete: true, value: (over.price * over.weight) / (under.price * under.weight), legs }
}

/** One common date of a spread: its value, and the price of each series that makes it. */
export interface SpreadDay extends Close {
  prices: Record<string, number>
}

/**
 * What a difference of decimal prices has behind these places is noise: with it, equal spreads would
 * have a deviation and different ranks.
 */
const spreadDecimals = 12

/**
 * The spread on every date that all its series have, ascending; a date on which the divisor of a
 * ratio is 0 is left out. With a period, dates before the last `periodDays` may be missing.
 */
export function spreadHistory(
  identity: SpreadIdentity,
  closesOf: (code: string) => readonly Close[],
  periodDays?: number,
): SpreadDay[] {
  const codes = codesOf(identity)
  // The window ends at the newest value: a ratio may have none on the newest shared date.
  return commonDays(
    codes.map(closesOf),
    identity.form === 'ratio' ? undefined : periodDays,
  ).flatMap(({ day, values }) => {
    const prices = Object.fromEntries(codes.map((code, i) => [code, values[i]!]))
    const combined = combine(identity, code => prices[code])
    return combined.complete
      ? [{ day, value: roundTo(combined.value, spreadDecimals), prices }]
      : []
  })
}

/** The rank of the newest value of a spread among those of the last `periodDays`; needs five. */
export function spreadStatistics(
  history: readonly SpreadDay[],
  periodDays: number,
): Measured<Statistics & { current: SpreadDay; interpretation: string }> {
  const statistics = statisticsOf(history, periodDays)
  if (!statistics.enough) return statistics
  const z = statistics.value.zScore
  const interpretation =
    z === undefined
      ? 'the spread did not move in the period'
      : `${zScoreBand(z)}: ${Math.abs(z).toFixed(2)} standard deviations ${z < 0 ? 'below' : 'above'} the mean`
  return measured({ ...statistics.value, current: history.at(-1)!, interpretation })
}

/**
 * How much of the requested range (both days inclusive) has observations; `complete` when every weekday
 * has one.
 */
export interface Coverage {
  from: string | null
  to: string | null
  observations: number
  complete: boolean
}

export function coverage(days: readonly string[], from: string, to: string): Coverage {
  const inside = days.filter(day => day >= from && day <= to)
  const observedDays = new Set(inside.map(dayNumber))
  let complete = true
  for (let day = dayNumber(from); day <= dayNumber(to) && complete; day++)
    complete = weekdayOf(day * dayMs) > 5 || observedDays.has(day)
  return {
    from: inside[0] ?? null,
    to: inside.at(-1) ?? null,
    observations: inside.length,
    complete,
  }
}

/** gasoil (USD/t) / 7.45 - Brent (USD/bbl), in USD/bbl. */
export function gasoilCrack(
  gasoil: number,
  brent: number,
): { value: number; gasoilPerBarrel: number; barrelsPerTonne: number } {
  const gasoilPerBarrel = gasoil / barrelsPerTonne.gasoil
  return {
    value: gasoilPerBarrel - brent,
    gasoilPerBarrel,
    barrelsPerTonne: barrelsPerTonne.gasoil,
  }
}
