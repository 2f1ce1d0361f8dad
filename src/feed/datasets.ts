import type { AnnotationStore } from '../store/annotations.ts'
import type { CongressionalTradeStore } from '../store/congressional-trades.ts'
import type { CotStore } from '../store/cot.ts'
import type { StorageCapacityStore } from '../store/storage-capacities.ts'
import type { SurchargeStore } from '../store/surcharges.ts'
import type { Dataset } from './dataset.ts'
import { annotations } from './datasets/annotations.ts'
import { congressionalTrades } from './datasets/congressional-trades.ts'
import { cotPositions } from './datasets/cot.ts'
import { type FuturesWriter, futuresSettlements } from './datasets/futures-settlements.ts'
import { futuresTicks } from './datasets/futures-ticks.ts'
import { storageCapacities } from './datasets/storage-capacities.ts'
import { surchargeSchedules } from './datasets/surcharge-schedules.ts'
import { publishedSurcharges } from './datasets/surcharges.ts'
import type { Catalogue } from './rows.ts'

export interface DatasetDeps {
  annotations: AnnotationStore
  catalogue: Catalogue
  congressionalTrades: CongressionalTradeStore
  cot: CotStore
  futures: FuturesWriter
  exchangeWords: readonly string[]
  storageCapacities: StorageCapacityStore
  surcharges: SurchargeStore
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
  ]
}
