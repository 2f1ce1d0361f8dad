import { isKnown, type KnownPeriod, meanPrice, type PricedPeriod } from './figures.ts'

export interface CheapestQuery {
  /** How much time, Unix ms. */
  lengthMs: number
  /** One uninterrupted block of time. */
  contiguous: boolean
  /** The dearest instead of the cheapest. */
  dearest: boolean
}

/** The cheapest time of a day, in the order of time. */
export interface CheapestTime {
  average: number
  periods: KnownPeriod[]
}

/** Undefined: there are too few periods with a price. The earliest of equals. */
export function cheapestTime(
  all: readonly PricedPeriod[],
  { lengthMs, contiguous, dearest }: CheapestQuery,
): CheapestTime | undefined {
  const known = all.filter(isKnown)
  const sign = dearest ? -1 : 1
  const chosen = contiguous
    ? cheapestWindow(known, lengthMs, sign)
    : cheapestOf(known, lengthMs, sign)
  return chosen && { average: meanPrice(chosen)!, periods: chosen }
}

function cheapestOf(known: readonly KnownPeriod[], lengthMs: number, sign: number) {
  const chosen: KnownPeriod[] = []
  let left = lengthMs
  for (const period of known.toSorted((a, b) => sign * (a.price - b.price) || a.start - b.start)) {
    const length = period.end - period.start
    if (length > left) continue
    chosen.push(period)
    left -= length
    if (left === 0) return chosen.sort((a, b) => a.start - b.start)
  }
  return undefined
}

function cheapestWindow(known: readonly KnownPeriod[], lengthMs: number, sign: number) {
  let best: { mean: number; periods: KnownPeriod[] } | undefined
  for (const [i, first] of known.entries()) {
    let until = i
    while (
      known[until]!.end - first.start < lengthMs &&
      known[until + 1]?.start === known[until]!.end
    )
      until += 1
    if (known[until]!.end - first.start !== lengthMs) continue
    const periods = known.slice(i, until + 1)
    const mean = sign * meanPrice(periods)!
    if (!best || mean < best.mean) best = { mean, periods }
  }
  return best?.periods
}
