import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import { lazy } from '../statement.ts'
import { type ColumnMap, selected, upsert } from '../upsert.ts'
import { countsOf, type WriteCounts, type WriteOutcome } from '../write-counts.ts'

/** What managed-money traders held of a market on a report date, in contracts. */
export interface CotReport {
  market: string
  reportedOn: string
  managedMoneyLong: number
  managedMoneyShort: number
  openInterest: number
  source: string
}

export interface CotRow extends CotReport {
  /** Of long minus short since the market's report before; undefined for its first. */
  change: number | undefined
}

export interface PositionStore {
  /**
   * One transaction. Reports that stand in one row of a file count as one: unchanged when all of
   * them are, inserted when none was there. The same report again is unchanged; anything else for a
   * known date of a market replaces it.
   */
  write(rows: readonly (readonly CotReport[])[], recordedAt: number): WriteCounts
  /** Newest date first, then by market; of one market if named. */
  page(market: string | undefined, limit: number, offset: number): CotRow[]
  count(market: string | undefined): number
  /** Newest date of all; undefined without a report. */
  newestOn(): string | undefined
  markets(): string[]
  /** Every date that a market has a report of. */
  dates(market: string): string[]
}

const columns: ColumnMap<CotReport> = {
  market: 'market',
  reportedOn: 'reported_on',
  managedMoneyLong: 'managed_money_long',
  managedMoneyShort: 'managed_money_short',
  openInterest: 'open_interest',
  source: 'source',
}

type Row = CotReport & { change: number | null }

const jointOutcome = (outcomes: readonly WriteOutcome[]): WriteOutcome =>
  outcomes.every(outcome => outcome === outcomes[0]) ? (outcomes[0] ?? 'unchanged') : 'revised'

export function createPositionStore(db: Database): PositionStore {
  const page = lazy<Row, [string | null, number, number]>(
    db,
    `SELECT ${selected(columns)}, managed_money_long - managed_money_short - (
       SELECT before.managed_money_long - before.managed_money_short FROM cot_reports AS before
       WHERE before.market = report.market AND before.reported_on < report.reported_on ORDER BY before.reported_on DESC LIMIT 1
     ) AS change
     FROM cot_reports AS report WHERE ?1 IS NULL OR market = ?1 ORDER BY reported_on DESC, market LIMIT ?2 OFFSET ?3`,
  )
  const count = lazy<{ n: number }, [string | null]>(
    db,
    'SELECT count(*) AS n FROM cot_reports WHERE ?1 IS NULL OR market = ?1',
  )
  const newest = lazy<{ day: string | null }, []>(
    db,
    'SELECT max(reported_on) AS day FROM cot_reports',
  )
  const markets = lazy<{ market: string }, []>(
    db,
    'SELECT DISTINCT market FROM cot_reports ORDER BY market',
  )
  const dates = lazy<{ day: string }, [string]>(
    db,
    'SELECT reported_on AS day FROM cot_reports WHERE market = ? ORDER BY reported_on',
  )
  const put = upsert(db, 'cot_reports', columns, ['market', 'reportedOn'])
  return {
    write: (rows, recordedAt) =>
      transact(db, () =>
        countsOf(rows.map(row => jointOutcome(row.map(report => put(report, recordedAt))))),
      ),
    page: (market, limit, offset) =>
      page
        .all(market ?? null, limit, offset)
        .map(row => ({ ...row, change: row.change ?? undefined })),
    count: market => count.get(market ?? null)!.n,
    newestOn: () => newest.get()?.day ?? undefined,
    markets: () => markets.all().map(row => row.market),
    dates: market => dates.all(market).map(row => row.day),
  }
}
