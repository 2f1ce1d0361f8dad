import type { Runtime } from '../../../config/runtime.ts'
import { type DatasetReads, readsNow } from '../../../database/dataset-reads.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import { createInventoryStore } from '../store/inventories.ts'
import { createMonthlyForecastStore } from '../store/monthly-forecasts.ts'
import { createOpecStore } from '../store/opec.ts'
import { createOutlookStore } from '../store/outlooks.ts'
import { createStorageCapacityStore } from '../store/storage-capacities.ts'
import { createInventories } from './inventories.ts'
import { createPublishedFigures } from './published-figures.ts'
import { createStorageLevels } from './storage.ts'

export type FundamentalServices = ReturnType<typeof openFundamentals>

export interface FundamentalServicesDeps
  extends Pick<Runtime, 'db' | 'clock'>,
    Pick<PriceServices, 'latestPrices' | 'closes' | 'ingest'> {
  catalogue: Catalogue
}

export function openFundamentals(deps: FundamentalServicesDeps) {
  const { db, clock } = deps
  const inventories = createInventories({ ...deps, store: createInventoryStore(db) })
  const viewOf = (
    reads: DatasetReads,
    prices: Pick<PricesView, 'latestPrices' | 'closes' | 'now'>,
  ) => {
    const storageCapacities = createStorageCapacityStore(reads)
    const opec = createOpecStore(reads)
    return {
      storage: createStorageLevels({ ...prices, capacities: storageCapacities }),
      storageCapacities,
      opec,
      outlooks: createOutlookStore(reads),
      publishedFigures: createPublishedFigures({ ...prices, opec }),
    }
  }
  return {
    ...viewOf(readsNow(db), { ...deps, now: clock.now }),
    inventories,
    monthlyForecasts: createMonthlyForecastStore(db),
    /** The same as a view of the past has them. */
    fundamentalsAt: (view: PricesView) => ({
      ...viewOf(view.reads, view),
      inventories: inventories.at(view),
    }),
  }
}
