import type { Declared } from '../../../datasets/dataset.ts'
import { futuresSettlements } from './settlements.ts'
import { futuresTicks } from './ticks.ts'

/** What files, feeds and pushes may bring of futures contracts. */
export const futuresDatasets: readonly Declared[] = [futuresSettlements, futuresTicks]
