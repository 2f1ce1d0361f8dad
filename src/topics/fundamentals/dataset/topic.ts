import type { Declared } from '../../../datasets/dataset.ts'
import { oilInventories } from './oil-inventories.ts'
import { opecProductions } from './opec-productions.ts'
import { outlooks } from './outlooks.ts'
import { storageCapacities } from './storage-capacities.ts'

/** The datasets of supply, stocks and forecasts, for files, feeds and pushes. */
export const fundamentalDatasets: readonly Declared[] = [
  storageCapacities,
  oilInventories,
  opecProductions,
  outlooks,
]
