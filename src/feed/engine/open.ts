import { chanceOf } from '../../lib/ids.ts'
import type { Attribution } from '../../market/catalogue/catalogue.ts'
import type { Runtime } from '../../runtime.ts'
import type { Egress } from '../../send/egress/egress.ts'
import { createPublisherFetch } from '../../send/feeds/fetch.ts'
import { createFeedStore } from '../../store/feeds/feeds.ts'
import { version } from '../../version.ts'
import type { Publisher } from '../publishers/publisher.ts'
import { shippedFeeds } from '../publishers/publishers.ts'
import { configuredFeeds } from './configured.ts'
import { createFeeds, type Feeds } from './feeds.ts'
import { createFeedWriter, type FeedWriterDeps } from './writer.ts'

/** Public sources that this copy reads by itself. */
export interface FeedServices {
  feeds: Feeds
}

export interface FeedServicesDeps
  extends Runtime,
    Pick<FeedWriterDeps, 'catalogue' | 'observations' | 'ingest' | 'datasets' | 'reload'> {
  egress: Egress
  /** Says of a series whose values it has. */
  nameSource(seriesId: number, publisher: Attribution | undefined): void
  vault: {
    seal(context: string, text: string): Uint8Array
    open(context: string, sealed: Uint8Array): string
  }
}

export function openFeeds(deps: FeedServicesDeps): FeedServices {
  const { config, clock, ids, db, egress, vault } = deps
  const store = createFeedStore(db)
  const configured = configuredFeeds(config)
  const contact = configured.contact === '' ? '' : ` (${configured.contact})`
  const attribute = (seriesId: number, name: string | undefined) => {
    const feed = shippedFeeds.find(one => one.publisher.name === name)
    deps.nameSource(seriesId, feed && attributionOf(feed.publisher))
  }
  return {
    feeds: createFeeds({
      ...deps,
      feeds: () => shippedFeeds,
      configured,
      store,
      writer: createFeedWriter({ ...deps, store, now: clock.now, attribute }),
      fetch: createPublisherFetch(egress),
      userAgent: `Wellhead/${version}${contact}`,
      chance: () => chanceOf(ids),
      seal: (name, text) => vault.seal(`feed ${name}`, text),
      open: (name, sealed) => vault.open(`feed ${name}`, sealed),
    }),
  }
}

const attributionOf = ({ publisher, attribution, licenseClass }: Publisher): Attribution => ({
  name: publisher,
  text: attribution,
  licenseClass,
})
