import type { Operations } from '../../../http/operations/operation.ts'
import { alertOperations } from './alerts.ts'

/** Alerts on prices and on analytics of daily closes. */
export const operations: Operations = [alertOperations]
