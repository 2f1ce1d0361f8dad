import type { Operations } from '../../../http/operations/operation.ts'
import { cheapestOperations } from './cheapest.ts'
import { deliveryOperations } from './delivery.ts'

/** Power and gas by delivery period. */
export const operations: Operations = [deliveryOperations, cheapestOperations]
