import type { Clock } from '../../lib/clock.ts'
import type { Change, ObservationStore, Point } from '../../store/prices/observations.ts'
import type { WriteCounts } from '../../store/write-counts.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'

/** Hears of every committed change, in the order of the commits. */
export type Listener = (changes: readonly Change[]) => void

/** The only way to record observations. */
export interface Ingest {
  /**
   * One transaction: all points or none, with revisions and bars. `recordedAt` is given by the
   * caller or is now.
   */
  write(points: readonly Point[], recordedAt?: number): WriteCounts
  /**
   * The moment of a read: what is written before it is recorded by then and what is written after
   * it later, even within one millisecond.
   */
  mark(): number
  listen(listener: Listener): void
  /**
   * As `listen`, but inside the transaction: what the listener writes stands with the observations
   * or not at all. The catalogue's extents are still those from before the write, and a listener
   * that throws undoes it.
   */
  listenInside(listener: Listener): void
}

/** `admit` throws while there is no room for prices. */
export function createIngest(
  observations: ObservationStore,
  catalogue: Catalogue,
  clock: Clock,
  admit: () => void = () => undefined,
): Ingest {
  const listeners: Listener[] = []
  const inside: Listener[] = []
  const notifyInside: Listener = changes => {
    for (const listener of inside) listener(changes)
  }
  let lastMark = Number.NEGATIVE_INFINITY
  let lastWrite = Number.NEGATIVE_INFINITY
  const moment = () => {
    lastWrite = Math.max(clock.now(), lastMark + 1)
    return lastWrite
  }
  return {
    write(points, recordedAt = moment()) {
      admit()
      const { counts, changes } = observations.write(points, recordedAt, notifyInside)
      for (const change of changes) {
        const first = change.inserted[0]
        if (first)
          catalogue.extend(change.seriesId, first.observedAt, change.inserted.at(-1)!.observedAt)
      }
      if (changes.length > 0) for (const listener of listeners) listener(changes)
      return counts
    },
    mark() {
      lastMark = Math.max(lastMark, lastWrite, clock.now())
      return lastMark
    },
    listen: listener => void listeners.push(listener),
    listenInside: listener => void inside.push(listener),
  }
}
