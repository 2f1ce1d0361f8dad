import type { Declared } from '../../../datasets/dataset.ts'
import { dieselStations } from './diesel-stations.ts'
import { surchargeSchedules } from './surcharge-schedules.ts'
import { surcharges } from './surcharges.ts'

/** The fuel datasets, for files, feeds and pushes. */
export const fuelDatasets: readonly Declared[] = [surcharges, surchargeSchedules, dieselStations]
