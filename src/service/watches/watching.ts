import type { Database } from 'bun:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { roundTo } from '../../market/prices/format.ts'
import { watchEventStore } from '../../store/watches/events.ts'
import { watchStore } from '../../store/watches/watches.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Board } from '../prices/board.ts'
import type { Events } from '../webhooks/events.ts'
import { type WatchFeed, watchFeed } from './feed.ts'
import { type FoundReading, type WatchRuns, watchRuns } from './runs.ts'
import { type Watches, watches } from './watches.ts'

/** Watches, what they say and how they are run. */
export interface Watching {
  watches: Watches
  watchFeed: WatchFeed
  watchRuns: WatchRuns
}

export interface WatchingDeps {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  keys: Keyring
  catalogue: Catalogue
  board: Board
  events: Pick<Events, 'emit'>
}

/** Puts watches together. */
export function watching(deps: WatchingDeps): Watching {
  const { db, catalogue, board, clock } = deps
  const readingOf = (code: string): FoundReading => {
    const series = catalogue.resolve(code, clock.now())?.series
    const quote = series && board.quote(series)
    if (!quote) return { price: null, seriesId: series?.id ?? 0, stale: true, asOf: null }
    const { observation, status } = quote
    const price = roundTo(observation.value, quote.series.decimals)
    return {
      price,
      seriesId: quote.series.id,
      stale: status === 'stale',
      asOf: observation.observedAt,
    }
  }
  const store = watchStore(db)
  const events = watchEventStore(db)
  const feed = watchFeed(events, catalogue)
  return {
    watches: watches({ ...deps, store, readingOf: code => withoutTime(readingOf(code)) }),
    watchFeed: feed,
    watchRuns: watchRuns({
      ...deps,
      watches: store,
      events,
      feed,
      webhooks: deps.events,
      readingOf,
    }),
  }
}

const withoutTime = ({ asOf: _, ...reading }: FoundReading) => reading
