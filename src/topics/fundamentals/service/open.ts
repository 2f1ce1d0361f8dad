import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { PriceServices } from '../../prices/service/open.ts'
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
}

export interface FundamentalServicesDeps
  extends Pick<Runtime, 'db' | 'clock'>,
    Pick<PriceServices, 'latestPrices' | 'closes' | 'ingest'> {
  catalogue: Catalogue
}

export function openFundamentals(deps: FundamentalServicesDeps): FundamentalServices {
  const { db, clock, closes } = deps
  const storageCapacities = createStorageCapacityStore(db)
  const opec = createOpecStore(db)
  return {
    storage: createStorageLevels({ ...deps, capacities: storageCapacities }),
    storageCapacities,
    inventories: createInventories({ ...deps, store: createInventoryStore(db) }),
    opec,
    outlooks: createOutlookStore(db),
    monthlyForecasts: createMonthlyForecastStore(db),
    publishedFigures: createPublishedFigures({ closes, opec, now: clock.now }),
  }
}
