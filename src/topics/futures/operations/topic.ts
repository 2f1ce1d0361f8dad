import type { Context } from '../../../http/operations/context.ts'
import type { Operation } from '../../../http/operations/operation.ts'
import { futuresOperations } from './futures.ts'

/** Futures contracts, curves and settlements. */
export function operationsOf(context: Context): Operation[] {
  return [
    ...futuresOperations({
      ...context,
      maxAgeHours: context.limits.futuresMaxAgeHours,
      ohlcDaysMax: context.limits.futuresOhlcDaysMax,
    }),
  ]
}
