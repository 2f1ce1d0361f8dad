import type { Declared } from '../../../datasets/dataset.ts'
import { futuresSettlements } from './settlements.ts'
import { futuresTicks } from './ticks.ts'

/** The datasets of futures contracts that files, feeds and pushes may bring. */
export const futuresDatasets: readonly Declared[] = [futuresSettlements, futuresTicks]
