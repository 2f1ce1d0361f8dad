import type { Runtime } from '../../../config/runtime.ts'
import { momentOf } from '../../../database/vintage.ts'
import type { Limits } from '../../../plans/limits.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import { createFuturesStore } from '../store/futures.ts'
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

export function openFutures(deps: FuturesServicesDeps): FuturesServices {
  return {
    futures: createFutures({
      ...deps,
      // What is listed and open follows the moment that is asked about.
      clock: { ...deps.clock, now: () => momentOf(deps.db) ?? deps.clock.now() },
      store: createFuturesStore(deps.db),
      maxAgeHours: deps.limits.futuresMaxAgeHours,
      liveStaleMinutes: deps.config.futures.liveStaleMinutes,
    }),
  }
}
