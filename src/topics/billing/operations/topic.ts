import type { Operations } from '../../../http/operations/operation.ts'
import { inboundBillingOperations } from './inbound.ts'
import { invoiceOperations } from './invoices.ts'
import { paymentOperations } from './payments.ts'
import { planOperations } from './plans.ts'

export const operations: Operations = [
  planOperations,
  paymentOperations,
  invoiceOperations,
  inboundBillingOperations,
]
