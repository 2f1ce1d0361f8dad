import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { deliveryRoutes } from './deliveries.ts'

/** Scheduled e-mails with prices. */
export function mountDeliveries(app: AnyElysia, context: Context): void {
  app.use(deliveryRoutes(context))
}
