import type { Operations } from '../../../http/operations/operation.ts'
import { dataQualityOperations } from './data-quality.ts'
import { healthOperations } from './health.ts'
import { incidentOperations } from './incidents.ts'
import { publicStatusOperations } from './public-status.ts'

/** The status of the service and of its data. */
export const operations: Operations = [
  healthOperations,
  context => publicStatusOperations({ ...context, mode: context.config.mode }),
  incidentOperations,
  dataQualityOperations,
]
