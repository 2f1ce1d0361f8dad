import type { CoverageSince, History, HistoryRange, HistoryRow, Position } from './history.ts'
import type { Ingest } from './ingest.ts'

/** A query that is read page by page. */
export interface Question {
  /**
   * Requests with the same key belong to one walk: it names the caller and the query, but not where
   * a moving window stands.
   */
  key: string
  range: HistoryRange
  /** Asks for the values as of a past moment. */
  vintage?: { asOf: number; coverageSince: CoverageSince }
}

export interface WalkedPage {
  rows: HistoryRow[]
  total: number
  /** The range that the walk began with. */
  from: number
  to: number
}

/**
 * Page numbers alone can not be walked while data comes in: each new row pushes the others on. So
 * the first page of a question is remembered for a while, and the pages after it answer the rows of
 * that moment, each beginning where the one before it ended. A page out of order is found by
 * counting the rows of that moment.
 */
export interface PagingSnapshots {
  page(question: Question, page: number, perPage: number, now: number): WalkedPage
}

interface PagingSnapshot {
  from: number
  to: number
  bornBy: number
  total: number
  /** Where the pages begin that may be asked for next, or again. */
  starts: Map<number, Position>
  usedAt: number
  use: number
}

const snapshotLifetimeMs = 15 * 60_000
const questionsMax = 10_000
const snapshotsPerQuestionMax = 4
const startsPerSnapshotMax = 8

export function createPagingSnapshots(
  history: History,
  ingest: Pick<Ingest, 'mark' | 'listen'>,
): PagingSnapshots {
  const memory = createSnapshotMemory()

  const begin = ({ key, range, vintage }: Question, now: number): PagingSnapshot => {
    // Every existing row belongs to the walk, also one that was recorded by a clock that ran ahead.
    const bornBy = Math.max(ingest.mark(), history.newestRecordedAt(range.seriesIds))
    const snapshot = { ...range, bornBy }
    const total = vintage
      ? history.countAsOf(snapshot, vintage.asOf, vintage.coverageSince)
      : history.count(snapshot)
    return memory.add(key, { from: range.from, to: range.to, bornBy, total }, now)
  }

  return {
    page(question, page, perPage, now) {
      const { range, vintage, key } = question
      const walk = (page > 1 ? memory.find(key, page, now) : undefined) ?? begin(question, now)
      const { from, to, bornBy } = walk
      const after = walk.starts.get(page)
      const query = {
        ...range,
        from,
        to,
        bornBy,
        limit: perPage,
        offset: (page - 1) * perPage,
        ...(after && { after }),
      }
      const { rows, end, more } = vintage
        ? history.pageAsOf(query, vintage.asOf, vintage.coverageSince)
        : history.page(query)
      if (more) {
        walk.starts.delete(page + 1)
        walk.starts.set(page + 1, end)
        if (walk.starts.size > startsPerSnapshotMax)
          walk.starts.delete(walk.starts.keys().next().value!)
        // Rows that came meanwhile with an earlier recording time make the walk longer; its end is
        // never cut.
        walk.total = Math.max(walk.total, page * perPage + 1)
      }
      return { rows, total: walk.total, from, to }
    },
  }
}

/** The walks that are under way, by their question. */
interface SnapshotMemory {
  add(
    key: string,
    start: Pick<PagingSnapshot, 'from' | 'to' | 'bornBy' | 'total'>,
    now: number,
  ): PagingSnapshot
  /** The newest walk that has come to the page, else the newest of all. */
  find(key: string, page: number, now: number): PagingSnapshot | undefined
}

function createSnapshotMemory(): SnapshotMemory {
  // A Map keeps the order of insertion, so the first question is the one that was not asked for
  // longest.
  const snapshotsByKey = new Map<string, PagingSnapshot[]>()
  let uses = 0

  const remember = (key: string, snapshots: PagingSnapshot[]) => {
    snapshotsByKey.delete(key)
    if (snapshotsByKey.size >= questionsMax)
      snapshotsByKey.delete(snapshotsByKey.keys().next().value!)
    snapshotsByKey.set(key, snapshots)
  }

  return {
    add(key, { from, to, bornBy, total }, now) {
      const starts = new Map<number, Position>()
      const walk: PagingSnapshot = { from, to, bornBy, total, starts, usedAt: now, use: ++uses }
      const snapshots = snapshotsByKey.get(key) ?? []
      // One API key may run several walks of one query: the one that was idle longest is dropped.
      if (snapshots.length >= snapshotsPerQuestionMax)
        snapshots.splice(snapshots.indexOf(snapshots.reduce((a, b) => (a.use < b.use ? a : b))), 1)
      remember(key, [...snapshots, walk])
      return walk
    },
    find(key, page, now) {
      const snapshots = (snapshotsByKey.get(key) ?? []).filter(
        walk => now - walk.usedAt < snapshotLifetimeMs,
      )
      const walk = snapshots.findLast(candidate => candidate.starts.has(page)) ?? snapshots.at(-1)
      if (!walk) return undefined
      walk.usedAt = now
      walk.use = ++uses
      remember(key, snapshots)
      return walk
    },
  }
}
