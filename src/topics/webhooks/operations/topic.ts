import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { accountSecretOperations } from './account-secret.ts'
import { webhookOperations } from './webhooks.ts'

/** Webhook endpoints and their deliveries. */
export function operationsOf(context: Context): Operation[] {
  return [...webhookOperations(context), ...accountSecretOperations]
}
