import type { BatchRowStore } from '../../../../database/undo/rows.ts'
import type { RowName } from '../../../../database/undo/table-rows.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Batch, BatchStore } from '../../store/batches.ts'
import type { Ingest } from './ingest.ts'
import type { BatchStart, RunningBatch } from './running-batch.ts'

/** Later writes that keep a batch from being undone. */
export interface UndoConflict {
  /** Values of prices, or rows of a dataset. */
  touched: number
  /** The first few of them, as text. */
  examples: string[]
}

/** Counts are of values, or of rows of a dataset. */
export interface Undone {
  batch: Batch
  /** The number of values or rows that were restored or removed. */
  restored: number
  removed: number
  /** The number that was kept because of later writes. */
  left: number
  /** From then on `as_of` returns the values before the batch. */
  recordedAt: number
}

export interface UndoDeps {
  store: Pick<BatchStore, 'series' | 'points' | 'setUndone' | 'count'>
  rows: Pick<BatchRowStore, 'touched' | 'putBack'>
  ingest: Pick<Ingest, 'withdraw' | 'next' | 'together'>
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
 * Restores the state before a batch, as new revisions: history is never rewritten. Returns the
 * conflict where later writes changed it and `onlyUntouched` does not skip them.
 */
export function createUndo(deps: UndoDeps) {
  const { store, rows, ingest, catalogue, now, transact } = deps

  const touchedIn = (covered: readonly CoveredSeries[]): string[] =>
    covered.flatMap(({ seriesId, points }) =>
      points
        .filter(point => point.isTouched)
        .map(({ observedAt }) => `${catalogue.byId(seriesId).code} at ${isoInstant(observedAt)}`),
    )

  /** Points that had a value get it again with its source; the others are removed. */
  const putBackPoints = (
    running: RunningBatch,
    { seriesId, points }: CoveredSeries,
    at: number,
  ) => {
    const untouched = points.filter(point => !point.isTouched)
    const withValue = untouched.filter(point => point.before)
    const without = untouched.filter(point => !point.before).map(point => point.observedAt)
    let last = at
    for (const [sourceId, group] of Map.groupBy(withValue, point => point.before!.sourceId)) {
      const { recordedAt } = deps.under(running, sourceId).write(
        group.map(({ observedAt, before }) => ({ seriesId, observedAt, value: before!.value })),
        at,
      )
      last = Math.max(last, recordedAt)
    }
    if (without.length > 0)
      last = Math.max(
        last,
        running.during(() => ingest.withdraw(seriesId, without, at)),
      )
    return { restored: withValue.length, removed: without.length, recordedAt: last }
  }

  /** A dataset's rows count, and the values that follow them do not; where it has none, these do. */
  const putBack = (batch: Batch, running: RunningBatch, covered: readonly CoveredSeries[]) => {
    const values = { restored: 0, removed: 0 }
    const at = ingest.next()
    let recordedAt = at
    const seriesIds = covered.map(({ seriesId }) => seriesId)
    const all = ingest.together(seriesIds, () =>
      covered.map(series => putBackPoints(running, series, at)),
    )
    for (const done of all) {
      values.restored += done.restored
      values.removed += done.removed
      recordedAt = Math.max(recordedAt, done.recordedAt)
    }
    const changed = running.during(() => rows.putBack(batch.id, batch.dataset, at))
    const isOfRows = changed.restored + changed.removed > 0
    if (isOfRows || batch.dataset !== null) {
      const counts = isOfRows ? changed : values
      store.count(running.id, { revised: counts.restored, removed: counts.removed })
    }
    const counts =
      batch.dataset !== null && isOfRows
        ? changed
        : {
            restored: values.restored + changed.restored,
            removed: values.removed + changed.removed,
          }
    return { ...counts, recordedAt }
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
      const touchedRows = rows.touched(batch.id).map(row => rowText(row, catalogue))
      const touchedPoints = touchedIn(covered)
      // In a dataset the batch wrote rows, and its values go with them.
      const touched =
        batch.dataset !== null && touchedRows.length > 0
          ? touchedRows
          : [...touchedPoints, ...touchedRows]
      if (touched.length > 0 && !onlyUntouched)
        return { touched: touched.length, examples: touched.slice(0, examplesMax) }
      const running = deps.begin({
        kind: 'undo',
        actor,
        undoesId: batch.id,
        ...(batch.dataset !== null && { dataset: batch.dataset }),
        ...(reason !== undefined && { reason }),
      })
      const done = putBack(batch, running, covered)
      store.setUndone(batch.id, now())
      return { ...done, batch: deps.close(running.id), left: touched.length }
    })
}

/** As a person names a row: `rig_counts TX 2026-11-20`. */
export function rowText({ table, key }: RowName, catalogue: Pick<Catalogue, 'byId'>): string {
  const words = Object.entries(key).map(([column, value]) =>
    column === 'series_id' ? catalogue.byId(value as number).code : String(value),
  )
  return [table, ...words].join(' ')
}
