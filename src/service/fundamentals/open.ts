import type { Runtime } from '../../runtime.ts'
import { createInventoryStore } from '../../store/fundamentals/inventories.ts'
import {
  createMonthlyForecastStore,
  type MonthlyForecastStore,
} from '../../store/fundamentals/monthly-forecasts.ts'
import { createOpecStore, type OpecStore } from '../../store/fundamentals/opec.ts'
import { createOutlookStore, type OutlookStore } from '../../store/fundamentals/outlooks.ts'
import {
  createStorageCapacityStore,
  type StorageCapacityStore,
} from '../../store/fundamentals/storage-capacities.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { PriceServices } from '../prices/open.ts'
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
    Pick<PriceServices, 'board' | 'closes' | 'ingest'> {
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
