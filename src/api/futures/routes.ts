import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { futuresRoutes } from './futures.ts'

/** Futures contracts, curves and settlements. */
export function futuresTopic(context: Context): Elysia {
  const routes = new Elysia()
  routes.use(
    futuresRoutes({
      ...context,
      maxAgeHours: context.limits.futuresMaxAgeHours,
      ohlcDaysMax: context.limits.futuresOhlcDaysMax,
    }),
  )
  return routes
}
