import { createAnnotationsDataset } from '../topics/analytics/dataset/annotations.ts'
import { createCongressionalTradesDataset } from '../topics/analytics/dataset/congressional-trades.ts'
import { createPositionsDataset } from '../topics/analytics/dataset/positions.ts'
import type { AnnotationStore } from '../topics/analytics/store/annotations.ts'
import type { CongressionalTradeStore } from '../topics/analytics/store/congressional-trades.ts'
import type { PositionStore } from '../topics/analytics/store/positions.ts'
import type { CodeLookup } from '../topics/catalogue/math/lookup.ts'
import { createDucWellsDataset, type DucWellWriter } from '../topics/drilling/dataset/duc-wells.ts'
import { createFracChemicalsDataset } from '../topics/drilling/dataset/frac-chemicals.ts'
import { createFracDisclosuresDataset } from '../topics/drilling/dataset/frac-disclosures.ts'
import {
  createFracSpreadsDataset,
  type FracSpreadWriter,
} from '../topics/drilling/dataset/frac-spreads.ts'
import {
  createDrillingProductivityDataset,
  type ProductivityWriter,
} from '../topics/drilling/dataset/productivity.ts'
import {
  createRigCountsDataset,
  type RigCountWriter,
} from '../topics/drilling/dataset/rig-counts.ts'
import { createStateProductionDataset } from '../topics/drilling/dataset/state-production.ts'
import {
  createWellPermitsDataset,
  type PermitWriter,
} from '../topics/drilling/dataset/well-permits.ts'
import {
  createWellProductionDataset,
  type WellMonthWriter,
} from '../topics/drilling/dataset/well-production.ts'
import { createWellsDataset } from '../topics/drilling/dataset/wells.ts'
import type { FracChemicalStore } from '../topics/drilling/store/frac-chemicals.ts'
import type { FracDisclosureStore } from '../topics/drilling/store/frac-disclosures.ts'
import type { StateProductionStore } from '../topics/drilling/store/state-production.ts'
import type { WellStore } from '../topics/drilling/store/wells.ts'
import { createDieselStationsDataset } from '../topics/fuels/dataset/diesel-stations.ts'
import { createSurchargeSchedulesDataset } from '../topics/fuels/dataset/surcharge-schedules.ts'
import { createSurchargesDataset } from '../topics/fuels/dataset/surcharges.ts'
import type { StationStore } from '../topics/fuels/store/stations.ts'
import type { SurchargeStore } from '../topics/fuels/store/surcharges.ts'
import {
  createOilInventoriesDataset,
  type ObservationWriter,
} from '../topics/fundamentals/dataset/oil-inventories.ts'
import { createOpecProductionsDataset } from '../topics/fundamentals/dataset/opec-productions.ts'
import { createOutlooksDataset } from '../topics/fundamentals/dataset/outlooks.ts'
import { createStorageCapacitiesDataset } from '../topics/fundamentals/dataset/storage-capacities.ts'
import type { OpecStore } from '../topics/fundamentals/store/opec.ts'
import type { OutlookStore } from '../topics/fundamentals/store/outlooks.ts'
import type { StorageCapacityStore } from '../topics/fundamentals/store/storage-capacities.ts'
import {
  createFuturesSettlementsDataset,
  type FuturesWriter,
} from '../topics/futures/dataset/settlements.ts'
import { createFuturesTicksDataset } from '../topics/futures/dataset/ticks.ts'
import type { Dataset } from './files/dataset.ts'

export interface DatasetDeps {
  annotations: AnnotationStore
  catalogue: CodeLookup
  congressionalTrades: CongressionalTradeStore
  positions: PositionStore
  drilling: RigCountWriter & FracSpreadWriter & DucWellWriter & ProductivityWriter
  fracChemicals: FracChemicalStore
  fracDisclosures: FracDisclosureStore
  futures: FuturesWriter
  exchangeWords: readonly string[]
  ingest: ObservationWriter
  opec: OpecStore
  outlooks: OutlookStore
  permits: PermitWriter
  stations: StationStore
  storageCapacities: StorageCapacityStore
  surcharges: SurchargeStore
  wellProduction: WellMonthWriter & { states: StateProductionStore }
  wells: WellStore
}

/** Every kind of data that files bring beside prices, by name. */
export function datasets(deps: DatasetDeps): Dataset<unknown>[] {
  return [
    createFuturesSettlementsDataset(deps),
    createFuturesTicksDataset(deps),
    createStorageCapacitiesDataset(deps.storageCapacities, deps.catalogue),
    createSurchargesDataset(deps.surcharges, deps.catalogue),
    createSurchargeSchedulesDataset(deps.surcharges, deps.catalogue),
    createPositionsDataset(deps.positions),
    createAnnotationsDataset(deps.annotations, deps.catalogue),
    createCongressionalTradesDataset(deps.congressionalTrades),
    createOilInventoriesDataset(deps.ingest, deps.catalogue),
    createOpecProductionsDataset(deps.opec),
    createOutlooksDataset(deps.outlooks, deps.catalogue),
    createRigCountsDataset(deps.drilling),
    createFracSpreadsDataset(deps.drilling),
    createDucWellsDataset(deps.drilling),
    createDrillingProductivityDataset(deps.drilling),
    createWellPermitsDataset(deps.permits),
    createFracDisclosuresDataset(deps.fracDisclosures),
    createFracChemicalsDataset(deps.fracChemicals, deps.fracDisclosures),
    createDieselStationsDataset(deps.stations),
    createWellsDataset(deps.wells),
    createWellProductionDataset(deps.wellProduction),
    createStateProductionDataset(deps.wellProduction.states),
  ]
}
