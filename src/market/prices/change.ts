import { roundTo } from './format.ts'

export interface PriceChange {
  amount: number
  /** Undefined when the previous price is 0. */
  percent: number | undefined
  previous: number
}

/**
 * 100 x (to / from - 1), against the absolute value of `from` so that its sign says which way the
 * price went; undefined from 0.
 */
export const changePercent = (from: number, to: number): number | undefined =>
  from === 0 ? undefined : (100 * (to - from)) / Math.abs(from)

/** How a price moved, the amount rounded to the price's decimals and the percentage to two. */
export function priceChange(from: number, to: number, decimals: number): PriceChange {
  const percent = changePercent(from, to)
  return {
    amount: roundTo(to - from, decimals),
    percent: percent === undefined ? undefined : roundTo(percent, 2),
    previous: roundTo(from, decimals),
  }
}
