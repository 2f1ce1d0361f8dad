import type { Catalogue, Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Observation } from '../math/bars.ts'
import { rateAgeMaxMs, rateCrossings } from '../math/exchange.ts'

/** The exchange rate from one currency to another. */
export interface Rate {
  /** Units of the other currency for one of this, to ten digits. */
  rate: number
  /** Unix ms of the oldest quote that it rests on. */
  asOf: number
  /** The series that it rests on; none for a currency in itself. */
  legs: readonly Resolved[]
}

/** Exchange rates from the quotes of the catalogue's FX series. */
export interface Fx {
  /**
   * From a pair's series or its inverse, else crossed through USD, EUR or both; undefined when a
   * quote is missing. `pricedAt` is the time of the price that it converts: a quote that is more
   * than seven days older is missing too.
   */
  rate(from: string, to: string, now: number, pricedAt: number): Rate | undefined
  /** The currencies that have a rate against USD of any age, in order. */
  currencies(now: number): string[]
}

/** Where the newest quote of a rate comes from; the board is one. */
export interface RateQuotes {
  quote(series: Series): { observation: Pick<Observation, 'value' | 'observedAt'> } | undefined
}

const pairPattern = /^([A-Z]{3})_([A-Z]{3})$/

/** As the time of a price: accepts quotes of any age. */
export const anyAge = Number.NEGATIVE_INFINITY

export function createFx(catalogue: Pick<Catalogue, 'resolve' | 'list'>, quotes: RateQuotes): Fx {
  const quotedRate = (pair: string, now: number, since: number): Rate | undefined => {
    const leg = catalogue.resolve(pair, now)
    if (leg?.series.category !== 'fx') return undefined
    const observation = quotes.quote(leg.series)?.observation
    return observation && observation.value > 0 && observation.observedAt >= since
      ? { rate: observation.value, asOf: observation.observedAt, legs: [leg] }
      : undefined
  }

  const pairRate = (from: string, to: string, now: number, since: number): Rate | undefined => {
    const direct = quotedRate(`${from}_${to}`, now, since)
    if (direct) return direct
    const inverse = quotedRate(`${to}_${from}`, now, since)
    return inverse && { ...inverse, rate: 1 / inverse.rate }
  }

  const crossedRate = (path: readonly string[], now: number, since: number): Rate | undefined => {
    const crossed: Rate = { rate: 1, asOf: Number.POSITIVE_INFINITY, legs: [] }
    for (const [i, to] of path.slice(1).entries()) {
      const step = pairRate(path[i]!, to, now, since)
      if (!step) return undefined
      crossed.rate *= step.rate
      crossed.asOf = Math.min(crossed.asOf, step.asOf)
      crossed.legs = [...crossed.legs, ...step.legs]
    }
    return { ...crossed, rate: Number(crossed.rate.toPrecision(10)) }
  }

  const rate: Fx['rate'] = (from, to, now, pricedAt) => {
    if (from === to) return { rate: 1, asOf: now, legs: [] }
    for (const between of rateCrossings) {
      const crossed = crossedRate([from, ...between, to], now, pricedAt - rateAgeMaxMs)
      if (crossed) return crossed
    }
    return undefined
  }

  return {
    rate,
    currencies(now) {
      const named = catalogue
        .list()
        .flatMap(series =>
          series.category === 'fx' ? (pairPattern.exec(series.code)?.slice(1) ?? []) : [],
        )
      return [...new Set(named)].sort().filter(currency => rate(currency, 'USD', now, anyAge))
    },
  }
}
