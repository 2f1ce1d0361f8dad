import type { Runtime } from '../../../config/runtime.ts'
import { type DatasetReads, readsNow } from '../../../database/dataset-reads.ts'
import type { Limits } from '../../../plans/limits.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import { createFuturesStore } from '../store/futures.ts'
import { createFutures, type Futures } from './futures.ts'

export type FuturesServices = ReturnType<typeof openFutures>

export interface FuturesServicesDeps
  extends Pick<Runtime, 'db' | 'clock' | 'config'>,
    Pick<PriceServices, 'quarantine' | 'ingest'> {
  catalogue: Catalogue
  limits: Limits
}

export function openFutures(deps: FuturesServicesDeps) {
  const { clock, config, limits } = deps
  // The listed and open contracts depend on the requested moment.
  const futuresOf = (reads: DatasetReads, now: () => number): Futures =>
    createFutures({
      ...deps,
      clock: { ...clock, now },
      store: createFuturesStore(reads),
      maxAgeHours: limits.futuresMaxAgeHours,
      liveStaleMinutes: config.futures.liveStaleMinutes,
    })
  return {
    futures: futuresOf(readsNow(deps.db), clock.now),
    /** The same as a view of the past has them. */
    futuresAt: ({ reads, now }: Pick<PricesView, 'reads' | 'now'>) => ({
      futures: futuresOf(reads, now),
    }),
  }
}
