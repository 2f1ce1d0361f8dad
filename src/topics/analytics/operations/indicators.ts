import { levelIndicatorOperations } from './indicator-levels.ts'
import { listIndicatorOperations } from './indicator-lists.ts'
import type { IndicatorDeps } from './indicator-shape.ts'
import { fuelSwitchingOperations } from './indicator-switching.ts'

/** Market indicators, a path for each: any other name is an unknown route. */
export const indicatorOperations = (deps: IndicatorDeps) => [
  ...fuelSwitchingOperations,
  ...levelIndicatorOperations,
  ...listIndicatorOperations(deps),
]
