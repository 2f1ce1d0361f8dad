import type { Journal } from '../../../../database/undo/journal.ts'
import type { BatchRowStore } from '../../../../database/undo/rows.ts'
import type { Log } from '../../../../lib/log/log.ts'
import { dayMs, hourMs, minuteMs } from '../../../../lib/time/instant.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import { type BigChange, createBigChanges } from '../../math/big-changes.ts'
import type { Batch, NewBatch } from '../../store/batches.ts'
import type { Point } from '../../store/observations.ts'
import {
  type BatchStart,
  type Counts,
  createRunningBatches,
  type RunningBatch,
  type RunningBatchDeps,
} from './running-batch.ts'
import { createTally, type Tally } from './tally.ts'
import { createUndo, rowText, type UndoConflict, type Undone } from './undo.ts'

/** A batch of one transaction, and the time of its recording: from then on `as_of` returns it. */
export interface RecordedBatch {
  batch: Batch
  recordedAt: number
}

/** `interrupted`: its sender ended without closing it; what it has written stays, and can be undone. */
export const batchStatuses = ['in_progress', 'interrupted', 'completed'] as const
export type BatchStatus = (typeof batchStatuses)[number]

export type Batches = ReturnType<typeof createBatches>

const pruneEach = 5000
/** After this time without a request, the sender of a file is assumed to have ended. */
const silentMs = 2 * minuteMs
const pruneEveryMs = hourMs

export interface BatchesDeps extends Omit<RunningBatchDeps, 'end'> {
  catalogue: Catalogue
  rows: BatchRowStore
  journal: Journal
  /** How long a batch of a dataset can be undone. */
  undoDays: number
  log: Log
  now(): number
}

const lineOf = (batch: Batch) => ({
  batch: batch.id,
  kind: batch.kind,
  actor: batch.actor,
  dataset: batch.dataset,
  file: batch.fileName,
  inserted: batch.inserted,
  revised: batch.revised,
  unchanged: batch.unchanged,
  removed: batch.removed,
  rejected: batch.rejected,
  held: batch.held,
  kept: batch.kept,
})

/** A value that a user decided on is not flagged again. */
const isGuarded = (kind: NewBatch['kind']): boolean =>
  kind === 'file' || kind === 'push' || kind === 'feed'

export function createBatches(deps: BatchesDeps) {
  const { store, ingest, catalogue, log, now, transact } = deps
  /** Open batches, each with the time of its sender's last request. */
  const openBatches = new Map<number, { tally: Tally; requestedAt: number }>()
  let prunedAt = Number.NEGATIVE_INFINITY

  const close = (id: number): Batch => {
    store.close(id, now())
    openBatches.delete(id)
    return store.find(id)!
  }
  /** After the commit. The runs of feeds have their own line. */
  const logged = (batch: Batch): Batch => {
    if (batch.kind !== 'feed') log.info('batch_written', lineOf(batch))
    return batch
  }
  const batches = createRunningBatches({ ...deps, end: id => logged(close(id)) })

  const begin = (start: BatchStart): RunningBatch => {
    const { source: _, feed: __, asRecorded = false, replace = false, ...batch } = start
    const sourceId = batches.sourceIdOf(start)
    const id = store.open({ ...batch, ...(sourceId !== 0 && { sourceId }) }, now())
    const tally = createTally(catalogue, start.dataset !== undefined, {
      isGuarded: isGuarded(start.kind) && !asRecorded,
      asRecorded,
      replaces: replace,
    })
    openBatches.set(id, { tally, requestedAt: now() })
    return batches.of(id, sourceId, tally)
  }

  /** The same batch for values of another source, by its number. */
  const asOf = (running: RunningBatch, sourceId: number): RunningBatch =>
    batches.of(running.id, sourceId, openBatches.get(running.id)!.tally)

  /** Runs work as one batch in one transaction. */
  const whole = (start: BatchStart, work: (running: RunningBatch) => number): RecordedBatch => {
    const done = transact(() => {
      const running = begin(start)
      const recordedAt = work(running)
      return { batch: close(running.id), recordedAt }
    })
    logged(done.batch)
    return done
  }

  const release = (start: BatchStart, points: readonly Point[], sourceId: number): RecordedBatch =>
    whole(start, running => asOf(running, sourceId).write(points).recordedAt)

  const undo = createUndo({ ...deps, begin, close, under: asOf })

  return {
    begin,
    /** A batch that began in an earlier request and has not ended. */
    running(id: number): RunningBatch | undefined {
      const batch = store.find(id)
      if (!batch || batch.finishedAt !== null || batch.undoneAt !== null) return undefined
      const tally =
        openBatches.get(id)?.tally ??
        createTally(
          catalogue,
          batch.dataset !== null,
          { isGuarded: isGuarded(batch.kind), asRecorded: false, replaces: false },
          batch.biggest,
        )
      openBatches.set(id, { tally, requestedAt: now() })
      return batches.of(id, batch.sourceId ?? 0, tally)
    },
    /** A batch that an earlier process began is interrupted until its sender makes a request again. */
    statusOf({ id, kind, finishedAt }: Batch): BatchStatus {
      if (finishedAt !== null) return 'completed'
      const lastAt = openBatches.get(id)?.requestedAt
      const isRecent = lastAt !== undefined && (kind !== 'file' || now() - lastAt < silentMs)
      return isRecent ? 'in_progress' : 'interrupted'
    },
    /** One batch of one write, in one transaction. */
    record(start: BatchStart, points: readonly Point[]): { batch: Batch; counts: Counts } {
      const done = transact(() => {
        const running = begin(start)
        const counts = running.write(points)
        return { batch: close(running.id), counts }
      })
      logged(done.batch)
      return done
    },
    /** Records values that were held for review. */
    release,
    /** Replaces a value; its source stays. */
    correct(start: BatchStart, point: Point): RecordedBatch {
      const { sourceId = 0 } =
        deps.observations.vintages(point.seriesId, point.observedAt).at(-1) ?? {}
      return release(start, [point], sourceId)
    },
    /** Removes points from all reads. */
    remove: (start: BatchStart, seriesId: number, observedAts: readonly number[]): RecordedBatch =>
      whole(start, running => running.during(() => ingest.withdraw(seriesId, observedAts))),
    /**
     * Restores the state before a batch, as new revisions: history is never rewritten. Returns the
     * conflict where later writes changed it and `onlyUntouched` does not skip them.
     */
    undo(
      batch: Batch,
      by: { actor: string; reason?: string },
      onlyUntouched: boolean,
    ): Undone | UndoConflict {
      const done = undo(batch, by, onlyUntouched)
      if ('batch' in done) logged(done.batch)
      return done
    },
    /** The biggest changes of numbers in rows of datasets, each named by its row and column. */
    rowChanges(batchId: number): Omit<BigChange, 'observedAt'>[] {
      const biggest = createBigChanges()
      for (const { row, column, before, now: after } of deps.rows.numbers(batchId))
        biggest.add(`${rowText(row, catalogue)} ${column}`, 0, before, after)
      return biggest.list().map(({ observedAt: _, ...change }) => change)
    },
    /** Drops the data for undoing old batches of datasets, some thousands of rows at a time. */
    prune() {
      if (Math.abs(now() - prunedAt) < pruneEveryMs) return
      // Where a slice was full there is more: the next pass continues.
      const forgotten = deps.journal.forget(now() - deps.undoDays * dayMs, pruneEach)
      if (forgotten < pruneEach) prunedAt = now()
    },
  }
}
