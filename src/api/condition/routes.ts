import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { dataQualityRoutes } from './data-quality.ts'
import { healthRoutes } from './health.ts'
import { incidentRoutes } from './incidents.ts'
import { publicStatusRoutes } from './public-status.ts'

/** How the service and its data are doing. */
export function conditionTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(healthRoutes(context))
  routes.use(publicStatusRoutes({ ...context, mode: context.config.mode }))
  routes.use(incidentRoutes(context))
  routes.use(dataQualityRoutes(context))
  return routes
}
