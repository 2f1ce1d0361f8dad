import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import { createStationStore } from '../store/stations.ts'
import { createSurchargeStore } from '../store/surcharges.ts'
import { createSurchargeMatching } from './surcharges.ts'

export type FuelServices = ReturnType<typeof openFuels>

export function openFuels({
  db,
  catalogue,
  closes,
}: Pick<Runtime, 'db'> & { catalogue: Catalogue; closes: Closes }) {
  const surcharges = createSurchargeStore(db)
  return {
    surcharges,
    surchargeMatching: createSurchargeMatching({ surcharges, catalogue, closes }),
    stations: createStationStore(db),
  }
}
