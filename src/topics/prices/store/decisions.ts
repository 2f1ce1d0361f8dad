import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import type { Vintage } from './observations.ts'

/** The result of an operator's correction, deletion or undo of a point, while it is current. */
export interface Decision {
  observedAt: number
  /** Undefined: the point has no value. */
  value: number | undefined
  decidedAt: number
  batchId: number
  kind: 'correction' | 'undo'
  reason: string | null
  /** Values that files, pushes and feeds had given for the point before. */
  given: readonly Pick<Vintage, 'value' | 'sourceId'>[]
}

/** Decisions are read from the revisions and from the batches that replaced them. */
export type DecisionStore = ReturnType<typeof createDecisionStore>

interface DatedValue extends Omit<Vintage, 'replacedAt'> {
  replacedAt: number | null
  nextBatchId: number
}

interface DecidingBatch {
  kind: Decision['kind']
  reason: string | null
}

const ofDecisions = "kind IN ('correction', 'undo')"

export function createDecisionStore(db: Database) {
  const sql = statements(db)
  const any = sql<{ 1: 1 }, []>`SELECT 1 FROM batches WHERE ${ofDecisions} LIMIT 1`
  const decided = sql<{ observedAt: number }, number[]>`
    SELECT DISTINCT r.observed_at AS observedAt FROM observation_revisions r
    WHERE r.series_id = ? AND r.observed_at BETWEEN ? AND ?
      AND EXISTS (SELECT 1 FROM batches b WHERE b.id = r.next_batch_id AND b.${ofDecisions})`
  const values = sql<DatedValue, number[]>`
    SELECT value, recorded_at AS recordedAt, replaced_at AS replacedAt, source_id AS sourceId,
      batch_id AS batchId, next_batch_id AS nextBatchId
    FROM observation_revisions WHERE series_id = ?1 AND observed_at = ?2
    UNION ALL SELECT value, recorded_at, NULL, source_id, batch_id, 0
    FROM observations WHERE series_id = ?1 AND observed_at = ?2
    ORDER BY recordedAt`
  const batch = sql<DecidingBatch, [number]>`
    SELECT kind, reason FROM batches WHERE id = ? AND ${ofDecisions}`
  const decisionAt = (seriesId: number, observedAt: number): Decision[] => {
    const history = values.all(seriesId, observedAt)
    const last = history.at(-1)!
    const isGone = last.replacedAt !== null
    const batchId = isGone ? last.nextBatchId : last.batchId
    const deciding = batch.get(batchId)
    if (!deciding) return []
    return [
      {
        observedAt,
        value: isGone ? undefined : last.value,
        decidedAt: last.replacedAt ?? last.recordedAt,
        batchId,
        ...deciding,
        given: history.filter(value => !batch.get(value.batchId)),
      },
    ]
  }
  return {
    /** Whether there are corrections, deletions or undos by operators. */
    any: () => any.get() !== undefined,
    /** Decisions in force for points of a series, from one moment to another, both inclusive. */
    between: (seriesId: number, from: number, to: number) =>
      decided.all(seriesId, from, to).flatMap(({ observedAt }) => decisionAt(seriesId, observedAt)),
  }
}
