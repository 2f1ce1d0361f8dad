import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { commodityRoutes } from './commodities.ts'
import { demoRoutes } from './demo.ts'
import { metaRoutes } from './meta.ts'
import { priceListRoutes } from './price-lists.ts'
import { sourceRoutes } from './sources.ts'

/** What there is to ask for, and what may be seen without a key. */
export function catalogueTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(demoRoutes({ ...context, limitPerHour: context.limits.demoPerHour }))
  routes.use(commodityRoutes(context))
  routes.use(metaRoutes({ ...context, sourceRanges: context.config.webhooks.sourceRanges }))
  routes.use(priceListRoutes(context))
  routes.use(sourceRoutes(context))
  return routes
}
