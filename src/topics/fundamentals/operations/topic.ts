import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { inventoryOperations } from './inventories.ts'
import { monthlyForecastOperations } from './monthly-forecasts.ts'
import { opecOperations } from './opec.ts'
import { outlookOperations } from './outlooks.ts'
import { storageOperations } from './storage.ts'

/** Supply, stocks and what agencies and the service expect. */
export const operationsOf = (context: Context): Operation[] => [
  ...storageOperations,
  ...inventoryOperations,
  ...opecOperations,
  ...outlookOperations,
  ...monthlyForecastOperations(context),
]
