import type { Database } from 'bun:sqlite'
import { transact } from '../../../../database/database.ts'
import type { Clock } from '../../../../lib/time/clock.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Observation } from '../../math/bars.ts'
import { type AheadStore, createAheadStore } from '../../store/ahead.ts'
import type { Change, ObservationStore } from '../../store/observations.ts'
import type { LatestPrices } from '../reads/latest-prices.ts'
import type { Ingest } from './ingest.ts'

/** Prices that are recorded before their time, and become the latest when it comes. */
export type Arrivals = ReturnType<typeof createArrivals>

export interface ArrivalsDeps {
  db: Database
  clock: Pick<Clock, 'now'>
  catalogue: Pick<Catalogue, 'byId'>
  ingest: Pick<Ingest, 'listenInside'>
  latestPrices: Pick<LatestPrices, 'newest'>
  observations: Pick<ObservationStore, 'after'>
}

/**
 * The moment of the next value of each series is stored in the transaction that records it, so that
 * its listeners are notified once, also after a crash. Series of delivery periods, which are known
 * a day ahead, have separate events and evaluations.
 */
export function createArrivals(deps: ArrivalsDeps) {
  const { db, clock, catalogue } = deps
  const store = createAheadStore(db)
  const listeners: ((changes: readonly Change[]) => void)[] = []
  deps.ingest.listenInside(changes => {
    const now = clock.now()
    for (const { seriesId, inserted } of changes) {
      const dueAt = firstAfter(inserted, now)
      if (dueAt === undefined || catalogue.byId(seriesId).delivery) continue
      store.add({ seriesId, dueAt })
    }
  })
  const arrived = createArrivalReader(deps, store)

  return {
    /** Inside the transaction in which prices become the latest, as changes that insert them. */
    listen: (listener: (changes: readonly Change[]) => void) => void listeners.push(listener),
    pass() {
      if (store.due(clock.now()).length === 0) return
      transact(db, () => {
        const changes = arrived()
        if (changes.length > 0) for (const listener of listeners) listener(changes)
      })
    },
    nextStop: (after: number) => store.nextAfter(after) ?? Number.POSITIVE_INFINITY,
  }
}

/** Takes the prices whose time has come; of several of a series only the newest is the latest. */
const createArrivalReader =
  ({ clock, catalogue, latestPrices, observations }: ArrivalsDeps, store: AheadStore) =>
  (): Change[] => {
    const now = clock.now()
    return store.due(now).flatMap(({ seriesId, dueAt }): Change[] => {
      store.remove(seriesId)
      const [next] = observations.after(seriesId, now, 1)
      if (next) store.add({ seriesId, dueAt: next.observedAt })
      const series = catalogue.byId(seriesId)
      const newest = series && latestPrices.newest(series)
      // A newer price that was recorded in its own time had its listeners notified then.
      const hasCome =
        newest && (newest.observedAt === dueAt || newest.recordedAt < newest.observedAt)
      return hasCome
        ? [{ seriesId, inserted: [newest], revised: [], replaced: [], reborn: [] }]
        : []
    })
  }

/** The time of the first of ascending observations after a moment. */
function firstAfter(observations: readonly Observation[], at: number): number | undefined {
  let index = observations.length
  while (index > 0 && observations[index - 1]!.observedAt > at) index -= 1
  return observations[index]?.observedAt
}
