import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { ChangeEvent, ChangeLogStore, LoggedRange, LoggedRows } from '../store/log.ts'
import type { Segment } from './segments.ts'

/** What one transaction wrote. */
export interface Transaction {
  writtenAt: number
  segments: Segment[]
  rows: readonly LoggedRows[]
}

/** Entries of the log that are read at a time, where no transaction has more. */
const entriesEach = 1000
/** Transactions that are read at a time. */
const transactionsMax = 100

/** Reads the log of writes transaction by transaction. */
export type TransactionReader = ReturnType<typeof createTransactionReader>

export function createTransactionReader({
  log,
  catalogue,
}: {
  log: ChangeLogStore
  catalogue: Pick<Catalogue, 'byId'>
}) {
  /** The transactions from an instant on, each with its changes, oldest first. */
  const from = function* (writtenAt: number, hasRows: boolean): Generator<Transaction> {
    // A transaction has one entry or thousands: the last ones say how many the next may have.
    for (let at = writtenAt, each = 1; ; ) {
      const instants = log.instants(at, hasRows, each)
      const end = instants.at(-1)
      if (end === undefined) return
      const ranges = log.between(at, end)
      const rows = hasRows ? log.rows.between(at, end) : []
      const events = log.events.between(at, end)
      const [rangesAt, rowsAt, eventsAt] = [byInstant(ranges), byInstant(rows), byInstant(events)]
      for (const writtenAt of instants) {
        const own = [rangesAt.get(writtenAt) ?? [], eventsAt.get(writtenAt) ?? []] as const
        yield {
          writtenAt,
          segments: segmentsOf(writtenAt, ...own),
          rows: rowsAt.get(writtenAt) ?? [],
        }
      }
      at = end + 1
      const entries = ranges.length + rows.length + events.length
      each = Math.min(transactionsMax, Math.ceil((each * entriesEach) / entries))
    }
  }

  const segmentsOf = (
    writtenAt: number,
    ranges: readonly LoggedRange[],
    events: readonly ChangeEvent[],
  ): Segment[] => {
    const bySeries = Map.groupBy(ranges, range => range.seriesId)
    const parts: Pick<Segment, 'series' | 'work'>[] = [
      ...[...bySeries].map(([id, own]) => ({
        series: catalogue.byId(id),
        work: { ranges: own },
      })),
      ...events.map(event => ({ series: catalogue.byId(event.seriesId), work: { event } })),
    ]
    if (parts.length > 1) parts.sort((a, b) => compareText(a.series.code, b.series.code))
    return parts.map((part, rank) => ({ ...part, writtenAt, rank }))
  }

  return { from, segmentsOf }
}

const byInstant = <T extends { writtenAt: number }>(entries: readonly T[]) =>
  Map.groupBy(entries, ({ writtenAt }) => writtenAt)

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
