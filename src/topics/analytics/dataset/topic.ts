import type { Declared } from '../../../datasets/dataset.ts'
import { annotations } from './annotations.ts'
import { congressionalTrades } from './congressional-trades.ts'
import { cftcPositions } from './positions.ts'

/** The datasets of positions, notes and trades, for files, feeds and pushes. */
export const analyticsDatasets: readonly Declared[] = [
  cftcPositions,
  annotations,
  congressionalTrades,
]
