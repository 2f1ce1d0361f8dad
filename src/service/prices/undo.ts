import type { Batch, BatchStore } from '../../store/prices/batches.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Ingest } from './ingest.ts'
import type { BatchStart, RunningBatch } from './running-batch.ts'

/** What keeps a batch from being undone. */
export interface UndoConflict {
  /** Points that somebody wrote after it. */
  touched: number
  /** The first few of them. */
  examples: { code: string; observedAt: number }[]
}

export interface Undone {
  batch: Batch
  /** Points that have the value again that they had before, and points that are gone. */
  restored: number
  removed: number
  /** Points that were left alone because somebody wrote there later. */
  left: number
}

export interface UndoDeps {
  store: Pick<BatchStore, 'series' | 'points' | 'setUndone'>
  ingest: Pick<Ingest, 'withdraw'>
  catalogue: Pick<Catalogue, 'byId'>
  now(): number
  transact<T>(work: () => T): T
  begin(start: BatchStart): RunningBatch
  /** The same batch for values of another source, by its number. */
  under(running: RunningBatch, sourceId: number): RunningBatch
  close(id: number): Batch
}

const examplesMax = 5

type CoveredSeries = { seriesId: number; points: ReturnType<BatchStore['points']> }

/**
 * Puts back what stood before a batch, as new revisions: history is never written anew. Answers the
 * conflict where somebody wrote later and `onlyUntouched` does not leave that alone.
 */
export function createUndo(deps: UndoDeps) {
  const { store, ingest, catalogue, now, transact } = deps

  const touchedIn = (covered: readonly CoveredSeries[]) =>
    covered.flatMap(({ seriesId, points }) =>
      points
        .filter(point => point.isTouched)
        .map(({ observedAt }) => ({ code: catalogue.byId(seriesId).code, observedAt })),
    )

  /** Points that had a value get it again, of its own source; the others go. */
  const putBack = (running: RunningBatch, { seriesId, points }: CoveredSeries) => {
    const own = points.filter(point => !point.isTouched)
    const withValue = own.filter(point => point.before)
    const without = own.filter(point => !point.before).map(point => point.observedAt)
    for (const [sourceId, group] of Map.groupBy(withValue, point => point.before!.sourceId))
      deps
        .under(running, sourceId)
        .write(
          group.map(({ observedAt, before }) => ({ seriesId, observedAt, value: before!.value })),
        )
    if (without.length > 0) running.during(() => ingest.withdraw(seriesId, without))
    return { restored: withValue.length, removed: without.length }
  }

  return (
    batch: Batch,
    { actor, reason }: { actor: string; reason?: string },
    onlyUntouched: boolean,
  ): Undone | UndoConflict =>
    transact(() => {
      const covered = store
        .series(batch.id)
        .map(span => ({ seriesId: span.seriesId, points: store.points(batch.id, span) }))
      const touched = touchedIn(covered)
      if (touched.length > 0 && !onlyUntouched)
        return { touched: touched.length, examples: touched.slice(0, examplesMax) }
      const running = deps.begin({
        kind: 'undo',
        actor,
        undoesId: batch.id,
        ...(reason !== undefined && { reason }),
      })
      const done = { restored: 0, removed: 0 }
      for (const series of covered) {
        const { restored, removed } = putBack(running, series)
        done.restored += restored
        done.removed += removed
      }
      store.setUndone(batch.id, now())
      return { ...done, batch: deps.close(running.id), left: touched.length }
    })
}
