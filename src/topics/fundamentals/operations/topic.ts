import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { inventoryOperations } from './inventories.ts'
import { monthlyForecastOperations } from './monthly-forecasts.ts'
import { opecOperations } from './opec.ts'
import { outlookOperations } from './outlooks.ts'
import { storageOperations } from './storage.ts'

/** Families of energy intelligence, under its prefix and under the alias of it. */
const families: readonly ((context: Context) => Operation[])[] = [
  inventoryOperations,
  opecOperations,
  outlookOperations,
]

/** Supply, stocks and what agencies and the service expect. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...storageOperations(context),
    ...families.flatMap(family => family(context)),
    ...monthlyForecastOperations(context),
  ]
}
