/** Ratios of units that are mistaken for each other. */
export const unitFactors: readonly NamedFactor[] = [
  [42, 'between gallons and barrels'],
  [1000, 'with a factor of a thousand'],
  [100, 'with cents or percent'],
  [6.2898, 'between cubic metres and barrels'],
  [10, 'with a misplaced decimal point'],
  [7.33, 'between tons and barrels'],
  [3.6, 'between gigajoules and megawatt hours'],
  [2.2046, 'between pounds and kilograms'],
  [3.7854, 'between litres and gallons'],
]
const unitTolerance = 0.04

export interface MistakenUnits {
  factor: number
  /** The mistake in words that follow "as". */
  name: string
}

/** A ratio of two units, with the mistake in words that follow "as". */
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
