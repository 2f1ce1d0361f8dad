import { RouteList } from '../../../http/route-list.ts'
import { levelIndicatorRoutes } from './indicator-levels.ts'
import { listIndicatorRoutes } from './indicator-lists.ts'
import type { IndicatorDeps } from './indicator-shape.ts'
import { fuelSwitchingRoutes } from './indicator-switching.ts'

/** Market indicators, a path for each: any other name is an unknown route. */
export const indicatorRoutes = (deps: IndicatorDeps) =>
  new RouteList()
    .use(fuelSwitchingRoutes(deps))
    .use(levelIndicatorRoutes(deps))
    .use(listIndicatorRoutes(deps))
