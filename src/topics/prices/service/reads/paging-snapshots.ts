import type { Ingest } from '../writes/ingest.ts'
import type { History, HistoryRange, HistoryRow, Position } from './history.ts'

/** A query that is read page by page. */
export interface Question {
  /**
   * Requests with the same key share one snapshot: the key names the caller and the query, but not
   * the position of a moving window.
   */
  key: string
  range: HistoryRange
  /** The values of a past moment, instead of the current ones. */
  history?: Pick<History, 'page' | 'count'>
}

export interface WalkedPage {
  rows: HistoryRow[]
  total: number
  /** The range of the first request. */
  from: number
  to: number
}

interface SnapshotStart {
  from: number
  to: number
  /** The moment whose rows are answered. */
  bornBy: number
}

interface PagingSnapshot extends SnapshotStart {
  total: number
  /** The start positions of the pages that a client may request next, or again. */
  starts: Map<number, Position>
  usedAt: number
  use: number
}

const snapshotLifetimeMs = 15 * 60_000
const questionsMax = 10_000
/** Dropping the oldest half at once costs less than looking for the oldest at each request. */
const questionsOfHalf = questionsMax / 2
const snapshotsPerQuestionMax = 4
const startsPerSnapshotMax = 8

/**
 * Page numbers alone cannot be walked while data comes in: each new row pushes the others on. So
 * the first page of a query is stored for a while, and the pages after it return the rows of that
 * moment, each beginning where the one before it ended. A page out of order is found by counting
 * the rows of that moment.
 */
export function createPagingSnapshots(
  history: History,
  ingest: Pick<Ingest, 'snapshotAt' | 'listen'>,
) {
  const memory = createSnapshotMemory()

  const begin = ({ range }: Question): SnapshotStart => ({
    from: range.from,
    to: range.to,
    // Every existing row is included, also one that was recorded by a clock that ran ahead.
    bornBy: Math.max(ingest.snapshotAt(), history.newestRecordedAt(range.seriesIds)),
  })

  return {
    page(question: Question, page: number, perPage: number, now: number): WalkedPage {
      const { range, key, history: past } = question
      const earlier = page > 1 ? memory.find(key, page, now) : undefined
      const start = earlier ?? begin(question)
      const { from, to, bornBy } = start
      const after = earlier?.starts.get(page)
      const offset = (page - 1) * perPage
      const query = {
        ...range,
        from,
        to,
        limit: perPage,
        offset,
        // The first page includes every row.
        ...(earlier && { bornBy }),
        ...(after && { after }),
      }
      const { rows, end, more } = (past ?? history).page(query)
      // Where no row follows, the place of the last one is their number.
      const isEnd = !more && (rows.length > 0 || page === 1)
      const total = () =>
        isEnd ? offset + rows.length : (past ?? history).count({ ...range, bornBy })
      const walk = earlier ?? memory.add(key, { ...start, total: total() }, now)
      if (more) {
        walk.starts.delete(page + 1)
        walk.starts.set(page + 1, end)
        if (walk.starts.size > startsPerSnapshotMax)
          walk.starts.delete(walk.starts.keys().next().value!)
        // Rows that arrived in the meantime with an earlier recording time make the snapshot
        // longer; it never becomes shorter.
        walk.total = Math.max(walk.total, page * perPage + 1)
      }
      return { rows, total: walk.total, from, to }
    },
  }
}

/** Active paging snapshots, by their request. */
function createSnapshotMemory() {
  // Entries used since the newer half began, and entries used before that.
  let newer = new Map<string, PagingSnapshot[]>()
  let older: typeof newer = new Map()
  let uses = 0

  const remember = (key: string, snapshots: PagingSnapshot[]) => {
    newer.set(key, snapshots)
    if (newer.size < questionsOfHalf) return
    older = newer
    newer = new Map()
  }
  const ofQuestion = (key: string) => newer.get(key) ?? older.get(key) ?? []

  return {
    add(
      key: string,
      { from, to, bornBy, total }: Pick<PagingSnapshot, 'from' | 'to' | 'bornBy' | 'total'>,
      now: number,
    ) {
      const starts = new Map<number, Position>()
      const walk: PagingSnapshot = { from, to, bornBy, total, starts, usedAt: now, use: ++uses }
      const snapshots = ofQuestion(key)
      // One API key may run several walks of one query: the one that was idle longest is dropped.
      if (snapshots.length >= snapshotsPerQuestionMax)
        snapshots.splice(snapshots.indexOf(snapshots.reduce((a, b) => (a.use < b.use ? a : b))), 1)
      remember(key, [...snapshots, walk])
      return walk
    },
    /** The newest snapshot that has reached the page, otherwise the newest one. */
    find(key: string, page: number, now: number) {
      const snapshots = ofQuestion(key).filter(walk => now - walk.usedAt < snapshotLifetimeMs)
      const walk = snapshots.findLast(candidate => candidate.starts.has(page)) ?? snapshots.at(-1)
      if (!walk) return undefined
      walk.usedAt = now
      walk.use = ++uses
      remember(key, snapshots)
      return walk
    },
  }
}
