import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { deliveryOperations } from './deliveries.ts'

/** Scheduled e-mails with prices. */
export function operationsOf(context: Context): Operation[] {
  return [...deliveryOperations(context)]
}
