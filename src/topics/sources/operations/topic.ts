import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { sourceOperations } from './sources.ts'

/** Private data sources of accounts. */
export function operationsOf(context: Context): Operation[] {
  return [...sourceOperations(context)]
}
