import type { AnnotationStore } from '../store/analytics/annotations.ts'
import type { CongressionalTradeStore } from '../store/analytics/congressional-trades.ts'
import type { PositionStore } from '../store/analytics/positions.ts'
import type { FracChemicalStore } from '../store/drilling/frac-chemicals.ts'
import type { FracDisclosureStore } from '../store/drilling/frac-disclosures.ts'
import type { StateProductionStore } from '../store/drilling/state-production.ts'
import type { WellStore } from '../store/drilling/wells.ts'
import type { StationStore } from '../store/fuels/stations.ts'
import type { SurchargeStore } from '../store/fuels/surcharges.ts'
import type { OpecStore } from '../store/fundamentals/opec.ts'
import type { OutlookStore } from '../store/fundamentals/outlooks.ts'
import type { StorageCapacityStore } from '../store/fundamentals/storage-capacities.ts'
import { createAnnotationsDataset } from './analytics/annotations.ts'
import { createCongressionalTradesDataset } from './analytics/congressional-trades.ts'
import { createPositionsDataset } from './analytics/positions.ts'
import type { CodeLookup } from './catalogue/lookup.ts'
import { createDucWellsDataset, type DucWellWriter } from './drilling/duc-wells.ts'
import { createFracChemicalsDataset } from './drilling/frac-chemicals.ts'
import { createFracDisclosuresDataset } from './drilling/frac-disclosures.ts'
import { createFracSpreadsDataset, type FracSpreadWriter } from './drilling/frac-spreads.ts'
import {
  createDrillingProductivityDataset,
  type ProductivityWriter,
} from './drilling/productivity.ts'
import { createRigCountsDataset, type RigCountWriter } from './drilling/rig-counts.ts'
import { createStateProductionDataset } from './drilling/state-production.ts'
import { createWellPermitsDataset, type PermitWriter } from './drilling/well-permits.ts'
import { createWellProductionDataset, type WellMonthWriter } from './drilling/well-production.ts'
import { createWellsDataset } from './drilling/wells.ts'
import type { Dataset } from './files/dataset.ts'
import { createDieselStationsDataset } from './fuels/diesel-stations.ts'
import { createSurchargeSchedulesDataset } from './fuels/surcharge-schedules.ts'
import { createSurchargesDataset } from './fuels/surcharges.ts'
import {
  createOilInventoriesDataset,
  type ObservationWriter,
} from './fundamentals/oil-inventories.ts'
import { createOpecProductionsDataset } from './fundamentals/opec-productions.ts'
import { createOutlooksDataset } from './fundamentals/outlooks.ts'
import { createStorageCapacitiesDataset } from './fundamentals/storage-capacities.ts'
import { createFuturesSettlementsDataset, type FuturesWriter } from './futures/settlements.ts'
import { createFuturesTicksDataset } from './futures/ticks.ts'

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
