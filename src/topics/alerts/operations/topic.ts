import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { alertOperations } from './alerts.ts'

/** Alerts on prices and on what daily closes come to. */
export function operationsOf(context: Context): Operation[] {
  return [...alertOperations(context)]
}
