import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { analyticsRoutes } from './analytics.ts'
import { indicatorRoutes } from './indicators.ts'
import { marketBriefRoutes } from './market-brief.ts'
import { spreadRoutes } from './spreads.ts'

/** Computed numbers: analytics, spreads, indicators and the market brief. */
export function mountAnalytics(app: AnyElysia, context: Context): void {
  app.use(analyticsRoutes(context))
  app.use(spreadRoutes(context))
  app.use(indicatorRoutes(context))
  app.use(marketBriefRoutes(context))
}
