import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { createTurns } from '../../../lib/process/loop-turns.ts'
import { changeOperations } from './changes.ts'
import { replayOperation } from './replay.ts'

/** The feed of changes, in order. */
export function operationsOf(context: Context): Operation[] {
  // Streams read in the main thread: all of them together do one slice a turn.
  const turn = createTurns()
  return [...changeOperations(context, turn), replayOperation(context, turn)]
}
