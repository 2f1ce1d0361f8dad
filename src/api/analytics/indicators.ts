import { Elysia } from 'elysia'
import { levelIndicators } from './indicator-levels.ts'
import { listIndicators } from './indicator-lists.ts'
import type { IndicatorDeps } from './indicator-shape.ts'
import { fuelSwitching } from './indicator-switching.ts'

/** Market indicators, a path for each: any other name is an unknown route. */
export const indicators = (deps: IndicatorDeps) =>
  new Elysia().use(fuelSwitching(deps)).use(levelIndicators(deps)).use(listIndicators(deps))
