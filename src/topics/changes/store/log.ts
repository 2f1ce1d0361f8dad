import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { recordTables } from '../../../database/dataset-tables.ts'
import { lazy } from '../../../database/statement.ts'

/** Values of a series that a transaction recorded or removed: all ends are inclusive. */
export interface LoggedRange {
  writtenAt: number
  seriesId: number
  firstAt: number
  lastAt: number
  recordedFrom: number
  recordedTo: number
}

/** Whether a value, or its removal, is among those of a range. */
export const isIn = (
  range: LoggedRange,
  { observedAt, recordedAt }: { observedAt: number; recordedAt: number },
): boolean =>
  range.firstAt <= observedAt &&
  observedAt <= range.lastAt &&
  range.recordedFrom <= recordedAt &&
  recordedAt <= range.recordedTo

/** Rows of a dataset that a transaction has written or removed, by when they are recorded. */
export interface LoggedRows {
  writtenAt: number
  /** The table that they are in. */
  table: string
  recordedAt: number
  /** 0: unknown. */
  batchId: number
}

/** The accounts that are served a series: all, or some; none while it is retired. */
export interface Audience {
  isServed: boolean
  visibleTo: readonly string[] | null
}

/** An event that changed which values of a series are served. */
export type ChangeEvent = { writtenAt: number; seriesId: number } & (
  | { kind: 'quarantined'; id: number; from: string; to: string }
  | { kind: 'released'; id: number }
  /** `isFormula`: the series is computed by a formula that is new, removed or another one. */
  | { kind: 'terms'; before: Audience; after: Audience; isFormula?: true }
)

/** An event without its instant and its series. */
export type EventDetails = ChangeEvent extends infer E
  ? E extends ChangeEvent
    ? Omit<E, 'writtenAt' | 'seriesId'>
    : never
  : never

/** A stretch of the feed between two restored backups. */
export interface Line {
  token: string
  /** The last `writtenAt` that it shares with the line before it. */
  beginsAfter: number
}

export type ChangeLogStore = ReturnType<typeof createChangeLogStore>

export const rangeColumns = `written_at AS writtenAt, series_id AS seriesId, first_at AS firstAt,
  last_at AS lastAt, recorded_from AS recordedFrom, recorded_to AS recordedTo`

interface EventRow {
  writtenAt: number
  seriesId: number
  kind: string
  details: string
}

const eventColumns = 'written_at AS writtenAt, series_id AS seriesId, kind, details'

const eventOf = ({ writtenAt, seriesId, kind, details }: EventRow) =>
  ({ writtenAt, seriesId, kind, ...JSON.parse(details) }) as ChangeEvent

/** Values of a transaction are recorded for the past, or at most so long after it. */
export const promptMs = 60_000

const rowColumns =
  'written_at AS writtenAt, subject AS "table", recorded_at AS recordedAt, coalesce(batch_id, 0) AS batchId'

const logTables = ['price_changes', 'dataset_changes', 'change_events'] as const

/** SQL of the newest transaction of tables of the log that meets a condition. */
const newestOf = (tables: readonly string[], condition = 'TRUE') =>
  `SELECT max(at) AS at FROM (${tables
    .map(table => `SELECT max(written_at) AS at FROM ${table} WHERE ${condition}`)
    .join(' UNION ALL ')})`

/** Reads entries of a table of the log between two instants, ends included, oldest first. */
function entriesOf<Row>(db: Database, table: string, columns: string, order = '') {
  const between = lazy<Row, [number, number]>(
    db,
    `SELECT ${columns} FROM ${table} WHERE written_at BETWEEN ? AND ? ORDER BY written_at${order}`,
  )
  return (from: number, to: number) => between.all(from, to)
}

export function createChangeLogStore(db: Database) {
  const ranges = entriesOf<LoggedRange>(db, 'price_changes', rangeColumns)
  const rows = entriesOf<LoggedRows>(db, 'dataset_changes', rowColumns)
  const events = entriesOf<EventRow>(db, 'change_events', eventColumns, ', series_id, kind')
  const instants = lazy<{ at: number }, [number, boolean, number]>(
    db,
    `SELECT written_at AS at FROM price_changes WHERE written_at >= ?1
     UNION SELECT written_at FROM change_events WHERE written_at >= ?1
     UNION SELECT written_at FROM dataset_changes WHERE written_at >= ?1 AND ?2
     ORDER BY at LIMIT ?3`,
  )
  const ofSome = 'series_id IN (SELECT value FROM json_each(?3))'
  const touching = lazy<LoggedRange, [number, number, string]>(
    db,
    `SELECT ${rangeColumns} FROM price_changes
     WHERE written_at >= ?1 - ${promptMs} AND written_at < ?2
       AND recorded_to >= ?1 AND recorded_from < ?2 AND ${ofSome}
     UNION
     SELECT ${rangeColumns} FROM price_changes INDEXED BY price_changes_of_the_past
     WHERE ${ofSome} AND recorded_to >= ?1 AND recorded_from < written_at AND recorded_from < ?2
     ORDER BY writtenAt`,
  )
  // The search goes by the time of writing: readers that follow have little of the log before them.
  const laterForThePast = lazy<{ writtenAt: number; firstAt: number }, [number, string]>(
    db,
    `SELECT written_at AS writtenAt, min(first_at) AS firstAt FROM price_changes
     WHERE written_at > ?1 AND recorded_from < written_at
       AND +series_id IN (SELECT value FROM json_each(?2))
     GROUP BY written_at ORDER BY written_at`,
  )
  const before = lazy<{ at: number | null }, [number]>(db, newestOf(logTables, 'written_at <= ?1'))
  const lastBefore = (moment: number): number | undefined => before.get(moment)?.at ?? undefined
  const oldestRecorded = lazy<{ at: number | null }, []>(
    db,
    `SELECT min(at) AS at FROM (
       SELECT min(written_at) AS at FROM price_changes
       UNION ALL SELECT min(recorded_from) FROM price_changes INDEXED BY price_changes_of_the_past
         WHERE recorded_from < written_at
       ${[...recordTables.keys()].map(table => `UNION ALL SELECT min(recorded_at) FROM dataset_changes WHERE subject = '${table}'`).join(' ')})`,
  )
  const rowsOf = lazy<LoggedRows, [string, number, number]>(
    db,
    `SELECT ${rowColumns} FROM dataset_changes
     WHERE subject = ? AND recorded_at >= ? AND recorded_at < ? ORDER BY recorded_at, written_at`,
  )
  const eventsOf = lazy<EventRow, [number]>(
    db,
    `SELECT ${eventColumns} FROM change_events INDEXED BY change_events_by_series
     WHERE series_id = ? ORDER BY written_at, kind`,
  )
  const addEvent = lazy(
    db,
    `INSERT INTO change_events (written_at, series_id, kind, details) VALUES (?, ?, ?, ?)`,
  )
  const lines = lazy<Line, []>(
    db,
    'SELECT token, begins_after AS beginsAfter FROM change_lines ORDER BY number',
  )
  const replicaAt = lazy<{ 1: 1 }, []>(
    db,
    "SELECT 1 FROM replication_state WHERE name = 'replica_at'",
  )
  return {
    /** Whether records come from another instance, which may have newer ones. */
    isReplica: () => replicaAt.get() !== undefined,
    /** The instants of transactions from one on, oldest first. */
    instants: (from: number, hasRows: boolean, limit: number) =>
      instants.all(from, hasRows, limit).map(({ at }) => at),
    /** The ranges of transactions between two instants, ends included. */
    between: ranges,
    /** Ranges with values of series that were recorded in `[from, to)`. */
    touching: (from: number, to: number, seriesIds: readonly number[]) =>
      touching.all(from, to, JSON.stringify(seriesIds)),
    /** Later transactions that recorded values of series for the past, with the first time of each. */
    laterForThePast: (seriesIds: readonly number[], writtenAt: number) =>
      laterForThePast.all(writtenAt, JSON.stringify(seriesIds)),
    /** The same of rows of datasets. */
    rows: {
      between: rows,
      /** Those of a table that were recorded in `[from, to)`. */
      touching: (table: string, from: number, to: number) => rowsOf.all(table, from, to),
    },
    /** The last transaction that was written at or before a moment. */
    lastBefore,
    newest: () => lastBefore(Number.MAX_SAFE_INTEGER),
    /** No value was recorded earlier. */
    oldestRecorded: () => oldestRecorded.get()?.at ?? undefined,
    /** The same of events. */
    events: {
      between: (from: number, to: number) => events(from, to).map(eventOf),
      /** Those of a series, oldest first. */
      ofSeries: (seriesId: number) => eventsOf.all(seriesId).map(eventOf),
    },
    addEvent(writtenAt: number, seriesId: number, { kind, ...details }: EventDetails) {
      addEvent.run(writtenAt, seriesId, kind, JSON.stringify(details))
    },
    /** In the order in which they began. */
    lines: () => lines.all(),
    beginLine: () => transact(db, () => beginLine(db)),
  }
}

/**
 * Begins another line of the feed after the last record that there is: records that followed it are
 * lost, as after a restored backup. A database of an older version has no lines.
 */
export function beginLine(db: Database): void {
  const has = db.query<{ 1: 1 }, [string]>('SELECT 1 FROM sqlite_schema WHERE name = ?')
  if (has.get('change_lines') === null) return
  const tables = logTables.filter(table => has.get(table) !== null)
  db.run(
    `INSERT INTO change_lines (token, begins_after)
     SELECT lower(hex(randomblob(3))),
       coalesce((${newestOf(tables)}), (SELECT min(begins_after) FROM change_lines))`,
  )
}
