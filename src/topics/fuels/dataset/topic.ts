import type { Declared } from '../../../datasets/dataset.ts'
import { dieselStations } from './diesel-stations.ts'
import { surchargeSchedules } from './surcharge-schedules.ts'
import { surcharges } from './surcharges.ts'

/** What files, feeds and pushes may bring of fuels. */
export const fuelDatasets: readonly Declared[] = [surcharges, surchargeSchedules, dieselStations]
