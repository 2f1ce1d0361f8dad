import type { Runtime } from '../../../config/runtime.ts'
import { type DatasetReads, readsNow } from '../../../database/dataset-reads.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PriceServices } from '../../prices/service/open.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import { createInventoryStore } from '../store/inventories.ts'
import {
  createMonthlyForecastStore,
  type MonthlyForecastStore,
} from '../store/monthly-forecasts.ts'
import { createOpecStore, type OpecStore } from '../store/opec.ts'
import { createOutlookStore, type OutlookStore } from '../store/outlooks.ts'
import {
  createStorageCapacityStore,
  type StorageCapacityStore,
} from '../store/storage-capacities.ts'
import { createInventories, type Inventories } from './inventories.ts'
import { createPublishedFigures, type PublishedFigures } from './published-figures.ts'
import { createStorageLevels, type StorageLevels } from './storage.ts'

export interface FundamentalServices {
  storage: StorageLevels
  storageCapacities: StorageCapacityStore
  inventories: Inventories
  opec: OpecStore
  outlooks: OutlookStore
  monthlyForecasts: MonthlyForecastStore
  publishedFigures: PublishedFigures
  /** The same as a view of the past has them. */
  fundamentalsAt(view: PricesView): FundamentalsView
}

export type FundamentalsView = Pick<
  FundamentalServices,
  'storage' | 'storageCapacities' | 'inventories' | 'opec' | 'outlooks' | 'publishedFigures'
>

export interface FundamentalServicesDeps
  extends Pick<Runtime, 'db' | 'clock'>,
    Pick<PriceServices, 'latestPrices' | 'closes' | 'ingest'> {
  catalogue: Catalogue
}

export function openFundamentals(deps: FundamentalServicesDeps): FundamentalServices {
  const { db, clock } = deps
  const inventories = createInventories({ ...deps, store: createInventoryStore(db) })
  const viewOf = (
    reads: DatasetReads,
    prices: Pick<PricesView, 'latestPrices' | 'closes' | 'now'>,
  ): Omit<FundamentalsView, 'inventories'> => {
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
    fundamentalsAt: view => ({
      ...viewOf(view.reads, view),
      inventories: inventories.at(view),
    }),
  }
}
