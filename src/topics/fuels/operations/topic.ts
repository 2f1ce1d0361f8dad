import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { bunkerOperations } from './bunker.ts'
import { dieselOperations } from './diesel.ts'
import { marineOperations } from './marine.ts'
import { fuelSurchargeOperations } from './surcharge.ts'

/** Marine fuels, diesel and fuel surcharges. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...marineOperations(context),
    ...bunkerOperations(context),
    ...dieselOperations(context),
    ...fuelSurchargeOperations(context),
  ]
}
