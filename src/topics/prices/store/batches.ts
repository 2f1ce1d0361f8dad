import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import type { BigChange } from '../math/big-changes.ts'
import { isOverwritten } from './later-writers.ts'

export const batchKinds = ['file', 'push', 'feed', 'correction', 'undo', 'release'] as const
export type BatchKind = (typeof batchKinds)[number]

/** The fields of a batch that are known when it begins. */
export interface NewBatch {
  kind: BatchKind
  actor: string
  /** Undefined for prices. */
  dataset?: string
  sourceId?: number
  feedRunId?: string
  fileName?: string
  sha256?: string
  reason?: string
  undoesId?: number
}

/** The results of a batch, counted in rows. */
export interface BatchCounts extends WriteCounts {
  removed: number
  superseded: number
  rejected: number
  held: number
  kept: number
}

export interface Batch extends BatchCounts {
  id: number
  kind: BatchKind
  actor: string
  dataset: string | null
  sourceId: number | null
  feedRunId: string | null
  fileName: string | null
  sha256: string | null
  reason: string | null
  undoesId: number | null
  startedAt: number
  finishedAt: number | null
  undoneAt: number | null
  /** The earlier versions of its dataset rows are not stored any more. */
  isForgotten: boolean
  biggest: BigChange[]
}

/** Where in a series a batch wrote. */
export interface BatchSeries {
  seriesId: number
  points: number
  firstAt: number
  lastAt: number
}

/** The effect of a batch on one point: its last value in the batch, and the value before. */
export interface BatchPoint {
  observedAt: number
  /** Undefined when there was no value, or its past was not stored. */
  before: { value: number; sourceId: number } | undefined
  /** A later write changed it, and was not undone. */
  isTouched: boolean
}

export type BatchStore = ReturnType<typeof createBatchStore>

export interface BatchFilter {
  kind?: BatchKind
  seriesId?: number
  since?: number
}

const matching = `(?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR started_at >= ?2)
  AND (?3 IS NULL OR id IN (SELECT batch_id FROM batch_series WHERE series_id = ?3))`

export function createBatchStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<Batch>(db, 'batches', {
    columns: `id, kind, actor, dataset, source_id, feed_run_id, file_name, sha256, reason, undoes_id,
      started_at, finished_at, inserted, revised, unchanged, removed, superseded, rejected, held, kept,
      biggest, undone_at, forgotten AS isForgotten`,
    flags: ['isForgotten'],
    json: ['biggest'],
  })
  const open = sql<{ id: number }>`
    INSERT INTO batches (kind, actor, dataset, source_id, feed_run_id, file_name, sha256, reason, undoes_id, started_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`
  const count = sql`
    UPDATE batches SET inserted = inserted + ?2, revised = revised + ?3, unchanged = unchanged + ?4, removed = removed + ?5,
      superseded = superseded + ?6, rejected = rejected + ?7, held = held + ?8, kept = kept + ?9, biggest = coalesce(?10, biggest) WHERE id = ?1`
  const close = sql`UPDATE batches SET finished_at = ?2 WHERE id = ?1`
  const undone = sql`UPDATE batches SET undone_at = ?2 WHERE id = ?1`
  const cover = sql`
    INSERT INTO batch_series (batch_id, series_id, points, first_at, last_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (batch_id, series_id) DO UPDATE SET points = points + excluded.points,
      first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`
  type Filter = [string | null, number | null, number | null]
  const list = table.where<[...Filter, number, number]>(
    `WHERE ${matching} ORDER BY id DESC LIMIT ?4 OFFSET ?5`,
  )
  const total = sql<{ n: number }, Filter>`SELECT count(*) AS n FROM batches WHERE ${matching}`
  // Between the ends that each series has: nothing finds the values of a batch elsewhere.
  const within = 's.series_id = v.series_id AND v.observed_at BETWEEN s.first_at AND s.last_at'
  const recorded = sql<{ at: number | null }, [number]>`
    SELECT max(at) AS at FROM (
      SELECT max(v.recorded_at) AS at FROM batch_series s CROSS JOIN observations v ON ${within}
      WHERE s.batch_id = ?1 AND v.batch_id = ?1
      UNION ALL SELECT max(iif(v.batch_id = ?1, v.recorded_at, v.replaced_at))
      FROM batch_series s CROSS JOIN observation_revisions v ON ${within}
      WHERE s.batch_id = ?1 AND (v.batch_id = ?1 OR v.next_batch_id = ?1))`
  const points = pointsOfBatch(db)
  const filterOf = ({ kind, seriesId, since }: BatchFilter): Filter => [
    kind ?? null,
    since ?? null,
    seriesId ?? null,
  ]
  return {
    open: (batch: NewBatch, at: number) =>
      open.get(
        batch.kind,
        batch.actor,
        batch.dataset ?? null,
        batch.sourceId ?? null,
        batch.feedRunId ?? null,
        batch.fileName ?? null,
        batch.sha256 ?? null,
        batch.reason ?? null,
        batch.undoesId ?? null,
        at,
      )!.id,
    /** Adds to what became of a batch, and sets its biggest changes. */
    count: (id: number, counts: Partial<BatchCounts>, biggest?: readonly BigChange[]) =>
      void count.run(
        id,
        counts.inserted ?? 0,
        counts.revised ?? 0,
        counts.unchanged ?? 0,
        counts.removed ?? 0,
        counts.superseded ?? 0,
        counts.rejected ?? 0,
        counts.held ?? 0,
        counts.kept ?? 0,
        biggest ? JSON.stringify(biggest) : null,
      ),
    close: (id: number, at: number) => void close.run(id, at),
    setUndone: (id: number, at: number) => void undone.run(id, at),
    /** Notes where a batch wrote; inside the transaction that wrote it. */
    cover: (id: number, { seriesId, points: written, firstAt, lastAt }: BatchSeries) =>
      void cover.run(id, seriesId, written, firstAt, lastAt),
    find: table.where<[id: number]>('WHERE id = ?').get,
    /** Newest first. */
    list: (filter: BatchFilter, limit: number, offset: number): Batch[] =>
      list.all(...filterOf(filter), limit, offset),
    total: (filter: BatchFilter) => total.get(...filterOf(filter))!.n,
    series: sql<BatchSeries, [id: number]>`
      SELECT series_id AS seriesId, points, first_at AS firstAt, last_at AS lastAt FROM batch_series
      WHERE batch_id = ? ORDER BY series_id`.all,
    /** When the last of its values was recorded or removed; undefined: it changed none. */
    recordedAt: (id: number): number | undefined => recorded.get(id)?.at ?? undefined,
    /** Every point of a series that a batch changed, oldest first. */
    points,
  }
}

/**
 * A batch is undone from its traces: revisions name the batch that replaced them, and a value that
 * replaced nothing was new. A batch that wrote a point several times is one change.
 */
function pointsOfBatch(db: Database) {
  const sql = statements(db)
  const within = 'series_id = ?1 AND observed_at BETWEEN ?2 AND ?3'
  const moments = sql<{ observedAt: number }, number[]>`
    SELECT observed_at AS observedAt FROM observations WHERE ${within} AND batch_id = ?4
    UNION SELECT observed_at FROM observation_revisions WHERE ${within} AND (batch_id = ?4 OR next_batch_id = ?4)
    ORDER BY 1`
  const current = sql<{ batchId: number }, number[]>`
    SELECT batch_id AS batchId FROM observations WHERE series_id = ? AND observed_at = ?`
  const revisions = sql<
    { value: number; sourceId: number; batchId: number; nextBatchId: number },
    number[]
  >`
    SELECT value, source_id AS sourceId, batch_id AS batchId, next_batch_id AS nextBatchId FROM observation_revisions
    WHERE series_id = ? AND observed_at = ? ORDER BY recorded_at DESC`
  const undoes = sql<{ undoesId: number | null }, [number]>`
    SELECT undoes_id AS undoesId FROM batches WHERE id = ?`
  const writerOf = (id: number) => ({ id, undoesId: undoes.get(id)?.undoesId ?? undefined })
  return (id: number, { seriesId, firstAt, lastAt }: BatchSeries): BatchPoint[] =>
    moments.all(seriesId, firstAt, lastAt, id).map(({ observedAt }) => {
      const now = current.get(seriesId, observedAt)
      const past = revisions.all(seriesId, observedAt)
      const writers = past.toReversed().flatMap(value => [value.batchId, value.nextBatchId])
      if (now) writers.push(now.batchId)
      const turns = writers.filter((writer, i) => writer !== writers[i - 1])
      const before = past.find(value => value.nextBatchId === id && value.batchId !== id)
      return {
        observedAt,
        before: before && { value: before.value, sourceId: before.sourceId },
        isTouched: isOverwritten(turns.slice(turns.lastIndexOf(id) + 1).map(writerOf)),
      }
    })
}
