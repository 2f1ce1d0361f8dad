import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { changeOperations } from './changes.ts'
import { replayOperation } from './replay.ts'

/** The feed of changes, in order. */
export function operationsOf(context: Context): Operation[] {
  return [...changeOperations(context), replayOperation(context)]
}
