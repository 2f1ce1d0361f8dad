import { createAnnotationsDataset } from '../../../src/feed/analytics/annotations.ts'
import { createCongressionalTradesDataset } from '../../../src/feed/analytics/congressional-trades.ts'
import { createPositionsDataset } from '../../../src/feed/analytics/positions.ts'
import { codeLookupOf } from '../../../src/feed/catalogue/lookup.ts'
import { shippedCatalogue } from '../../../src/feed/catalogue/shipped.ts'
import { createAnnotationStore } from '../../../src/store/analytics/annotations.ts'
import { createCongressionalTradeStore } from '../../../src/store/analytics/congressional-trades.ts'
import { createPositionStore } from '../../../src/store/analytics/positions.ts'
import { createSeriesStore } from '../../../src/store/catalogue/series.ts'
import { openDatabase } from '../../../src/store/database.ts'

/**
 * The datasets that indicators list, over a database in memory, and the stores that they write to.
 */
export function openPositionDatasets() {
  const db = openDatabase(':memory:')
  const series = createSeriesStore(db)
  const shipped = shippedCatalogue()
  series.put(shipped.series, shipped.aliases)
  const [cot, notes, trades] = [
    createPositionStore(db),
    createAnnotationStore(db),
    createCongressionalTradeStore(db),
  ]
  return {
    cot,
    notes,
    trades,
    positions: createPositionsDataset(cot),
    annotations: createAnnotationsDataset(notes, codeLookupOf(series.all())),
    congress: createCongressionalTradesDataset(trades),
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
