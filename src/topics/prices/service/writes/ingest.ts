import type { WriteCounts } from '../../../../database/write-counts.ts'
import type { Clock } from '../../../../lib/time/clock.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Observation } from '../../math/bars.ts'
import {
  type Change,
  noOrigin,
  type ObservationStore,
  type Origin,
  type Point,
} from '../../store/observations.ts'

/** Called after every commit, in the order of the commits, with the origin of the changes. */
export type Listener = (changes: readonly Change[], origin: Origin) => void

/** Called inside the transaction with the last values of points that it withdraws, oldest first. */
export type RemovalListener = (seriesId: number, removed: readonly Observation[]) => void

/** The result of a write, and when it is recorded. */
export type Recorded = WriteCounts & { recordedAt: number }

/** A batch under way: the origin of its values, and its record of changes. */
export interface OpenBatch extends Origin {
  /** Leaves out values of datasets that an operator decided against. */
  sift(points: readonly Point[]): readonly Point[]
  /**
   * Called inside the transaction, before all other listeners. `pastOnly`: the series of which only
   * earlier values became known.
   */
  note(changes: readonly Change[], counts: WriteCounts, pastOnly: readonly number[]): void
  /** Inside the transaction: points of a series that it took out of every read. */
  noteRemoved(seriesId: number, observedAts: readonly number[]): void
}

/** The only way to record observations. */
export type Ingest = ReturnType<typeof createIngest>

export interface IngestDeps {
  /** Throws while there is no room for prices. */
  admit?(): void
  /** A number of the transaction under way, or of the next one. */
  transactionNumber?(): number
  /** Before the transaction writes values of these series. */
  prepare?(seriesIds: Iterable<number>): void
  /**
   * Called in the transaction with the first time of each series that has changed. Returns the changes
   * that follow for computed series; those of a part follow with the next changes that are none.
   * `isRemoved`: no change has the values of the series itself.
   */
  derive?(firstChanged: ReadonlyMap<number, number>, isPart: boolean, isRemoved?: boolean): Change[]
  /** The newest instant of those before the start. */
  lastWrittenAt?: number
}

export function createIngest(
  observations: ObservationStore,
  catalogue: Catalogue,
  clock: Clock,
  deps: IngestDeps = {},
) {
  const { admit = () => undefined, transactionNumber = () => Number.NaN } = deps
  const listeners: Listener[] = []
  const inside: Listener[] = []
  const removals: RemovalListener[] = []
  const withdrawals: ((seriesId: number) => void)[] = []
  const pasts: ((seriesId: number) => void)[] = []
  let batch: OpenBatch | undefined
  let isPart = false
  let lastSnapshotAt = Number.NEGATIVE_INFINITY
  let lastWrite = deps.lastWrittenAt ?? Number.NEGATIVE_INFINITY
  let lastInstant = { transaction: Number.NaN, at: Number.NEGATIVE_INFINITY }
  const next = () => {
    const transaction = transactionNumber()
    if (transaction !== lastInstant.transaction || lastInstant.at <= lastSnapshotAt) {
      lastInstant = { transaction, at: Math.max(clock.now(), lastSnapshotAt + 1, lastWrite + 1) }
      lastWrite = lastInstant.at
    }
    return lastInstant.at
  }
  const derive = (firstChangedAt: ReadonlyMap<number, number>, isRemoved = false): Change[] => {
    const derived = deps.derive?.(firstChangedAt, isPart, isRemoved) ?? []
    if (derived.length > 0) for (const listener of inside) listener(derived, noOrigin)
    return derived
  }
  /** What follows from the changes of `work` follows with the next ones outside it. */
  const asPart = <T>(work: () => T): T => {
    const was = isPart
    isPart = true
    try {
      return work()
    } finally {
      isPart = was
    }
  }
  const notify = (changes: readonly Change[], origin: Origin) => {
    if (changes.length > 0) for (const listener of listeners) listener(changes, origin)
  }
  const extend = (changes: readonly Change[]) => {
    for (const { seriesId, inserted } of changes) {
      const [first, last] = [inserted[0], inserted.at(-1)]
      if (first && last) catalogue.extend(seriesId, first.observedAt, last.observedAt)
    }
  }
  return {
    /**
     * One transaction: all points or none, with revisions and bars. `recordedAt` is given by the
     * caller or is now; the result has the time at which the last of the points is recorded, which
     * is later where another batch wrote in the same millisecond.
     */
    write(all: readonly Point[], given?: number): Recorded {
      admit()
      const writtenAt = next()
      const recordedAt = given ?? writtenAt
      const points = batch?.sift(all) ?? all
      const origin = batch ?? noOrigin
      deps.prepare?.(new Set(points.map(point => point.seriesId)))
      let derived: Change[] = []
      const { counts, changes, pastOnly } = observations.write(
        points,
        recordedAt,
        (changed, written, past) => {
          // Noted first, because listeners may read the sources of the values.
          batch?.note(changed, written, past)
          if (changed.length === 0) return
          asPart(() => {
            for (const listener of inside) listener(changed, origin)
          })
          derived = derive(new Map(changed.map(change => [change.seriesId, firstChanged(change)])))
        },
        origin,
        writtenAt,
      )
      extend([...changes, ...derived])
      notify(changes, origin)
      notify(derived, noOrigin)
      for (const seriesId of pastOnly) for (const listener of pasts) listener(seriesId)
      const lastRecordedAt = lastRecordedOf(changes, recordedAt)
      if (recordedAt === writtenAt) lastWrite = Math.max(lastWrite, lastRecordedAt)
      return { ...counts, recordedAt: lastRecordedAt }
    },
    /**
     * Withdraws points of a series from every read from now on; `as_of` still returns them for the
     * time before. One transaction. `at` is given where they were withdrawn earlier. Returns since
     * when they have no value.
     */
    withdraw(seriesId: number, observedAts: readonly number[], given?: number) {
      const writtenAt = next()
      const at = given ?? writtenAt
      deps.prepare?.([seriesId])
      let derived: Change[] = []
      const goneAt = observations.withdraw(
        seriesId,
        observedAts,
        at,
        batch ?? noOrigin,
        removed => {
          batch?.noteRemoved(seriesId, observedAts)
          for (const listener of removals) listener(seriesId, removed)
          derived = derive(new Map([[seriesId, Math.min(...observedAts)]]), true)
        },
        writtenAt,
      )
      if (at === writtenAt) lastWrite = Math.max(lastWrite, goneAt)
      for (const listener of withdrawals) listener(seriesId)
      notify(derived, noOrigin)
      return goneAt
    },
    /**
     * Writes of one transaction to these series that count as one: what formulas were between them,
     * no one could read.
     */
    together<T>(seriesIds: readonly number[], work: () => T): T {
      if (isPart) return work()
      deps.prepare?.(seriesIds)
      const result = asPart(work)
      const derived = derive(new Map())
      extend(derived)
      notify(derived, noOrigin)
      return result
    },
    /** Sets the source of current values that equal the given ones. */
    attribute(points: readonly Point[], sourceId: number) {
      observations.attribute(points, sourceId)
      for (const seriesId of new Set(points.map(point => point.seriesId)))
        for (const listener of withdrawals) listener(seriesId)
    },
    /** Assigns everything that `work` writes to the batch; undefined: to none. */
    as<T>(next: OpenBatch | undefined, work: () => T): T {
      const before = batch
      batch = next
      try {
        return work()
      } finally {
        batch = before
      }
    },
    /**
     * The moment of a read: everything written before is recorded by then and everything written
     * after it later, even within one millisecond.
     */
    snapshotAt() {
      lastSnapshotAt = Math.max(lastSnapshotAt, lastWrite, clock.now())
      return lastSnapshotAt
    },
    /**
     * The instant of the transaction under way, or of the next one: no other has it, and it rises from
     * one to the next.
     */
    next,
    listen: (listener: Listener) => void listeners.push(listener),
    /**
     * As `listen`, but inside the transaction: what the listener writes stands with the observations
     * or not at all. The catalogue's extents are still those from before the write, and a listener
     * that throws undoes it.
     */
    listenInside: (listener: Listener) => void inside.push(listener),
    /** As `listenInside`, for points that are withdrawn. */
    onRemovalInside: (listener: RemovalListener) => void removals.push(listener),
    /** Adds a listener for series of which points were withdrawn or got another source. */
    onWithdraw: (listener: (seriesId: number) => void) => void withdrawals.push(listener),
    /** Adds a listener for series of which only earlier values became known. */
    onPast: (listener: (seriesId: number) => void) => void pasts.push(listener),
  }
}

/** Only points that had a value before can be recorded later than the others of their write. */
function lastRecordedOf(changes: readonly Change[], recordedAt: number): number {
  let last = recordedAt
  for (const { revised, reborn } of changes) {
    for (const point of revised) last = Math.max(last, point.recordedAt)
    for (const point of reborn) last = Math.max(last, point.recordedAt)
  }
  return last
}

/** The time of the earliest observation of a change. */
export const firstChanged = ({ inserted, revised }: Change): number =>
  Math.min(
    inserted[0]?.observedAt ?? Number.POSITIVE_INFINITY,
    revised[0]?.observedAt ?? Number.POSITIVE_INFINITY,
  )
