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
      yield* inOrder(
        ranges.entries.slice(0, countUntil(ranges.entries, end)),
        rows.entries.slice(0, countUntil(rows.entries, end)),
        events.entries.slice(0, countUntil(events.entries, end)),
      )
      at = end + 1
    }
  }

  const inOrder = function* (
    ranges: readonly LoggedRange[],
    rows: readonly LoggedRows[],
    events: readonly ChangeEvent[],
  ): Generator<Transaction> {
    for (let r = 0, w = 0, e = 0; r < ranges.length || w < rows.length || e < events.length; ) {
      const writtenAt = Math.min(
        ranges[r]?.writtenAt ?? Number.POSITIVE_INFINITY,
        rows[w]?.writtenAt ?? Number.POSITIVE_INFINITY,
        events[e]?.writtenAt ?? Number.POSITIVE_INFINITY,
      )
      const [firstRange, firstRow, firstEvent] = [r, w, e]
      while (ranges[r]?.writtenAt === writtenAt) r += 1
      while (rows[w]?.writtenAt === writtenAt) w += 1
      while (events[e]?.writtenAt === writtenAt) e += 1
      yield {
        writtenAt,
        segments: segmentsOf(writtenAt, ranges.slice(firstRange, r), events.slice(firstEvent, e)),
        rows: rows.slice(firstRow, w),
      }
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

const countUntil = (entries: readonly Written[], end: number): number => {
  const count = entries.findIndex(({ writtenAt }) => writtenAt > end)
  return count === -1 ? entries.length : count
}

const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
