import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { accountSecretRoutes } from './account-secret.ts'
import { webhookRoutes } from './webhooks.ts'

/** Webhook endpoints and their deliveries. */
export function mountWebhooks(app: AnyElysia, context: Context): void {
  app.use(webhookRoutes(context))
  app.use(accountSecretRoutes(context))
}
