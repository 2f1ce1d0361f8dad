import { RouteList } from '../../../http/route-list.ts'
import { correlationRoutes } from './correlation.ts'
import { forecastRoutes } from './forecast.ts'
import { rollingRoutes } from './rolling.ts'
import { analyticsSpreadRoutes } from './spread.ts'
import { statisticsRoutes } from './statistics.ts'
import { type TrendDeps, trendRoutes } from './trend.ts'

/** Numbers about past prices; the description of each endpoint defines them. */
export const analyticsRoutes = (deps: TrendDeps) =>
  new RouteList()
    .use(statisticsRoutes(deps))
    .use(correlationRoutes(deps))
    .use(trendRoutes(deps))
    .use(rollingRoutes(deps))
    .use(analyticsSpreadRoutes(deps))
    .use(forecastRoutes(deps))
