import { changePercent } from '../../prices/math/change.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'
import type { Grade } from './marine.ts'

/** How much dearer one price is than another. */
export interface Difference {
  /** First minus second, USD per metric ton, to the cent. */
  value: number
  /** 100 x value / second, to two places; undefined when the second is 0. */
  percentage: number | undefined
}

export function difference(first: number, second: number): Difference {
  const percentage = changePercent(second, first)
  return {
    value: roundTo(decimalDifference(first, second), 2),
    percentage: percentage === undefined ? undefined : roundTo(percentage, 2),
  }
}

/** The newest price of each grade that a port has, USD per metric ton. */
export type PortPrices = ReadonlyMap<Grade, number>

/** The difference of every grade that both ports have, first minus second. */
export function gradeDifferences(first: PortPrices, second: PortPrices): Map<Grade, Difference> {
  const differences = new Map<Grade, Difference>()
  for (const [grade, price] of first) {
    const otherPrice = second.get(grade)
    if (otherPrice !== undefined) differences.set(grade, difference(price, otherPrice))
  }
  return differences
}

/**
 * Further apart than this, either way round, two ports are worth a detour or a cargo: what moves a
 * price significantly in a day.
 */
export const arbitragePercent = 5

export const isArbitrage = ({ percentage }: Difference): boolean =>
  percentage !== undefined && Math.abs(percentage) > arbitragePercent

/** The assumed fuel consumption at sea of a ship with a scrubber. */
export const scrubberTonsADay = 30

/**
 * The daily saving of a scrubber at sea, USD: high-sulphur fuel is burned instead of very low
 * sulphur fuel. Negative when that is dearer.
 */
export const scrubberBenefitDaily = ({ value }: Difference): number =>
  roundTo(value * scrubberTonsADay, 2)

/**
 * The difference of two grades at each port that has both, first minus second, and their arithmetic
 * mean; undefined without any.
 */
export function gradeSpread<Port>(
  ports: ReadonlyMap<Port, PortPrices>,
  [first, second]: readonly [Grade, Grade],
): { values: Map<Port, number>; average: number | undefined } {
  const values = new Map<Port, number>()
  for (const [port, prices] of ports) {
    const [a, b] = [prices.get(first), prices.get(second)]
    if (a !== undefined && b !== undefined) values.set(port, roundTo(decimalDifference(a, b), 2))
  }
  const sum = [...values.values()].reduce((sum, value) => sum + value, 0)
  return { values, average: values.size === 0 ? undefined : roundTo(sum / values.size, 2) }
}
