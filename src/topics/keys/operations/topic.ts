import type { Operations } from '../../../http/operations/operation.ts'
import { keyOperations } from './keys.ts'
import { performanceOperations } from './performance.ts'
import { usageOperations } from './usage.ts'

/** API keys, their usage and its cost. */
export const operations: Operations = [keyOperations, usageOperations, performanceOperations]
