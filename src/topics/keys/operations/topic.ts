import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { keyOperations } from './keys.ts'
import { performanceOperations } from './performance.ts'
import { usageOperations } from './usage.ts'

/** API keys, their usage and its cost. */
export function operationsOf(context: Context): Operation[] {
  return [...keyOperations(context), ...usageOperations(context), ...performanceOperations(context)]
}
