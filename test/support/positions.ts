import { annotations } from '../../src/feed/analytics/annotations.ts'
import { congressionalTrades } from '../../src/feed/analytics/congressional-trades.ts'
import { cotPositions } from '../../src/feed/analytics/positions.ts'
import { shippedCatalogue } from '../../src/feed/catalogue/shipped.ts'
import { catalogueOf } from '../../src/feed/prices/rows.ts'
import { annotationStore } from '../../src/store/analytics/annotations.ts'
import { congressionalTradeStore } from '../../src/store/analytics/congressional-trades.ts'
import { cotStore } from '../../src/store/analytics/positions.ts'
import { seriesStore } from '../../src/store/catalogue/series.ts'
import { openDatabase } from '../../src/store/database.ts'

/**
 * The datasets that indicators list, over a database in memory, and the stores that they write to.
 */
export function setUp() {
  const db = openDatabase(':memory:')
  const series = seriesStore(db)
  const shipped = shippedCatalogue()
  series.put(shipped.series, shipped.aliases)
  const [cot, notes, trades] = [cotStore(db), annotationStore(db), congressionalTradeStore(db)]
  return {
    cot,
    notes,
    trades,
    positions: cotPositions(cot),
    annotations: annotations(notes, catalogueOf(series.all())),
    congress: congressionalTrades(trades),
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
