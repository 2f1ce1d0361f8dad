import type { WebhookAllowance } from '../../topics/webhooks/service/allowance.ts'
import type { Job } from './job.ts'

/**
 * Writes the events of the month behind: what a crash can lose is what was made since the last
 * beat.
 */
export const createWebhookMonthsJob = (allowance: WebhookAllowance): Job => ({
  name: 'webhook months',
  pass: allowance.flush,
})
