import type { WebhookAllowance } from '../../topics/webhooks/service/allowance.ts'
import type { Job } from './job.ts'

/**
 * Writes monthly event counts asynchronously: a crash loses at most the counts since the last beat.
 */
export const createWebhookMonthsJob = (allowance: WebhookAllowance): Job => ({
  name: 'webhook months',
  pass: allowance.flush,
})
