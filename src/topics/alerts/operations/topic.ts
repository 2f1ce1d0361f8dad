import type { Operations } from '../../../http/operations/operation.ts'
import { alertOperations } from './alerts.ts'

/** Alerts on prices and on what daily closes come to. */
export const operations: Operations = [alertOperations]
