import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import { dayMs } from '../../../lib/time/instant.ts'

export const flagStatuses = ['waiting', 'flagged', 'released', 'rejected', 'kept'] as const
export type FlagStatus = (typeof flagStatuses)[number]

/** A value that the guards flagged: of a series, or a number of a row of a dataset. */
export interface FlaggedValue {
  id: number
  /** Null for a row of a dataset. */
  seriesId: number | null
  observedAt: number
  value: number
  before: number | null
  rule: string
  reason: string
  sourceId: number
  batchId: number
  status: FlagStatus
  flaggedAt: number
  decidedAt: number | null
  decidedBy: string | null
  decisionReason: string | null
  dataset: string | null
  /** JSON of the columns that identify the line of a row. */
  line: string | null
  /** JSON: all its numbers that are guarded. */
  numbers: string | null
  column: string | null
  /** JSON: the row as it was sent. */
  fields: string | null
}

type Decision = 'id' | 'decidedAt' | 'decidedBy' | 'decisionReason'
type OfRows = 'dataset' | 'line' | 'numbers' | 'column' | 'fields'

export type NewFlag = Omit<FlaggedValue, Decision | OfRows> & { seriesId: number }
export type NewFlaggedRow = Omit<FlaggedValue, Decision | OfRows | 'seriesId'> &
  Record<OfRows, string>
type FlaggedRow = Omit<FlaggedValue, OfRows> & Record<OfRows, string>

export interface FlagFilter {
  status?: FlagStatus
  seriesId?: number
  dataset?: string
}

/** Values that must not be recorded, and why. */
export type RefusedValue = Pick<FlaggedValue, 'observedAt' | 'value' | 'rule' | 'reason'>

export type FlaggedValueStore = ReturnType<typeof createFlaggedValueStore>

export interface WaitingMove {
  before: number
  value: number
}

export interface CoarseFlag {
  id: number
  observedAt: number
  periodKind: number
}

const columns = `id, series_id AS seriesId, observed_at AS observedAt, value, before, rule, reason, source_id AS sourceId,
  batch_id AS batchId, status, doubted_at AS flaggedAt, decided_at AS decidedAt, decided_by AS decidedBy,
  decision_reason AS decisionReason, dataset, line, numbers, doubted_column AS "column", fields`
const matching =
  '(?1 IS NULL OR status = ?1) AND (?2 IS NULL OR series_id = ?2) AND (?3 IS NULL OR dataset = ?3)'

export function createFlaggedValueStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO doubted_values (series_id, observed_at, value, before, rule, reason, source_id, batch_id, status, doubted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (series_id, observed_at, value) DO UPDATE SET before = excluded.before, rule = excluded.rule,
      reason = excluded.reason, source_id = excluded.source_id, batch_id = excluded.batch_id,
      status = excluded.status, doubted_at = excluded.doubted_at,
      decided_at = NULL, decided_by = NULL, decision_reason = NULL
    WHERE (status = 'waiting' AND excluded.status = 'flagged') OR (status = 'kept' AND excluded.status = 'waiting')`
  const find = sql<FlaggedValue, [number]>`SELECT ${columns} FROM doubted_values WHERE id = ?`
  const statusOf = sql<{ status: FlagStatus }, number[]>`
    SELECT status FROM doubted_values WHERE series_id = ? AND observed_at = ? AND value = ?`
  const notTaken = sql<RefusedValue, number[]>`
    SELECT observed_at AS observedAt, value, rule, reason FROM doubted_values
    WHERE series_id = ? AND observed_at BETWEEN ? AND ? AND status IN ('waiting', 'rejected')`
  const anyRejected = sql<{ 1: 1 }, []>`
    SELECT 1 FROM doubted_values WHERE status = 'rejected' LIMIT 1`
  const rejected = sql<RefusedValue, number[]>`
    SELECT observed_at AS observedAt, value, rule, reason FROM doubted_values
    WHERE series_id = ? AND observed_at BETWEEN ? AND ? AND status = 'rejected'`
  const keep = sql`
    INSERT INTO doubted_values (series_id, observed_at, value, before, rule, reason, source_id, batch_id, status, doubted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET before = excluded.before, rule = excluded.rule,
      reason = excluded.reason, source_id = excluded.source_id, batch_id = excluded.batch_id,
      status = excluded.status, doubted_at = excluded.doubted_at
    WHERE status IN ('flagged', 'released') OR (status = 'kept' AND reason <> excluded.reason)`
  const forgetKept = sql`DELETE FROM doubted_values
     WHERE series_id = ? AND observed_at BETWEEN ? AND ? AND status = 'kept'`
  const waitingNear = sql<WaitingMove, number[]>`SELECT before, value FROM doubted_values
     WHERE series_id = ? AND observed_at BETWEEN ? AND ? AND source_id <> ?
       AND status = 'waiting' AND rule <> 'unit' AND before IS NOT NULL`
  type Filter = [string | null, number | null, string | null]
  const list = sql<FlaggedValue, [...Filter, number, number]>`
    SELECT ${columns} FROM doubted_values WHERE ${matching} ORDER BY id DESC LIMIT ?4 OFFSET ?5`
  const total = sql<{ n: number }, Filter>`
    SELECT count(*) AS n FROM doubted_values WHERE ${matching}`
  const decide = sql`
    UPDATE doubted_values SET status = ?, decided_by = ?, decision_reason = ?, decided_at = ? WHERE id = ?`
  const waitingDays = sql<{ day: number }, number[]>`
    SELECT DISTINCT observed_at - ((observed_at % ${dayMs}) + ${dayMs}) % ${dayMs} AS day FROM doubted_values
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ? AND status = 'waiting' ORDER BY day`
  const waitingCoarser = sql<CoarseFlag, number[]>`
    SELECT d.id, d.observed_at AS observedAt, s.period_kind AS periodKind
    FROM doubted_values d JOIN value_sources s ON s.id = d.source_id
    WHERE d.series_id = ? AND s.period_kind > ? AND d.observed_at BETWEEN ? AND ? AND d.status = 'waiting'`
  const remove = sql`DELETE FROM doubted_values WHERE id = ?`
  const addRow = sql`
    INSERT INTO doubted_values (dataset, line, numbers, doubted_column, fields, observed_at, value, before, rule, reason,
      source_id, batch_id, status, doubted_at)
    VALUES ($dataset, $line, $numbers, $column, $fields, $observedAt, $value, $before, $rule, $reason, $sourceId,
      $batchId, $status, $flaggedAt)
    ON CONFLICT DO NOTHING`
  const ofLine = sql<Pick<FlaggedRow, 'observedAt' | 'numbers' | 'status'>, [string, string]>`
    SELECT observed_at AS observedAt, numbers, status FROM doubted_values
    WHERE dataset = ? AND line = ?`
  const filterOf = ({ status, seriesId, dataset }: FlagFilter): Filter => [
    status ?? null,
    seriesId ?? null,
    dataset ?? null,
  ]
  const cellsOf = (flag: NewFlag) =>
    [
      flag.seriesId,
      flag.observedAt,
      flag.value,
      flag.before,
      flag.rule,
      flag.reason,
      flag.sourceId,
      flag.batchId,
      flag.status,
      flag.flaggedAt,
    ] as const
  return {
    /**
     * Stores a flag. An existing flag of the same value stays as it is, unless the value waited and
     * is recorded now, so that it is only listed, or was left out by a decision and waits now.
     */
    add: (flag: NewFlag) => void add.run(...cellsOf(flag)),
    /** The same of a row of a dataset. */
    addRow: (flag: NewFlaggedRow) => void addRow.run({ ...flag }),
    ofLine: (dataset: string, line: string) => ofLine.all(dataset, line),
    find: (id: number) => find.get(id),
    /** The status of this exact value, if it was flagged. */
    statusOf: (seriesId: number, observedAt: number, value: number) =>
      statusOf.get(seriesId, observedAt, value)?.status,
    /** Values of a series from one moment to another, both inclusive, that wait or were rejected. */
    notTaken: (seriesId: number, from: number, to: number) => notTaken.all(seriesId, from, to),
    anyRejected: () => anyRejected.get() !== undefined,
    /** Values of a series that were rejected, from one moment to another, both inclusive. */
    rejected: (seriesId: number, from: number, to: number) => rejected.all(seriesId, from, to),
    /** Lists a value that was left out for what an operator decided; one that waits stays as it is. */
    keep: (value: NewFlag) => void keep.run(...cellsOf(value)),
    /** Removes excluded values from the list, from one moment to another, both inclusive. */
    forgetKept: (seriesId: number, from: number, to: number) =>
      void forgetKept.run(seriesId, from, to),
    /**
     * Moves of values that wait for review, from one moment to another, both inclusive, of other
     * sources than one. Moves by the ratio of two units are left out.
     */
    waitingNear: (seriesId: number, from: number, to: number, otherThan: number) =>
      waitingNear.all(seriesId, from, to, otherThan),
    /** Newest first. */
    list: (filter: FlagFilter, limit: number, offset: number) =>
      list.all(...filterOf(filter), limit, offset),
    total: (filter: FlagFilter) => total.get(...filterOf(filter))!.n,
    /** Days, as their first ms, of which values wait for a decision. */
    waitingDays: (seriesId: number, from: number, to: number) =>
      waitingDays.all(seriesId, from, to).map(({ day }) => day),
    decide: (id: number, status: 'released' | 'rejected', by: string, reason: string, at: number) =>
      void decide.run(status, by, reason, at, id),
    /**
     * Values of a series that wait, from one moment to another, both inclusive, and speak for a longer
     * period than this kind.
     */
    waitingCoarser: (seriesId: number, periodKind: number, from: number, to: number) =>
      waitingCoarser.all(seriesId, periodKind, from, to),
    remove: (id: number) => void remove.run(id),
  }
}
