import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { accountSecretRoutes } from './account-secret.ts'
import { webhookRoutes } from './webhooks.ts'

/** Webhook endpoints and their deliveries. */
export function webhooksTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(webhookRoutes(context))
  routes.use(accountSecretRoutes(context))
  return routes
}
