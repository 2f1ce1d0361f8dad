import type { Database } from 'bun:sqlite'
import { rehearse, transact } from '../../database/database.ts'
import { statements } from '../../database/statement.ts'
import { rangeNotes } from '../../replication/store/change-log.ts'

/** The settings of a feed that the operator made by a command or a request. */
export interface StoredFeedSettings {
  name: string
  /** JSON; null where it is only paused. */
  settings: string | null
  secret: Uint8Array | null
  pausedAt: number | null
}

export interface FeedState {
  number: number
  name: string
  nextAt: number | null
  servedAt: number | null
  lastNewAt: number | null
  consecutiveFailures: number
}

export type RunTrigger = 'schedule' | 'operator' | 'start'
export type RunResult = 'new' | 'unchanged' | 'failed' | 'held'

export interface FeedRun {
  id: string
  feed: string
  trigger: RunTrigger
  startedAt: number
  finishedAt: number | null
  result: RunResult | null
  requests: number
  bytes: number
  rowsRead: number
  inserted: number
  revised: number
  unchanged: number
  rejected: number
  held: number
  kept: number
  newestPeriod: string | null
  problemCode: string | null
  problem: string | null
  /** What its publisher changed. */
  notes: RunNote[]
}

/** A change by a publisher that operators should know about and that is not a fault. */
export interface RunNote {
  code: 'resolution_changed'
  message: string
}

type RunRow = Omit<FeedRun, 'notes'> & { notes: string | null }

const runOf = (row: RunRow): FeedRun => ({
  ...row,
  notes: row.notes === null ? [] : (JSON.parse(row.notes) as RunNote[]),
})

/** Facts that the last finished run received about one entry of a map. */
export interface StoredEntry {
  sourceId: string
  target: string
  rows: number
  coversOn: string | null
  newestPeriod: string | null
}

/** The feed of an observation, and the period that it covers. */
export interface FeedObservation {
  observedAt: number
  feed: string
  periodKind: number
}

export interface FinishedRun {
  run: FeedRun
  marks: ReadonlyMap<string, string>
  entries: readonly StoredEntry[]
  nextAt: number | null
  servedAt: number | null
}

export type FeedStore = ReturnType<typeof createFeedStore>

/** Runs that are searched for notes. */
const notedRunsMax = 2000

const runColumns = `id, feed, trigger, started_at AS startedAt, finished_at AS finishedAt, result, requests, bytes,
  rows_read AS rowsRead, inserted, revised, unchanged, rejected, held, kept, newest_period AS newestPeriod,
  problem_code AS problemCode, problem, notes`
const stateColumns = `number, name, next_at AS nextAt, served_at AS servedAt, last_new_at AS lastNewAt,
  consecutive_failures AS consecutiveFailures`

export function createFeedStore(db: Database) {
  const states = createFeedStates(db)
  return {
    ...states,
    ...createFeedRuns(db, states),
    ...createFeedOwners(db),
    transact: <T>(work: () => T): T => transact(db, work),
    /** Returns the result of `work`, whose writes are rolled back. */
    rehearse: <T>(work: () => T): T => rehearse(db, work),
  }
}

/** The settings and the state of each feed. */
function createFeedStates(db: Database) {
  const sql = statements(db)
  const settingsColumns = 'name, settings, secret, paused_at AS pausedAt'
  const putSettings = sql`
    INSERT INTO feed_settings (name, settings, secret, paused_at, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, secret = excluded.secret,
      paused_at = excluded.paused_at, updated_at = excluded.updated_at`
  const state = sql<FeedState, [string]>`SELECT ${stateColumns} FROM feeds WHERE name = ?`
  const addFeed = sql`INSERT INTO feeds (name) VALUES (?) ON CONFLICT DO NOTHING`
  const schedule = sql`UPDATE feeds SET next_at = ? WHERE name = ?`
  const stateOf = (name: string): FeedState => {
    const stored = state.get(name)
    if (stored) return stored
    addFeed.run(name)
    return state.get(name)!
  }
  return {
    settings: sql<StoredFeedSettings, [name: string]>`
      SELECT ${settingsColumns} FROM feed_settings WHERE name = ?`.get,
    putSettings: ({ name, settings, secret, pausedAt }: StoredFeedSettings, at: number) =>
      void putSettings.run(name, settings, secret, pausedAt, at),
    states: sql<FeedState, []>`SELECT ${stateColumns} FROM feeds ORDER BY number`.all,
    /** The state of a feed; a feed that never ran has the state of one without failures. */
    state: stateOf,
    schedule: (name: string, nextAt: number | null) => void schedule.run(nextAt, name),
  }
}

/** The runs of feeds, with what the last of each received. */
function createFeedRuns(db: Database, states: Pick<ReturnType<typeof createFeedStates>, 'state'>) {
  const sql = statements(db)
  const begin = sql`
    INSERT INTO feed_runs (id, feed, trigger, started_at) VALUES (?, ?, ?, ?) RETURNING number`
  const finish = sql`
    UPDATE feed_runs SET finished_at = $finishedAt, result = $result, requests = $requests, bytes = $bytes,
      rows_read = $rowsRead, inserted = $inserted, revised = $revised,
      unchanged = $unchanged, rejected = $rejected, held = $held, kept = $kept, newest_period = $newestPeriod,
      problem_code = $problemCode, problem = $problem, notes = $notes WHERE id = $id`
  const settle = sql`
    UPDATE feeds SET next_at = ?1, served_at = ?2, consecutive_failures = CASE WHEN ?3 THEN consecutive_failures + 1 ELSE 0 END,
      last_new_at = CASE WHEN ?4 THEN ?5 ELSE last_new_at END WHERE name = ?6`
  const closeOpen = sql`
    UPDATE feed_runs SET finished_at = ?, result = 'failed', problem_code = 'interrupted',
      problem = 'the service ended while it was under way' WHERE finished_at IS NULL`
  const runs = sql<RunRow, [string | null, number, number]>`
    SELECT ${runColumns} FROM feed_runs WHERE ?1 IS NULL OR feed = ?1 ORDER BY number DESC LIMIT ?2 OFFSET ?3`
  const noted = sql<RunRow, [number]>`
    SELECT ${runColumns} FROM feed_runs WHERE notes IS NOT NULL AND finished_at > ?
      AND number > (SELECT max(number) FROM feed_runs) - ${notedRunsMax}`
  const countRuns = sql<{ n: number }, [string | null]>`
    SELECT count(*) AS n FROM feed_runs WHERE ?1 IS NULL OR feed = ?1`
  const marks = sql<{ name: string; value: string }, [string]>`
    SELECT name, value FROM feed_marks WHERE feed = ?`
  const putMark = sql`
    INSERT INTO feed_marks (feed, name, value) VALUES (?, ?, ?) ON CONFLICT (feed, name) DO UPDATE SET value = excluded.value`
  const entries = sql<StoredEntry, [string]>`
    SELECT source_id AS sourceId, target, rows, covers_on AS coversOn, newest_period AS newestPeriod
    FROM feed_lines WHERE feed = ?`
  const putEntry = sql`
    INSERT INTO feed_lines (feed, source_id, target, rows, covers_on, newest_period) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (feed, source_id, target) DO UPDATE SET rows = excluded.rows, covers_on = excluded.covers_on,
      newest_period = excluded.newest_period`
  return {
    beginRun({ id, feed, trigger, startedAt }: FeedRun) {
      states.state(feed)
      return (begin.get(id, feed, trigger, startedAt) as { number: number }).number
    },
    /** Stores the run together with the state for the next one, in one transaction. */
    finishRun: ({ run, marks, entries: sent, nextAt, servedAt }: FinishedRun) =>
      transact(db, () => {
        const notes = run.notes.length === 0 ? null : JSON.stringify(run.notes)
        finish.run({ ...run, notes })
        const hasFailed = run.result === 'failed' || run.result === 'held'
        const isNew = run.result === 'new'
        settle.run(nextAt, servedAt, hasFailed ? 1 : 0, isNew ? 1 : 0, run.finishedAt, run.feed)
        for (const [name, value] of marks) putMark.run(run.feed, name, value)
        for (const { sourceId, target, rows, coversOn, newestPeriod } of sent) {
          putEntry.run(run.feed, sourceId, target, rows, coversOn, newestPeriod)
        }
      }),
    /** Closes runs that the end of a process left open; returns how many. */
    closeOpenRuns: (at: number) => closeOpen.run(at).changes,
    /** Newest first. */
    runs: (name: string | undefined, limit: number, offset: number): FeedRun[] =>
      runs.all(name ?? null, limit, offset).map(runOf),
    /** The recent runs that ended after a moment and noted a change of their publisher. */
    notedSince: (at: number): FeedRun[] => noted.all(at).map(runOf),
    countRuns: (name: string | undefined) => countRuns.get(name ?? null)!.n,
    lastRun(name: string): FeedRun | undefined {
      const row = runs.get(name, 1, 0)
      return row ? runOf(row) : undefined
    },
    marks: (name: string): Map<string, string> =>
      new Map(marks.all(name).map(mark => [mark.name, mark.value])),
    entries: (name: string): StoredEntry[] => entries.all(name),
  }
}

/** Which feed each observation and each row of a dataset is from. */
function createFeedOwners(db: Database) {
  const sql = statements(db)
  const noteRange = rangeNotes(db)
  const claim = sql`UPDATE observations SET source_id = ? WHERE series_id = ? AND observed_at = ?`
  const noteSource = sql`
    INSERT INTO series_sources (series_id, source_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
  const coarse = sql`SELECT 1 FROM series_sources h JOIN value_sources s ON s.id = h.source_id
     WHERE h.series_id = ? AND s.period_kind > 0 LIMIT 1`
  const rowOwner = sql<{ feed: number }, [string, string]>`
    SELECT feed_number AS feed FROM feed_rows WHERE dataset = ? AND key = ?`
  const ownRow = sql`INSERT INTO feed_rows (dataset, key, feed_number) VALUES (?, ?, ?)
     ON CONFLICT (dataset, key) DO UPDATE SET feed_number = excluded.feed_number`
  return {
    /** The feed observations of one series in `[from, to)`. */
    observations: sql<FeedObservation, [seriesId: number, from: number, to: number]>`
      SELECT o.observed_at AS observedAt, s.name AS feed, s.period_kind AS periodKind
      FROM observations o JOIN value_sources s ON s.id = o.source_id
      WHERE o.series_id = ? AND o.observed_at >= ? AND o.observed_at < ? AND s.kind = 'feed'`.all,
    /** Changes the source of observations whose values another source confirms. */
    claim: (seriesId: number, observedAts: readonly number[], sourceId: number) =>
      transact(db, () => {
        noteSource.run(seriesId, sourceId)
        for (const at of observedAts) claim.run(sourceId, seriesId, at)
        noteRange(seriesId, () => observedAts.toSorted((a, b) => a - b))
      }),
    /** Whether a series has any observation of a feed that speaks for more than its day. */
    hasCoarse: (seriesId: number) => coarse.get(seriesId) !== undefined,
    /** The feed that owns a row of a dataset. */
    rowOwner: (dataset: string, key: string): number | undefined =>
      rowOwner.get(dataset, key)?.feed,
    ownRow: (dataset: string, key: string, feed: number) => void ownRow.run(dataset, key, feed),
    /** How many series had an observation of each feed. */
    served: sql<{ feed: string; codes: number }, []>`
      SELECT f.name AS feed, (SELECT count(DISTINCT h.series_id) FROM series_sources h
        JOIN value_sources s ON s.id = h.source_id WHERE s.kind = 'feed' AND s.name = f.name) AS codes
      FROM feeds f ORDER BY f.number`.all,
  }
}
