import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { cableOperations } from './cable.ts'
import { streamOperations } from './stream.ts'

/** What is sent as it happens: the event stream and the socket of prices. */
export function operationsOf(context: Context): Operation[] {
  return [...streamOperations(context), ...cableOperations(context)]
}
