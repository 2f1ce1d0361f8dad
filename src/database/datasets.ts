import type { Declared } from '../datasets/dataset.ts'
import type { Scope } from '../plans/roles/scopes.ts'
import { analyticsDatasets } from '../topics/analytics/dataset/topic.ts'
import { drillingDatasets } from '../topics/drilling/dataset/topic.ts'
import { fuelDatasets } from '../topics/fuels/dataset/topic.ts'
import { fundamentalDatasets } from '../topics/fundamentals/dataset/topic.ts'
import { futuresDatasets } from '../topics/futures/dataset/topic.ts'

/**
 * Every kind of data that files, feeds and pushes may bring in addition to prices, in the order in
 * which exports go in again: a dataset comes after those that its rows refer to.
 */
export const declaredDatasets: readonly Declared[] = [
  ...futuresDatasets,
  ...fundamentalDatasets,
  ...fuelDatasets,
  ...analyticsDatasets,
  ...drillingDatasets,
]

/** The scope of the endpoints of a dataset, which a limited key needs to read its rows elsewhere. */
export function scopeOfDataset(name: string): Scope {
  const has = (datasets: readonly Declared[]) => datasets.some(declared => declared.name === name)
  if (has(futuresDatasets)) return 'futures'
  if (has(fuelDatasets)) return 'prices'
  return has(analyticsDatasets) ? 'analytics' : 'fundamentals'
}

export const datasetNamed = (name: string): Declared =>
  declaredDatasets.find(declared => declared.name === name)!
