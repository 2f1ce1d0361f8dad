import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
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
export function mountPrices(app: AnyElysia, context: Context): void {
  app.use(latestRoutes(context))
  app.use(windowRoutes(context))
  app.use(boardRoutes(context))
  app.use(boardLayoutRoutes(context))
  app.use(chartRoutes(context))
  app.use(vintageRoutes(context))
  app.use(exportRoutes(context))
  app.use(fileRoutes(context))
  app.use(batchRoutes(context))
  app.use(widgetRoutes(context))
  app.use(metricsRoutes(context))
  app.use(convertRoutes(context))
  app.use(dataConnectorRoutes(context))
}
