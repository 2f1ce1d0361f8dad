import { datasetTables } from '../../../../database/dataset-tables.ts'
import type { Journal } from '../../../../database/undo/journal.ts'
import type { UndoneRowStore } from '../../../../database/undo/undone-rows.ts'
import type { WriteCounts } from '../../../../database/write-counts.ts'
import { feedNamed } from '../../math/source-names.ts'
import type { Batch, BatchCounts, BatchSeries, BatchStore, NewBatch } from '../../store/batches.ts'
import type { Change, ObservationReads, Point } from '../../store/observations.ts'
import type { ValueSourceStore } from '../../store/value-sources.ts'
import type { Decisions } from '../checks/decisions.ts'
import type { Guards } from '../checks/guards.ts'
import { deletionsApart, knownAlready } from './deletions.ts'
import type { Ingest, OpenBatch, Recorded } from './ingest.ts'
import type { Tally } from './tally.ts'

/** The fields of a batch when it begins; `source` is the name of its values' source. */
export type BatchStart = Omit<NewBatch, 'sourceId'> & {
  source?: string
  /** The feed that brings the values, and the period of the values. */
  feed?: { name: string; periodKind: number }
  /** The values are stored as another instance recorded them: none is flagged. */
  asRecorded?: boolean
  /** Overrides earlier decisions of operators. */
  replace?: boolean
}

/** A batch that values are written in. */
export interface RunningBatch {
  readonly id: number
  readonly asRecorded: boolean
  /**
   * One transaction, or a part of the one that it is called in. Values that name a source are of
   * it; points that are deleted have none from their time on.
   */
  write(points: readonly Point[], recordedAt?: number): Counts
  /**
   * Runs `work` in one transaction: everything that it records belongs to the batch, and the
   * earlier rows of dataset tables are noted.
   */
  during<T>(work: () => T): T
  /**
   * Writes rows of a dataset, within `during`: those that an undo took back stay away. `write` is
   * called with all of them, or with one after the other where an undo of the dataset stands.
   */
  writeRows<Row>(
    dataset: string,
    rows: readonly Row[],
    recordedAt: number,
    write: (rows: readonly Row[]) => WriteCounts,
  ): WriteCounts
  /** The same batch for values of another source. */
  of(source: NonNullable<BatchStart['feed']>): RunningBatch
  /** Counts rows that were not written, by their outcome. */
  count(counts: Partial<BatchCounts>): void
  end(): Batch
}

export interface RunningBatchDeps {
  store: BatchStore
  journal: Pick<Journal, 'during'>
  rows: UndoneRowStore
  sources: ValueSourceStore
  ingest: Ingest
  observations: Pick<ObservationReads, 'vintages'>
  guards: Guards
  decisions: Decisions
  transact<T>(work: () => T): T
  /** Closes a batch and logs it. */
  end(id: number): Batch
}

/** Makes batches under way: one for each source of the values that a batch brings. */
export function createRunningBatches(deps: RunningBatchDeps) {
  const { store, journal, rows: rowStore, sources, ingest, guards, decisions, transact } = deps

  /** The number of a source; 0 is unknown. */
  const sourceIdOf = ({ source, feed }: Pick<BatchStart, 'source' | 'feed'>): number => {
    if (feed) return sources.idOf({ kind: 'feed', name: feed.name, periodKind: feed.periodKind })
    return source === undefined ? 0 : sources.idOf({ kind: 'named', name: source, periodKind: 0 })
  }

  /** A file from another instance names feeds as sources too: `feed:ecb`, `feed:eia_bulk/month`. */
  const sourceIdNamed = (name: string, asRecorded: boolean): number =>
    sourceIdOf((asRecorded && feedNamed(name)) || { source: name })

  const openOf = createOpenBatches(deps)
  const runningOf = (id: number, sourceId: number, tally: Tally): RunningBatch => {
    const open = openOf(id, sourceId, tally)
    const during = <T>(work: () => T): T => ingest.as(open, work)
    const written = (points: readonly Point[], recordedAt: number | undefined) => {
      const before = tally.writes
      const counts = ingest.write(points, recordedAt)
      // The store does not report a write that changes nothing.
      if (tally.writes === before) store.count(id, counts)
      return counts
    }
    const attributed = <T extends WriteCounts>(points: readonly Point[], counts: T): T => {
      // Values that a dataset has already written get their source here.
      if (tally.asRecorded && sourceId !== 0 && counts.unchanged > 0) {
        for (const seriesId of new Set(points.map(point => point.seriesId)))
          sources.note(seriesId, sourceId)
        ingest.attribute(points, sourceId)
      }
      return counts
    }
    const writeOwn: RunningBatch['write'] = (points, recordedAt) =>
      during(() => {
        const { fresh, kept } = tally.isGuarded
          ? decisions.sift(points, sourceId, tally.replaces)
          : { fresh: points, kept: [] }
        const { good, flagged } = tally.isGuarded
          ? guards.judge(fresh, open)
          : { good: fresh, flagged: [] }
        if (flagged.length + kept.length === 0)
          return { ...attributed(good, written(good, recordedAt)), held: 0, kept: 0 }
        return transact(() => {
          const left = { held: fresh.length - good.length, kept: kept.length }
          guards.keep(flagged, open, ingest.next())
          store.count(id, left)
          const counts = written(good, recordedAt)
          // A written value removes values that were left out at its time from the list.
          decisions.keep(kept, open)
          return { ...counts, ...left }
        })
      })
    /** Values of several sources are written source by source. */
    const writeNamed: RunningBatch['write'] = (points, recordedAt) => {
      if (!points.some(point => point.source !== undefined)) return writeOwn(points, recordedAt)
      const bySource = Map.groupBy(points, point => point.source)
      const counts = [...bySource].map(([name, own]) =>
        name === undefined
          ? writeOwn(own, recordedAt)
          : runningOf(id, sourceIdNamed(name, tally.asRecorded), tally).write(
              own.map(point => ({ ...point, source: undefined }) as Point),
              recordedAt,
            ),
      )
      return sumOf(counts)
    }
    /** Writes deletions, and all other events of the same points, event by event. */
    const writeHistories = (points: readonly Point[], recordedAt: number | undefined): Counts => {
      const { ordinary, histories } = deletionsApart(points)
      const counts = ordinary.length > 0 ? [writeNamed(ordinary, recordedAt)] : []
      for (const events of histories) {
        const isOld = knownAlready(deps.observations, events[0]!)
        for (const event of events)
          counts.push(isOld(event) ? { ...none, unchanged: 1 } : writeEvent(event, recordedAt))
      }
      return sumOf(counts)
    }
    const writeEvent = (event: Point, recordedAt: number | undefined): Counts => {
      if (!event.deleted) return writeNamed([event], recordedAt)
      const { seriesId, observedAt } = event
      const goneAt = during(() =>
        ingest.withdraw(seriesId, [observedAt], event.recordedAt ?? recordedAt),
      )
      return { ...none, revised: 1, recordedAt: goneAt }
    }
    return {
      id,
      asRecorded: tally.asRecorded,
      during: work => journal.during(id, () => during(work)),
      write(points, recordedAt) {
        if (!points.some(isQualified)) return writeOwn(points, recordedAt)
        const seriesIds = [...new Set(points.map(({ seriesId }) => seriesId))]
        return transact(() => ingest.together(seriesIds, () => writeHistories(points, recordedAt)))
      },
      writeRows: (dataset, rows, recordedAt, write) =>
        !tally.isGuarded || tally.replaces
          ? write(rows)
          : writeBesideUndone(rowStore, tally, { dataset, rows, recordedAt, write }),
      of: feed => runningOf(id, sourceIdOf({ feed }), tally),
      count: counts => store.count(id, counts),
      end: () => deps.end(id),
    }
  }
  return { of: runningOf, sourceIdOf }
}

/**
 * Opens batches for the values of one source: they count the writes of the observation store, and
 * record which points they cover.
 */
function createOpenBatches({ store, sources, guards, decisions }: RunningBatchDeps) {
  return (id: number, sourceId: number, tally: Tally): OpenBatch => ({
    batchId: id,
    sourceId,
    asRecorded: tally.asRecorded,
    note(changes, counts, pastOnly) {
      for (const change of changes) tally.see(change)
      // The writer of a dataset counts its rows itself.
      store.count(id, tally.isDataset ? {} : counts, tally.biggest())
      for (const change of changes) {
        const span = coverOf(change)
        store.cover(id, span)
        decisions.forget(span.seriesId, span.firstAt, span.lastAt)
        if (sourceId !== 0) sources.note(change.seriesId, sourceId)
      }
      if (sourceId !== 0) for (const seriesId of pastOnly) sources.note(seriesId, sourceId)
      tally.writes += 1
      // Guards read values that a user set from the store.
      if (!tally.isGuarded) for (const change of changes) guards.forget(change.seriesId)
    },
    sift(points) {
      if (!tally.isDataset || !tally.isGuarded || tally.replaces) return points
      const { fresh, kept } = decisions.sift(points, sourceId)
      if (kept.length > 0) decisions.keep(kept, { sourceId, batchId: id })
      return fresh
    },
    noteRemoved(seriesId, observedAts) {
      if (!tally.isDataset) store.count(id, { removed: observedAts.length })
      const span = spanOf(seriesId, observedAts)
      store.cover(id, span)
      decisions.forget(seriesId, span.firstAt, span.lastAt)
    },
  })
}

/** Writes rows of a dataset one after the other where an undo of it stands: its rows stay away. */
function writeBesideUndone<Row>(
  rowStore: UndoneRowStore,
  tally: Tally,
  {
    dataset,
    rows,
    recordedAt,
    write,
  }: {
    dataset: string
    rows: readonly Row[]
    recordedAt: number
    write: (rows: readonly Row[]) => WriteCounts
  },
): WriteCounts {
  if (!tally.undone.has(dataset)) tally.undone.set(dataset, rowStore.undone(dataset))
  const undone = tally.undone.get(dataset)!
  if (undone.size === 0) {
    const counts = write(rows)
    // For a dataset without rows its values are counted.
    if (datasetTables.some(table => table.dataset === dataset)) return counts
    const written = counts.inserted + counts.revised + counts.unchanged
    return { ...counts, kept: rows.length - written }
  }
  const sum: WriteCounts & { kept: number } = { ...none }
  for (const row of rows) {
    const noted = rowStore.notedUpTo()
    const counts = write([row])
    if (rowStore.putBackUndone(dataset, undone, noted, recordedAt)) {
      sum.kept += 1
      continue
    }
    sum.inserted += counts.inserted
    sum.revised += counts.revised
    sum.unchanged += counts.unchanged
  }
  return sum
}

/** The results of a write, counted in points. */
export type Counts = Recorded & { held: number; kept: number }

const none: Counts = { inserted: 0, revised: 0, unchanged: 0, held: 0, kept: 0, recordedAt: 0 }

/** The results of several writes as one. */
export const sumOf = (all: readonly Counts[]): Counts => {
  const sum = { ...none }
  for (const counts of all)
    for (const name of Object.keys(sum) as (keyof Counts)[])
      sum[name] =
        name === 'recordedAt' ? Math.max(sum[name], counts[name]) : sum[name] + counts[name]
  return sum
}

/** Whether a point has more than its value. */
const isQualified = (point: Point): boolean => point.source !== undefined || point.deleted === true

function coverOf({ seriesId, inserted, revised }: Change): BatchSeries {
  const firsts = [inserted[0], revised[0]].flatMap(point => point?.observedAt ?? [])
  const lasts = [inserted.at(-1), revised.at(-1)].flatMap(point => point?.observedAt ?? [])
  return {
    seriesId,
    points: inserted.length + revised.length,
    firstAt: Math.min(...firsts),
    lastAt: Math.max(...lasts),
  }
}

const spanOf = (seriesId: number, observedAts: readonly number[]): BatchSeries => ({
  seriesId,
  points: observedAts.length,
  firstAt: Math.min(...observedAts),
  lastAt: Math.max(...observedAts),
})
