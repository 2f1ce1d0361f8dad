import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { batchRoutes } from './batch.ts'
import { boardRoutes } from './board.ts'
import { boardLayoutRoutes } from './board-layout.ts'
import { chartRoutes } from './chart.ts'
import { convertRoutes } from './convert.ts'
import { dataConnectorRoutes } from './data-connector.ts'
import { exportRoutes } from './export.ts'
import { fileRoutes } from './files.ts'
import { latestRoutes } from './latest.ts'
import { metricsRoutes } from './metrics.ts'
import { vintageRoutes } from './vintages.ts'
import { widgetRoutes } from './widgets.ts'
import { windowRoutes } from './windows.ts'

/** Prices: the newest, windows of the past, conversions, widgets. */
export function pricesTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(latestRoutes(context))
  routes.use(windowRoutes(context))
  routes.use(boardRoutes(context))
  routes.use(boardLayoutRoutes(context))
  routes.use(chartRoutes(context))
  routes.use(vintageRoutes(context))
  routes.use(exportRoutes(context))
  routes.use(fileRoutes(context))
  routes.use(batchRoutes(context))
  routes.use(widgetRoutes(context))
  routes.use(metricsRoutes(context))
  routes.use(convertRoutes(context))
  routes.use(dataConnectorRoutes(context))
  return routes
}
