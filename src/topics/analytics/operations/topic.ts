import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { analyticsOperations } from './analytics.ts'
import { levelIndicatorOperations } from './indicator-levels.ts'
import { listIndicatorOperations } from './indicator-lists.ts'
import { fuelSwitchingOperations } from './indicator-switching.ts'
import { marketBriefOperations } from './market-brief.ts'
import { spreadOperations } from './spreads.ts'

/** Computed numbers: analytics, spreads, indicators and the market brief. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...analyticsOperations,
    ...spreadOperations(context),
    ...fuelSwitchingOperations,
    ...levelIndicatorOperations,
    ...listIndicatorOperations,
    ...marketBriefOperations,
  ]
}
