import type { Operations } from '../../../http/operations/operation.ts'
import { accountSecretOperations } from './account-secret.ts'
import { webhookOperations } from './webhooks.ts'

/** Webhook endpoints and their deliveries. */
export const operations: Operations = [webhookOperations, accountSecretOperations]
