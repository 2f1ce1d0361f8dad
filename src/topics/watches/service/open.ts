import type { Runtime } from '../../../config/runtime.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { LatestPrices } from '../../prices/service/reads/latest-prices.ts'
import type { Events } from '../../webhooks/service/events.ts'
import { createWatchEventStore } from '../store/events.ts'
import { createWatchStore } from '../store/watches.ts'
import { createWatchFeed } from './feed.ts'
import { createWatchRuns, type FoundReading, type WatchRunsDeps } from './runs.ts'
import { createWatches } from './watches.ts'

/** Watches and their runs. */
export type WatchServices = ReturnType<typeof openWatches>

export interface WatchServicesDeps extends Pick<Runtime, 'db' | 'ids' | 'log' | 'clock'> {
  keys: Keyring
  catalogue: Catalogue
  latestPrices: LatestPrices
  events: Pick<Events, 'emit'>
  retention: WatchRunsDeps['retention']
}

/** Puts watches together. */
export function openWatches(deps: WatchServicesDeps) {
  const { db, catalogue, latestPrices, clock } = deps
  const readingOf = (code: string, accountId?: string): FoundReading => {
    const series = catalogue.resolve(code, clock.now(), accountId)?.series
    const quote = series && latestPrices.quote(series)
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
  const store = createWatchStore(db)
  const events = createWatchEventStore(db)
  const feed = createWatchFeed(events, catalogue)
  return {
    watches: createWatches({ ...deps, store, readingOf: code => withoutTime(readingOf(code)) }),
    watchFeed: feed,
    watchRuns: createWatchRuns({
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
