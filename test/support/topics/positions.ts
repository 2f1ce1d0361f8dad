import { readsNow } from '../../../src/database/dataset-reads.ts'
import { annotations } from '../../../src/topics/analytics/dataset/annotations.ts'
import { congressionalTrades } from '../../../src/topics/analytics/dataset/congressional-trades.ts'
import { cftcPositions } from '../../../src/topics/analytics/dataset/positions.ts'
import { createAnnotationStore } from '../../../src/topics/analytics/store/annotations.ts'
import { createCongressionalTradeStore } from '../../../src/topics/analytics/store/congressional-trades.ts'
import { createPositionStore } from '../../../src/topics/analytics/store/positions.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'
import { codeLookupOf } from '../../../src/topics/catalogue/math/lookup.ts'
import { createSeriesStore } from '../../../src/topics/catalogue/store/series.ts'
import { databaseInMemory } from '../instance/database.ts'
import { datasetOf } from './datasets.ts'

/**
 * The datasets that indicators list, over a database in memory, and the stores that they write to.
 */
export function openPositionDatasets() {
  const db = databaseInMemory()
  const series = createSeriesStore(db)
  const shipped = shippedCatalogue()
  series.put(shipped.series, shipped.aliases)
  const [cot, notes, trades] = [
    createPositionStore(readsNow(db)),
    createAnnotationStore(db, () => true),
    createCongressionalTradeStore(db),
  ]
  return {
    cot,
    notes,
    trades,
    positions: datasetOf(cftcPositions, cot.write),
    annotations: datasetOf(annotations, notes.write, { catalogue: codeLookupOf(series.all()) }),
    congress: datasetOf(congressionalTrades, trades.write),
  }
}

/** The record of a row; fails when it is refused. */
export function record<T>(
  dataset: { check(row: Record<string, unknown>, now: number): { record: T } | { reason: string } },
  row: Record<string, unknown>,
  now: number,
): T {
  const checked = dataset.check(row, now)
  if (!('record' in checked)) throw new Error(checked.reason)
  return checked.record
}
