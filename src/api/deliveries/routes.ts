import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { deliveryRoutes } from './deliveries.ts'

/** Scheduled e-mails with prices. */
export function deliveriesTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(deliveryRoutes(context))
  return routes
}
