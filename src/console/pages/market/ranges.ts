import { decimalsOf } from '../../../topics/prices/math/format.ts'

/** A commodity of `GET /v1/market-brief`. */
export interface Briefed {
  name: string
  price: number
  /** Without a new price for three periods: a forecast from it would be of a past day. */
  stale: boolean
  forecast_1m: { low: number; high: number } | null
}

/** The one-sigma ranges of current prices in a month; undefined where no code has one. */
export function forecastRanges(
  commodities: readonly Briefed[],
  write: (value: number, decimals: number) => string,
): string | undefined {
  const ranges = commodities.flatMap(({ name, price, stale, forecast_1m: month }) => {
    if (stale || !month) return []
    const digits = decimalsOf(price)
    return `${name} ${write(month.low, digits)} to ${write(month.high, digits)}`
  })
  return ranges.length === 0 ? undefined : `One-month forecast, 68% range: ${ranges.join(', ')}.`
}
