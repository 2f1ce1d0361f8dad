import type { Limits } from '../../plan/limits.ts'
import type { Runtime } from '../../runtime.ts'
import { createFuturesStore } from '../../store/futures/futures.ts'
import { momentOf } from '../../store/vintage.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { PriceServices } from '../prices/open.ts'
import { createFutures, type Futures } from './futures.ts'

export interface FuturesServices {
  futures: Futures
}

export interface FuturesServicesDeps
  extends Pick<Runtime, 'db' | 'clock' | 'config'>,
    Pick<PriceServices, 'quarantine' | 'ingest'> {
  catalogue: Catalogue
  limits: Limits
}

export const openFutures = (deps: FuturesServicesDeps): FuturesServices => ({
  futures: createFutures({
    ...deps,
    // What is listed and open follows the moment that is asked about.
    clock: { ...deps.clock, now: () => momentOf(deps.db) ?? deps.clock.now() },
    store: createFuturesStore(deps.db),
    maxAgeHours: deps.limits.futuresMaxAgeHours,
    liveStaleMinutes: deps.config.futures.liveStaleMinutes,
  }),
})
