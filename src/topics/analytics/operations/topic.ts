import type { Operations } from '../../../http/operations/operation.ts'
import { correlationOperations } from './correlation.ts'
import { forecastOperations } from './forecast.ts'
import { levelIndicatorOperations } from './indicator-levels.ts'
import { listIndicatorOperations } from './indicator-lists.ts'
import { fuelSwitchingOperations } from './indicator-switching.ts'
import { marketBriefOperations } from './market-brief.ts'
import { rollingOperations } from './rolling.ts'
import { analyticsSpreadOperations } from './spread.ts'
import { spreadOperations } from './spreads.ts'
import { statisticsOperations } from './statistics.ts'
import { trendOperations } from './trend.ts'

/** Computed numbers: analytics, spreads, indicators and the market brief. */
export const operations: Operations = [
  statisticsOperations,
  correlationOperations,
  trendOperations,
  rollingOperations,
  analyticsSpreadOperations,
  forecastOperations,
  spreadOperations,
  fuelSwitchingOperations,
  levelIndicatorOperations,
  listIndicatorOperations,
  marketBriefOperations,
]
