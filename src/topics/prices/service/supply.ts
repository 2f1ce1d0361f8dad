import type { CloseStore } from '../store/closes.ts'
import type { ObservationStore } from '../store/observations.ts'

/**
 * Sees to it that all observations of a series made at `from` or later are there; false where they
 * were.
 */
export interface Supply {
  (seriesId: number, from: number): boolean
  /** Sees to it that a series is quoted: its newest price, those that changes are against, its first. */
  quote(seriesId: number): void
  /** Whether the newest observation made before `before` is there, whatever else is missing. */
  hasNewest(seriesId: number, before: number): boolean
  /**
   * Whether the world has still to write what came before the newest observation: it will be there
   * whole, by its calendar, and nothing in it is wrong.
   */
  isUnwritten(seriesId: number): boolean
}

const always = Number.MIN_SAFE_INTEGER

/**
 * A store of an evaluation copy, whose observations are written when somebody asks for them: each
 * read and each write sees first to what it is about.
 */
export function suppliedObservations(store: ObservationStore, supply: Supply): ObservationStore {
  return {
    ...store,
    between(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.between(seriesId, from, ...rest)
    },
    oldestFirst(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.oldestFirst(seriesId, from, ...rest)
    },
    newest(seriesId, before) {
      supply.quote(seriesId)
      const newest = store.newest(seriesId, before)
      if (supply.hasNewest(seriesId, before)) return newest
      // The one before a stretch that is there may be missing still.
      const hasWritten = supply(seriesId, newest?.observedAt ?? always)
      return hasWritten ? store.newest(seriesId, before) : newest
    },
    count(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.count(seriesId, from, ...rest)
    },
    asOf(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.asOf(seriesId, from, ...rest)
    },
    firstRecorded(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.firstRecorded(seriesId, from, ...rest)
    },
    newestAsOf(seriesId, ...rest) {
      supply(seriesId, always)
      return store.newestAsOf(seriesId, ...rest)
    },
    firstRecordedAt(seriesId) {
      supply(seriesId, always)
      return store.firstRecordedAt(seriesId)
    },
    pointTimes(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.pointTimes(seriesId, from, ...rest)
    },
    vintages(seriesId, observedAt) {
      supply(seriesId, observedAt)
      return store.vintages(seriesId, observedAt)
    },
    recordings(seriesId, ...rest) {
      supply(seriesId, always)
      return store.recordings(seriesId, ...rest)
    },
    after(seriesId, after, limit) {
      supply(seriesId, after)
      return store.after(seriesId, after, limit)
    },
    copy(seriesId, from, ...rest) {
      supply(seriesId, from)
      return store.copy(seriesId, from, ...rest)
    },
    bars(seriesId, span, from, ...rest) {
      supply(seriesId, from)
      return store.bars(seriesId, span, from, ...rest)
    },
    days(seriesId, ...rest) {
      supply(seriesId, always)
      return store.days(seriesId, ...rest)
    },
    write(points, ...rest) {
      for (const [seriesId, own] of Map.groupBy(points, point => point.seriesId))
        supply(seriesId, Math.min(...own.map(point => point.observedAt)))
      return store.write(points, ...rest)
    },
    withdraw(seriesId, ...rest) {
      supply(seriesId, always)
      return store.withdraw(seriesId, ...rest)
    },
  }
}

/** As `suppliedObservations`, of daily closes. */
export const suppliedCloses = (store: CloseStore, supply: Supply): CloseStore => ({
  ...store,
  all(seriesId) {
    supply(seriesId, always)
    return store.all(seriesId)
  },
  dated(seriesId) {
    supply(seriesId, always)
    return store.dated(seriesId)
  },
})
