import type { Declared } from '../../../datasets/dataset.ts'
import { regionalDatasets } from './counts.ts'
import { fracChemicals, fracDisclosures } from './frac.ts'
import { wellPermits } from './permits.ts'
import { stateProduction, wellProduction, wells } from './wells.ts'

/** The drilling datasets, for files, feeds and pushes. */
export const drillingDatasets: readonly Declared[] = [
  ...regionalDatasets,
  wellPermits,
  fracDisclosures,
  fracChemicals,
  wells,
  wellProduction,
  stateProduction,
]
