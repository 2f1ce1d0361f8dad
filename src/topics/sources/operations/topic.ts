import type { Operations } from '../../../http/operations/operation.ts'
import { sourceOperations } from './sources.ts'

/** Private data sources of accounts. */
export const operations: Operations = [sourceOperations]
