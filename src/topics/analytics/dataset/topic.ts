import type { Declared } from '../../../datasets/dataset.ts'
import { annotations } from './annotations.ts'
import { congressionalTrades } from './congressional-trades.ts'
import { cftcPositions } from './positions.ts'

/** What files, feeds and pushes may bring of positions, notes and trades. */
export const analyticsDatasets: readonly Declared[] = [
  cftcPositions,
  annotations,
  congressionalTrades,
]
