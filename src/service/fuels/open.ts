import type { Runtime } from '../../runtime.ts'
import { createStationStore, type StationStore } from '../../store/fuels/stations.ts'
import { createSurchargeStore, type SurchargeStore } from '../../store/fuels/surcharges.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Closes } from '../prices/closes.ts'
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
