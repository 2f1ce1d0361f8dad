import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { dataQualityOperations } from './data-quality.ts'
import { healthOperations } from './health.ts'
import { incidentOperations } from './incidents.ts'
import { publicStatusOperations } from './public-status.ts'

/** The status of the service and of its data. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...healthOperations(context),
    ...publicStatusOperations({ ...context, mode: context.config.mode }),
    ...incidentOperations,
    ...dataQualityOperations(context),
  ]
}
