import type { Operations } from '../../../http/operations/operation.ts'
import { futuresOperations } from './futures.ts'

/** Futures contracts, curves and settlements. */
export const operations: Operations = [
  context =>
    futuresOperations({
      ...context,
      maxAgeHours: context.limits.futuresMaxAgeHours,
      ohlcDaysMax: context.limits.futuresOhlcDaysMax,
    }),
]
