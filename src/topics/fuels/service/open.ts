import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Closes } from '../../prices/service/closes.ts'
import { createStationStore, type StationStore } from '../store/stations.ts'
import { createSurchargeStore, type SurchargeStore } from '../store/surcharges.ts'
import { createSurchargeMatching, type SurchargeMatching } from './surcharges.ts'

export interface FuelServices {
  surcharges: SurchargeStore
  surchargeMatching: SurchargeMatching
  stations: StationStore
}

export function openFuels({
  db,
  catalogue,
  closes,
}: Pick<Runtime, 'db'> & { catalogue: Catalogue; closes: Closes }): FuelServices {
  const surcharges = createSurchargeStore(db)
  return {
    surcharges,
    surchargeMatching: createSurchargeMatching({ surcharges, catalogue, closes }),
    stations: createStationStore(db),
  }
}
