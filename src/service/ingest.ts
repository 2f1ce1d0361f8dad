import type { Clock } from '../lib/clock.ts'
import type { Change, ObservationStore, Point, WriteCounts } from '../store/observations.ts'
import type { Catalogue } from './catalogue.ts'

/** Hears of every committed change, in the order of the commits. */
export type Listener = (changes: readonly Change[]) => void

/** The one way in for observations. */
export interface Ingest {
  /** One transaction: all points or none, with revisions and bars. `recordedAt` is given by the caller or is now. */
  write(points: readonly Point[], recordedAt?: number): WriteCounts
  /** The moment of a read: whatever is written after it is recorded after it, even within the same millisecond. */
  mark(): number
  listen(listener: Listener): void
}

export function ingest(observations: ObservationStore, catalogue: Catalogue, clock: Clock): Ingest {
  const listeners: Listener[] = []
  let lastMark = Number.NEGATIVE_INFINITY
  return {
    write(points, recordedAt = Math.max(clock.now(), lastMark + 1)) {
      const { counts, changes } = observations.write(points, recordedAt)
      for (const change of changes) {
        const first = change.inserted[0]
        if (first) catalogue.extend(change.seriesId, first.observedAt, change.inserted.at(-1)!.observedAt)
      }
      if (changes.length > 0) for (const listener of listeners) listener(changes)
      return counts
    },
    mark() {
      lastMark = Math.max(lastMark, clock.now())
      return lastMark
    },
    listen: listener => void listeners.push(listener),
  }
}
