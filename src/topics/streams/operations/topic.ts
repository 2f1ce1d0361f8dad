import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { cableOperations } from './cable.ts'
import { streamOperations } from './stream.ts'

/** Operations that push: the event stream and the price socket. */
export function operationsOf(context: Context): Operation[] {
  return [...streamOperations(context), ...cableOperations(context)]
}
