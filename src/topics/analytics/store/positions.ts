import { transact } from '../../../database/database.ts'
import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { countsOf, type WriteOutcome } from '../../../database/write-counts.ts'
import { type CotReport, cftcPositions } from '../dataset/positions.ts'

export interface CotRow extends CotReport {
  /** The change of long minus short since the market's previous report; undefined for its first. */
  change: number | undefined
}

export type PositionStore = ReturnType<typeof createPositionStore>

const jointOutcome = (outcomes: readonly WriteOutcome[]): WriteOutcome =>
  outcomes.every(outcome => outcome === outcomes[0]) ? (outcomes[0] ?? 'unchanged') : 'revised'

export function createPositionStore(reads: DatasetReads) {
  const store = datasetStore<CotReport>(reads, cftcPositions)
  const matching = '?1 IS NULL OR market = ?1'
  const page = store.records<[string | null, number, number]>(
    `WHERE ${matching} ORDER BY reported_on DESC, market LIMIT ?2 OFFSET ?3`,
  )
  const before = store.value<number>(
    'managed_money_long - managed_money_short',
    'WHERE market = ? AND reported_on < ? ORDER BY reported_on DESC LIMIT 1',
  )
  /** Rows newest first: the one before is further down, or on a later page. */
  const withChanges = (rows: readonly CotReport[]) => {
    const older = new Map<string, number>()
    return rows
      .toReversed()
      .map(row => {
        const net = row.managedMoneyLong - row.managedMoneyShort
        const earlier = older.get(row.market) ?? before(row.market, row.reportedOn)
        older.set(row.market, net)
        return { ...row, change: earlier === undefined ? undefined : net - earlier }
      })
      .reverse()
  }
  const count = store.count<[string | null]>(matching)
  return {
    /**
     * One transaction. Reports that are in one row of a file count as one: unchanged when all of
     * them are, inserted when none was there. The same report again is unchanged; anything else for
     * a known date of a market replaces it.
     */
    write: (rows: readonly (readonly CotReport[])[], recordedAt: number) =>
      transact(reads.db, () =>
        countsOf(rows.map(row => jointOutcome(row.map(report => store.put(report, recordedAt))))),
      ),
    /** Newest date first, then by market; of one market if named. */
    page: (market: string | undefined, limit: number, offset: number): CotRow[] =>
      withChanges(page.all(market ?? null, limit, offset)),
    count: (market: string | undefined) => count(market ?? null),
    newestOn: store.value<string>('max(reported_on)'),
    markets: store.values<string>('DISTINCT market', 'ORDER BY market'),
    dates: store.values<string>('reported_on', 'WHERE market = ? ORDER BY reported_on'),
  }
}
