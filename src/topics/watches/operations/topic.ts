import type { Operations } from '../../../http/operations/operation.ts'
import { watchOperations } from './watches.ts'

/** Watches and their feed of events. */
export const operations: Operations = [watchOperations]
