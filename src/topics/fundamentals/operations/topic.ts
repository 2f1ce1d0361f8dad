import type { Operations } from '../../../http/operations/operation.ts'
import { inventoryOperations } from './inventories.ts'
import { monthlyForecastOperations } from './monthly-forecasts.ts'
import { opecOperations } from './opec.ts'
import { outlookOperations } from './outlooks.ts'
import { storageOperations } from './storage.ts'

/** Supply, stocks and what agencies and the service expect. */
export const operations: Operations = [
  storageOperations,
  inventoryOperations,
  opecOperations,
  outlookOperations,
  monthlyForecastOperations,
]
