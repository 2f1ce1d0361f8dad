import type { AnnotationStore } from '../store/analytics/annotations.ts'
import type { CongressionalTradeStore } from '../store/analytics/congressional-trades.ts'
import type { CotStore } from '../store/analytics/positions.ts'
import type { FracChemicalStore } from '../store/drilling/frac-chemicals.ts'
import type { FracDisclosureStore } from '../store/drilling/frac-disclosures.ts'
import type { StateProductionStore } from '../store/drilling/state-production.ts'
import type { WellStore } from '../store/drilling/wells.ts'
import type { StationStore } from '../store/fuels/stations.ts'
import type { SurchargeStore } from '../store/fuels/surcharges.ts'
import type { OpecStore } from '../store/fundamentals/opec.ts'
import type { OutlookStore } from '../store/fundamentals/outlooks.ts'
import type { StorageCapacityStore } from '../store/fundamentals/storage-capacities.ts'
import { annotations } from './analytics/annotations.ts'
import { congressionalTrades } from './analytics/congressional-trades.ts'
import { cotPositions } from './analytics/positions.ts'
import { type DucWellWriter, ducWells } from './drilling/duc-wells.ts'
import { fracChemicals } from './drilling/frac-chemicals.ts'
import { fracDisclosures } from './drilling/frac-disclosures.ts'
import { type FracSpreadWriter, fracSpreads } from './drilling/frac-spreads.ts'
import { drillingProductivity, type ProductivityWriter } from './drilling/productivity.ts'
import { type RigCountWriter, rigCounts } from './drilling/rig-counts.ts'
import { stateProduction } from './drilling/state-production.ts'
import { type PermitWriter, wellPermits } from './drilling/well-permits.ts'
import { type WellMonthWriter, wellMonths } from './drilling/well-production.ts'
import { wells } from './drilling/wells.ts'
import type { Dataset } from './files/dataset.ts'
import { dieselStations } from './fuels/diesel-stations.ts'
import { surchargeSchedules } from './fuels/surcharge-schedules.ts'
import { publishedSurcharges } from './fuels/surcharges.ts'
import { type ObservationWriter, oilInventories } from './fundamentals/oil-inventories.ts'
import { opecProductions } from './fundamentals/opec-productions.ts'
import { outlooks } from './fundamentals/outlooks.ts'
import { storageCapacities } from './fundamentals/storage-capacities.ts'
import { type FuturesWriter, futuresSettlements } from './futures/settlements.ts'
import { futuresTicks } from './futures/ticks.ts'
import type { Catalogue } from './prices/rows.ts'

export interface DatasetDeps {
  annotations: AnnotationStore
  catalogue: Catalogue
  congressionalTrades: CongressionalTradeStore
  cot: CotStore
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
    futuresSettlements(deps),
    futuresTicks(deps),
    storageCapacities(deps.storageCapacities, deps.catalogue),
    publishedSurcharges(deps.surcharges, deps.catalogue),
    surchargeSchedules(deps.surcharges, deps.catalogue),
    cotPositions(deps.cot),
    annotations(deps.annotations, deps.catalogue),
    congressionalTrades(deps.congressionalTrades),
    oilInventories(deps.ingest, deps.catalogue),
    opecProductions(deps.opec),
    outlooks(deps.outlooks, deps.catalogue),
    rigCounts(deps.drilling),
    fracSpreads(deps.drilling),
    ducWells(deps.drilling),
    drillingProductivity(deps.drilling),
    wellPermits(deps.permits),
    fracDisclosures(deps.fracDisclosures),
    fracChemicals(deps.fracChemicals, deps.fracDisclosures),
    dieselStations(deps.stations),
    wells(deps.wells),
    wellMonths(deps.wellProduction),
    stateProduction(deps.wellProduction.states),
  ]
}
