import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { inboundBillingRoutes } from './inbound.ts'
import { invoiceRoutes } from './invoices.ts'
import { paymentRoutes } from './payments.ts'
import { planRoutes } from './plans.ts'

/** Plans, payments and invoices. */
export function mountBilling(app: AnyElysia, context: Context): void {
  app.use(planRoutes(context))
  app.use(paymentRoutes(context))
  app.use(invoiceRoutes(context))
  app.use(inboundBillingRoutes(context))
}
