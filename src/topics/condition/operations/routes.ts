import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { dataQualityRoutes } from './data-quality.ts'
import { healthRoutes } from './health.ts'
import { incidentRoutes } from './incidents.ts'
import { publicStatusRoutes } from './public-status.ts'

/** How the service and its data are doing. */
export function mountCondition(app: AnyElysia, context: Context): void {
  app.use(healthRoutes(context))
  app.use(publicStatusRoutes({ ...context, mode: context.config.mode }))
  app.use(incidentRoutes(context))
  app.use(dataQualityRoutes(context))
}
