/** Ratios of units that are mistaken for each other. */
export const unitFactors: readonly NamedFactor[] = [
  [42, 'gallons and barrels'],
  [1000, 'thousands'],
  [100, 'cents or percent'],
  [6.2898, 'cubic metres and barrels'],
  [10, 'a decimal point'],
  [7.33, 'tons and barrels'],
  [3.6, 'gigajoules and megawatt hours'],
  [2.2046, 'pounds and kilograms'],
  [3.7854, 'litres and gallons'],
]
const unitTolerance = 0.04

export interface MistakenUnits {
  factor: number
  /** The two of them, in words. */
  name: string
}

/** A ratio of two units, with its name in words. */
export type NamedFactor = readonly [factor: number, name: string]

/**
 * The two units whose ratio fits a ratio of values, within the range that the series itself may
 * move (`spread`: one robust deviation of its relative changes). `rates` are those of its currency.
 */
export function unitOf(
  ratio: number,
  spread: number,
  rates: readonly NamedFactor[] = [],
): MistakenUnits | undefined {
  if (!(ratio > 0)) return undefined
  const up = ratio > 1 ? ratio : 1 / ratio
  const tolerance = Math.max(unitTolerance, Math.min(0.1, 4 * spread))
  const unit =
    unitFactors.find(([factor]) => Math.abs(up / factor - 1) <= tolerance) ??
    // There are many currencies: with a wider tolerance every ratio would be one of them.
    rates.find(([factor]) => Math.abs(up / factor - 1) <= unitTolerance)
  return unit && { factor: unit[0], name: unit[1] }
}
