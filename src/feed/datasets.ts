import type { AnnotationStore } from '../store/annotations.ts'
import type { CongressionalTradeStore } from '../store/congressional-trades.ts'
import type { CotStore } from '../store/cot.ts'
import type { FracChemicalStore } from '../store/frac-chemicals.ts'
import type { FracDisclosureStore } from '../store/frac-disclosures.ts'
import type { OpecStore } from '../store/opec.ts'
import type { OutlookStore } from '../store/outlooks.ts'
import type { StateProductionStore } from '../store/state-production.ts'
import type { StationStore } from '../store/stations.ts'
import type { StorageCapacityStore } from '../store/storage-capacities.ts'
import type { SurchargeStore } from '../store/surcharges.ts'
import type { WellStore } from '../store/wells.ts'
import type { Dataset } from './dataset.ts'
import { annotations } from './datasets/annotations.ts'
import { congressionalTrades } from './datasets/congressional-trades.ts'
import { cotPositions } from './datasets/cot.ts'
import { dieselStations } from './datasets/diesel-stations.ts'
import { drillingProductivity, type ProductivityWriter } from './datasets/drilling-productivity.ts'
import { type DucWellWriter, ducWells } from './datasets/duc-wells.ts'
import { fracChemicals } from './datasets/frac-chemicals.ts'
import { fracDisclosures } from './datasets/frac-disclosures.ts'
import { type FracSpreadWriter, fracSpreads } from './datasets/frac-spreads.ts'
import { type FuturesWriter, futuresSettlements } from './datasets/futures-settlements.ts'
import { futuresTicks } from './datasets/futures-ticks.ts'
import { type ObservationWriter, oilInventories } from './datasets/oil-inventories.ts'
import { opecProductions } from './datasets/opec-productions.ts'
import { outlooks } from './datasets/outlooks.ts'
import { type RigCountWriter, rigCounts } from './datasets/rig-counts.ts'
import { stateProduction } from './datasets/state-production.ts'
import { storageCapacities } from './datasets/storage-capacities.ts'
import { surchargeSchedules } from './datasets/surcharge-schedules.ts'
import { publishedSurcharges } from './datasets/surcharges.ts'
import { type PermitWriter, wellPermits } from './datasets/well-permits.ts'
import { type WellMonthWriter, wellMonths } from './datasets/well-production.ts'
import { wells } from './datasets/wells.ts'
import type { Catalogue } from './rows.ts'

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
