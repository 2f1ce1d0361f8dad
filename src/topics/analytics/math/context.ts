import { yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import { type Close, type Measured, measured, windowOf } from '../../prices/math/window.ts'
import { percentile } from './statistics.ts'

/** Where a price is in its last 52 weeks, in the unit of the series. */
export interface PriceContext {
  price: number
  /** 0..100: share of the closes that do not exceed the price. */
  percentile: number
  high: number
  low: number
  average: number
  dataPoints: number
}

/** The newest close among the daily closes of its 364 days, which must hold at least five. */
export function priceContext(closes: readonly Close[]): Measured<PriceContext> {
  const inside = windowOf(closes, yearOfWeeksDays)
  if (!inside.enough) return inside
  const values = inside.value.map(close => close.value)
  const price = values.at(-1)!
  return measured({
    price,
    percentile: percentile(values, price),
    high: Math.max(...values),
    low: Math.min(...values),
    average: values.reduce((sum, value) => sum + value, 0) / values.length,
    dataPoints: values.length,
  })
}
