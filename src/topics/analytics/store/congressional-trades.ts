import type { Database } from 'bun:sqlite'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { type CongressionalTrade, congressionalTrades } from '../dataset/congressional-trades.ts'

export function createCongressionalTradeStore(db: Database) {
  const store = datasetStore<CongressionalTrade>(readsNow(db), congressionalTrades)
  const page = store.records<[number, number]>(
    'ORDER BY disclosed_on DESC, member, ticker, transaction_type, transacted_on, amount_range LIMIT ? OFFSET ?',
  )
  return {
    write: store.write,
    /** The latest disclosures first. */
    page: (limit: number, offset: number) => page.all(limit, offset),
    count: store.count(),
    /** Newest day of disclosure; undefined while nothing has been imported. */
    newestOn: store.value<string>('max(disclosed_on)'),
  }
}
