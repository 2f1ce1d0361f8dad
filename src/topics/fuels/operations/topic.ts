import type { Operations } from '../../../http/operations/operation.ts'
import { bunkerOperations } from './bunker.ts'
import { dieselOperations } from './diesel.ts'
import { marineOperations } from './marine.ts'
import { fuelSurchargeOperations } from './surcharge.ts'

export const operations: Operations = [
  marineOperations,
  bunkerOperations,
  dieselOperations,
  fuelSurchargeOperations,
]
