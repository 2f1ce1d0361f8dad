import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { watchOperations } from './watches.ts'

/** Watches and their feed of events. */
export function operationsOf(context: Context): Operation[] {
  return [...watchOperations(context)]
}
