import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'
import { counted, upsert } from '../upsert.ts'

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

export interface CongressionalTradeStore {
  /**
   * One transaction. The same trade again is unchanged, with another day of disclosure it is
   * revised.
   */
  write(rows: readonly CongressionalTrade[], recordedAt: number): WriteCounts
  /** What was disclosed last first. */
  page(limit: number, offset: number): CongressionalTrade[]
  count(): number
  /** Newest day of disclosure; undefined while nothing has been imported. */
  newestOn(): string | undefined
}

interface Row {
  member: string
  ticker: string
  transaction_type: TransactionType
  transacted_on: string
  amount_range: string
  disclosed_on: string
  source: string
}

const key = ['member', 'ticker', 'transaction_type', 'transacted_on', 'amount_range']
const columns = [...key, 'disclosed_on', 'source']

export function createCongressionalTradeStore(db: Database): CongressionalTradeStore {
  const page = db.query<Row, [number, number]>(
    `SELECT ${columns.join(', ')} FROM congressional_trades ORDER BY disclosed_on DESC, ${key.join(', ')} LIMIT ? OFFSET ?`,
  )
  const count = db.query<{ n: number }, []>('SELECT count(*) AS n FROM congressional_trades')
  const newest = db.query<{ day: string | null }, []>(
    'SELECT max(disclosed_on) AS day FROM congressional_trades',
  )
  const put = upsert(db, 'congressional_trades', columns, key)
  return {
    write: (rows, recordedAt) =>
      transact(db, () => counted(rows.map(row => put(rowOf(row), recordedAt)))),
    page: (limit, offset) =>
      page.all(limit, offset).map(row => ({
        member: row.member,
        ticker: row.ticker,
        transactionType: row.transaction_type,
        amountRange: row.amount_range,
        transactedOn: row.transacted_on,
        disclosedOn: row.disclosed_on,
        source: row.source,
      })),
    count: () => count.get()!.n,
    newestOn: () => newest.get()?.day ?? undefined,
  }
}

const rowOf = (trade: CongressionalTrade) => ({
  member: trade.member,
  ticker: trade.ticker,
  transaction_type: trade.transactionType,
  transacted_on: trade.transactedOn,
  amount_range: trade.amountRange,
  disclosed_on: trade.disclosedOn,
  source: trade.source,
})
