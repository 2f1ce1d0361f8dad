import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { inboundBillingOperations } from './inbound.ts'
import { invoiceOperations } from './invoices.ts'
import { paymentOperations } from './payments.ts'
import { planOperations } from './plans.ts'

/** Plans, payments and invoices. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...planOperations(context),
    ...paymentOperations(context),
    ...invoiceOperations(context),
    ...inboundBillingOperations(context),
  ]
}
