import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { sourceOperations } from './sources.ts'

/** What accounts bring for themselves. */
export function operationsOf(context: Context): Operation[] {
  return [...sourceOperations(context)]
}
