import type { Operations } from '../../../http/operations/operation.ts'
import { cableOperations } from './cable.ts'
import { streamOperations } from './stream.ts'

/** Operations that push: the event stream and the price socket. */
export const operations: Operations = [streamOperations, cableOperations]
