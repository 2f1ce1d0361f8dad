import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { commodityRoutes } from './commodities.ts'
import { demoRoutes } from './demo.ts'
import { metaRoutes } from './meta.ts'
import { priceListRoutes } from './price-lists.ts'
import { sourceRoutes } from './sources.ts'

/** What there is to ask for, and what may be seen without a key. */
export function mountCatalogue(app: AnyElysia, context: Context): void {
  app.use(demoRoutes({ ...context, limitPerHour: context.limits.demoPerHour }))
  app.use(commodityRoutes(context))
  app.use(metaRoutes({ ...context, sourceRanges: context.config.webhooks.sourceRanges }))
  app.use(priceListRoutes(context))
  app.use(sourceRoutes(context))
}
