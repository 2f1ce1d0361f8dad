import type { FuturesStore } from '../store/futures.ts'

/**
 * The store of an evaluation copy, whose contracts are written when somebody asks for them: each
 * read sees first to its contract, and so does each write, which may be to something there is.
 */
export function suppliedFutures(
  store: FuturesStore,
  supply: (seriesId: number) => void,
): FuturesStore {
  return {
    ...store,
    days(seriesId, ...rest) {
      supply(seriesId)
      return store.days(seriesId, ...rest)
    },
    day(seriesId, ...rest) {
      supply(seriesId)
      return store.day(seriesId, ...rest)
    },
    countDays(seriesId, ...rest) {
      supply(seriesId)
      return store.countDays(seriesId, ...rest)
    },
    ticks(seriesId, ...rest) {
      supply(seriesId)
      return store.ticks(seriesId, ...rest)
    },
    tick(seriesId, ...rest) {
      supply(seriesId)
      return store.tick(seriesId, ...rest)
    },
    newestTickAt(seriesId) {
      supply(seriesId)
      return store.newestTickAt(seriesId)
    },
  }
}
