import type { Operations } from '../../../http/operations/operation.ts'
import { createTurns } from '../../../lib/process/loop-turns.ts'
import { changeOperations } from './changes.ts'
import { replayOperation } from './replay.ts'

/** The feed of changes, in order. */
export const operations: Operations = [
  context => {
    // Streams read in the main thread: all of them together do one slice a turn.
    const turn = createTurns()
    return [...changeOperations(context, turn), replayOperation(context, turn)]
  },
]
