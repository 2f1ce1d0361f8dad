import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { keptCount } from '../../../database/kept-counts.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf, type WriteOutcome } from '../../../database/write-counts.ts'

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

export type PositionStore = ReturnType<typeof createPositionStore>

const columns: ColumnMap<CotReport> = {
  market: 'market',
  reportedOn: 'reported_on',
  managedMoneyLong: 'managed_money_long',
  managedMoneyShort: 'managed_money_short',
  openInterest: 'open_interest',
  source: 'source',
}

const jointOutcome = (outcomes: readonly WriteOutcome[]): WriteOutcome =>
  outcomes.every(outcome => outcome === outcomes[0]) ? (outcomes[0] ?? 'unchanged') : 'revised'

export function createPositionStore(db: Database) {
  const page = lazy<CotReport, [string | null, number, number]>(
    db,
    `SELECT ${selected(columns)} FROM cot_reports WHERE ?1 IS NULL OR market = ?1
     ORDER BY reported_on DESC, market LIMIT ?2 OFFSET ?3`,
  )
  const before = lazy<{ net: number }, [string, string]>(
    db,
    `SELECT managed_money_long - managed_money_short AS net FROM cot_reports
     WHERE market = ? AND reported_on < ? ORDER BY reported_on DESC LIMIT 1`,
  )
  /** Rows newest first: the one before is further down, or on a later page. */
  const withChanges = (rows: readonly CotReport[]) => {
    const older = new Map<string, number>()
    return rows
      .toReversed()
      .map(row => {
        const net = row.managedMoneyLong - row.managedMoneyShort
        const earlier = older.get(row.market) ?? before.get(row.market, row.reportedOn)?.net
        older.set(row.market, net)
        return { ...row, change: earlier === undefined ? undefined : net - earlier }
      })
      .reverse()
  }
  const count = keptCount<[string | null]>(
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
    /**
     * One transaction. Reports that stand in one row of a file count as one: unchanged when all of
     * them are, inserted when none was there. The same report again is unchanged; anything else for
     * a known date of a market replaces it.
     */
    write: (rows: readonly (readonly CotReport[])[], recordedAt: number) =>
      transact(db, () =>
        countsOf(rows.map(row => jointOutcome(row.map(report => put(report, recordedAt))))),
      ),
    /** Newest date first, then by market; of one market if named. */
    page: (market: string | undefined, limit: number, offset: number): CotRow[] =>
      withChanges(page.all(market ?? null, limit, offset)),
    count: (market: string | undefined) => count(market ?? null),
    /** Newest date of all; undefined without a report. */
    newestOn: () => newest.get()?.day ?? undefined,
    markets: () => markets.all().map(row => row.market),
    /** Every date that a market has a report of. */
    dates: (market: string) => dates.all(market).map(row => row.day),
  }
}
