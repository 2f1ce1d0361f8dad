import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { analyticsRoutes } from './analytics.ts'
import { indicatorRoutes } from './indicators.ts'
import { marketBriefRoutes } from './market-brief.ts'
import { spreadRoutes } from './spreads.ts'

/** Computed numbers: analytics, spreads, indicators and the market brief. */
export function analyticsTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(analyticsRoutes(context))
  routes.use(spreadRoutes(context))
  routes.use(indicatorRoutes(context))
  routes.use(marketBriefRoutes(context))
  return routes
}
