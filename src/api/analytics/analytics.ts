import { Elysia } from 'elysia'
import { correlationRoutes } from './correlation.ts'
import { forecastRoutes } from './forecast.ts'
import type { AnalyticsDeps } from './shape.ts'
import { analyticsSpreadRoutes } from './spread.ts'
import { statisticsRoutes } from './statistics.ts'
import { trendRoutes } from './trend.ts'

/** Numbers about past prices; the description of each endpoint defines them. */
export const analyticsRoutes = (deps: AnalyticsDeps) =>
  new Elysia()
    .use(statisticsRoutes(deps))
    .use(correlationRoutes(deps))
    .use(trendRoutes(deps))
    .use(analyticsSpreadRoutes(deps))
    .use(forecastRoutes(deps))
