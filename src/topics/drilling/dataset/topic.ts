import type { Declared } from '../../../datasets/dataset.ts'
import { regionalDatasets } from './counts.ts'
import { fracChemicals, fracDisclosures } from './frac.ts'
import { wellPermits } from './permits.ts'
import { stateProduction, wellProduction, wells } from './wells.ts'

/** What files, feeds and pushes may bring of drilling. */
export const drillingDatasets: readonly Declared[] = [
  ...regionalDatasets,
  wellPermits,
  fracDisclosures,
  fracChemicals,
  wells,
  wellProduction,
  stateProduction,
]
