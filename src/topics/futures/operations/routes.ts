import type { AnyElysia } from 'elysia'
import type { Context } from '../../../http/operations/context.ts'
import { futuresRoutes } from './futures.ts'

/** Futures contracts, curves and settlements. */
export function mountFutures(app: AnyElysia, context: Context): void {
  app.use(
    futuresRoutes({
      ...context,
      maxAgeHours: context.limits.futuresMaxAgeHours,
      ohlcDaysMax: context.limits.futuresOhlcDaysMax,
    }),
  )
}
