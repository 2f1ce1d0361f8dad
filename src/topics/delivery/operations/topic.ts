import type { Operation } from '../../../http/operations/operation.ts'
import { cheapestOperations } from './cheapest.ts'
import { deliveryOperations } from './delivery.ts'

/** Power and gas by delivery period. */
export const operationsOf = (): readonly Operation[] => [
  ...deliveryOperations,
  ...cheapestOperations,
]
