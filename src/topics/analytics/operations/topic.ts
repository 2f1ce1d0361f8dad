import type { Operations } from '../../../http/operations/operation.ts'
import { analyticsOperations } from './analytics.ts'
import { levelIndicatorOperations } from './indicator-levels.ts'
import { listIndicatorOperations } from './indicator-lists.ts'
import { fuelSwitchingOperations } from './indicator-switching.ts'
import { marketBriefOperations } from './market-brief.ts'
import { spreadOperations } from './spreads.ts'

/** Computed numbers: analytics, spreads, indicators and the market brief. */
export const operations: Operations = [
  analyticsOperations,
  spreadOperations,
  fuelSwitchingOperations,
  levelIndicatorOperations,
  listIndicatorOperations,
  marketBriefOperations,
]
