import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { ChangeEvent, ChangeLogStore, LoggedRange, LoggedRows } from '../store/log.ts'
import type { Segment } from './segments.ts'

/** What one transaction wrote. */
export interface Transaction {
  writtenAt: number
  segments: Segment[]
  rows: readonly LoggedRows[]
}

/** Entries of the log that are read at a time. */
const rangesEach = 1_000

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
    for (let at = writtenAt; at < Number.POSITIVE_INFINITY; ) {
      const ranges = wholeFrom(log, at)
      const rows = hasRows
        ? wholeFrom(log.rows, at)
        : { entries: [], end: Number.POSITIVE_INFINITY }
      const events = wholeFrom(log.events, at)
      const end = Math.min(ranges.end, rows.end, events.end)
      const isRead = ({ writtenAt }: Written) => writtenAt <= end
      yield* inOrder(
        ranges.entries.filter(isRead),
        rows.entries.filter(isRead),
        events.entries.filter(isRead),
      )
      at = end + 1
    }
  }

  const inOrder = function* (
    ranges: readonly LoggedRange[],
    rows: readonly LoggedRows[],
    events: readonly ChangeEvent[],
  ): Generator<Transaction> {
    const [rangesAt, rowsAt, eventsAt] = [byInstant(ranges), byInstant(rows), byInstant(events)]
    const instants = new Set([...rangesAt.keys(), ...rowsAt.keys(), ...eventsAt.keys()])
    for (const writtenAt of [...instants].sort((a, b) => a - b))
      yield {
        writtenAt,
        segments: segmentsOf(
          writtenAt,
          rangesAt.get(writtenAt) ?? [],
          eventsAt.get(writtenAt) ?? [],
        ),
        rows: rowsAt.get(writtenAt) ?? [],
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

interface Written {
  writtenAt: number
}

/**
 * The next entries of a part of the log, with all of each of their transactions, and up to when
 * there are no others.
 */
function wholeFrom<T extends Written>(
  part: { from(writtenAt: number, limit: number): T[]; of(writtenAt: number): T[] },
  at: number,
): { entries: T[]; end: number } {
  const entries = part.from(at, rangesEach)
  if (entries.length < rangesEach) return { entries, end: Number.POSITIVE_INFINITY }
  const last = entries.at(-1)!.writtenAt
  // The last transaction may have more than were read.
  return entries[0]!.writtenAt === last
    ? { entries: part.of(last), end: last }
    : { entries: entries.filter(({ writtenAt }) => writtenAt !== last), end: last - 1 }
}

const byInstant = <T extends Written>(entries: readonly T[]) =>
  Map.groupBy(entries, ({ writtenAt }) => writtenAt)

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
