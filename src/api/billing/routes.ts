import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { inboundBillingRoutes } from './inbound.ts'
import { invoiceRoutes } from './invoices.ts'
import { paymentRoutes } from './payments.ts'
import { planRoutes } from './plans.ts'

/** Plans, payments and invoices. */
export function billingTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(planRoutes(context))
  routes.use(paymentRoutes(context))
  routes.use(invoiceRoutes(context))
  routes.use(inboundBillingRoutes(context))
  return routes
}
