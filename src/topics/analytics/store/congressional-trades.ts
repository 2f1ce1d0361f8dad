import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf } from '../../../database/write-counts.ts'

export const transactionTypes = [
  'purchase',
  'sale',
  'sale_full',
  'sale_partial',
  'exchange',
] as const
export type TransactionType = (typeof transactionTypes)[number]

/** A trade of a member of Congress as it was disclosed. */
export interface CongressionalTrade {
  member: string
  ticker: string
  transactionType: TransactionType
  /** As disclosed: `$1,001 - $15,000`. */
  amountRange: string
  transactedOn: string
  disclosedOn: string
  source: string
}

export type CongressionalTradeStore = ReturnType<typeof createCongressionalTradeStore>

const columns: ColumnMap<CongressionalTrade> = {
  member: 'member',
  ticker: 'ticker',
  transactionType: 'transaction_type',
  transactedOn: 'transacted_on',
  amountRange: 'amount_range',
  disclosedOn: 'disclosed_on',
  source: 'source',
}
const key = ['member', 'ticker', 'transactionType', 'transactedOn', 'amountRange'] as const

export function createCongressionalTradeStore(db: Database) {
  const page = lazy<CongressionalTrade, [number, number]>(
    db,
    `SELECT ${selected(columns)} FROM congressional_trades ORDER BY disclosed_on DESC, ${key.map(field => columns[field]).join(', ')} LIMIT ? OFFSET ?`,
  )
  const count = lazy<{ n: number }, []>(db, 'SELECT count(*) AS n FROM congressional_trades')
  const newest = lazy<{ day: string | null }, []>(
    db,
    'SELECT max(disclosed_on) AS day FROM congressional_trades',
  )
  const put = upsert(db, 'congressional_trades', columns, key)
  return {
    /**
     * One transaction. The same trade again is unchanged, with another day of disclosure it is
     * revised.
     */
    write: (rows: readonly CongressionalTrade[], recordedAt: number) =>
      transact(db, () => countsOf(rows.map(row => put(row, recordedAt)))),
    /** What was disclosed last first. */
    page: (limit: number, offset: number) => page.all(limit, offset),
    count: () => count.get()!.n,
    /** Newest day of disclosure; undefined while nothing has been imported. */
    newestOn: () => newest.get()?.day ?? undefined,
  }
}
