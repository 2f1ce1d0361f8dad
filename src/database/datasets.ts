import type { Declared } from '../datasets/dataset.ts'
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

export const datasetNamed = (name: string): Declared =>
  declaredDatasets.find(declared => declared.name === name)!
