import type { AlertEvaluation } from '../../topics/alerts/service/evaluation.ts'
import type { Job } from './job.ts'

/**
 * Judges the alerts of codes whose interval is over, and what a crash left. A moved clock stops
 * where a code's interval ends or a delivery begins.
 */
export const createAlertJob = (evaluation: AlertEvaluation): Job => ({
  name: 'alerts',
  pass: evaluation.pass,
  nextStop: evaluation.dueAfter,
})
