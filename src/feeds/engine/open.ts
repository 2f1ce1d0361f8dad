import { hostname } from 'node:os'
import type { Runtime } from '../../config/runtime.ts'
import { chanceOf } from '../../lib/ids.ts'
import type { Egress } from '../../send/egress/egress.ts'
import { createPublisherFetch } from '../../send/feeds/fetch.ts'
import type { Attribution, Cadence, FedBy } from '../../topics/catalogue/math/catalogue.ts'
import type { DeliverySeries } from '../../topics/delivery/service/market-days.ts'
import type { Formulas } from '../../topics/formulas/service/formulas.ts'
import { createDatedRows } from '../../topics/prices/files/dated-rows.ts'
import type { ValueSource, ValueSourceStore } from '../../topics/prices/store/value-sources.ts'
import {
  createIsRecorded,
  createSourceFilter,
  createValueWithheld,
  createViewOnly,
  createWithheld,
  createWithheldRows,
  withheldMeans,
  withholdDerived,
} from '../../topics/prices/store/withheld.ts'
import { version } from '../../version.ts'
import type { Publisher } from '../publishers/publisher.ts'
import { shippedFeeds, viewFeeds } from '../publishers/publishers.ts'
import { storedKinds } from '../reading/periods.ts'
import { createFeedStore } from '../store/feeds.ts'
import { configuredFeeds } from './configured.ts'
import type { FeedBatches, FeedsDeps } from './deps.ts'
import { createFeeds, firstRunSlot } from './feeds.ts'
import { createFeedWriter, type FeedWriterDeps } from './writer.ts'

/** Public feeds that this instance reads on a schedule. */
export type FeedServices = ReturnType<typeof openFeeds>

export interface FeedServicesDeps
  extends Runtime,
    Pick<
      FeedWriterDeps,
      | 'catalogue'
      | 'observations'
      | 'ingest'
      | 'datasets'
      | 'rowGuards'
      | 'flaggedValues'
      | 'decisions'
    > {
  egress: Egress
  valueSources: ValueSourceStore
  batches: FeedBatches
  audit: FeedsDeps['audit']
  periods: FeedsDeps['periods']
  /** The series whose daily means a series has. */
  averagedOf(seriesId: number): DeliverySeries | undefined
  formulas: Pick<Formulas, 'restsOn'>
  /** Takes how a feed is named with its values. */
  nameSources(describeFeed: (source: ValueSource) => FedBy | undefined): void
  vault: {
    seal(context: string, text: string): Uint8Array
    open(context: string, sealed: Uint8Array): string
  }
}

export function openFeeds(deps: FeedServicesDeps) {
  const { config, ids, db, egress, vault } = deps
  const store = createFeedStore(db)
  const configured = configuredFeeds(config)
  const contact = configured.contact === '' ? '' : ` (${configured.contact})`
  deps.nameSources(({ name, periodKind }) => {
    const feed = shippedFeeds.find(feed => feed.publisher.name === name)
    return (
      feed && {
        publisher: attributionOf(feed.publisher),
        ...fedCadences[storedKinds[periodKind]!],
      }
    )
  })
  const isViewOnly = createViewOnly(db)
  const isValueWithheld = createValueWithheld(db, viewFeeds, isViewOnly)
  return {
    /** The withheld values: files leave them out. */
    withheld: withholdDerived(
      withheldMeans(
        createWithheld(db, viewFeeds, isViewOnly),
        deps.averagedOf,
        createIsRecorded(db),
      ),
      deps.formulas.restsOn,
      isViewOnly,
    ),
    isValueWithheld,
    withheldRows: createWithheldRows(db, viewFeeds),
    /**
     * Which values are of a source; undefined where none is. Every value that series ever had, of
     * one source or of all, but what is withheld.
     */
    datedRows: (ofSource?: string) =>
      createDatedRows(
        db,
        isValueWithheld,
        (source, isWithheld) =>
          !isWithheld &&
          (ofSource === undefined || source?.name.toLowerCase() === ofSource.toLowerCase()),
      ),
    sourceFilter: (name: string) => createSourceFilter(db, name),
    feeds: createFeeds({
      ...deps,
      feeds: () => shippedFeeds,
      configured,
      store,
      writer: createFeedWriter({ ...deps, store, sources: deps.valueSources }),
      fetch: createPublisherFetch(egress),
      userAgent: `Wellhead/${version}${contact}`,
      chance: () => chanceOf(ids),
      firstRunSlot: firstRunSlot(hostname(), config.data.dir),
      seal: (name, text) => vault.seal(`feed ${name}`, text),
      open: (name, sealed) => vault.open(`feed ${name}`, sealed),
    }),
  }
}

/**
 * How often values of each kind of period come out, and how many days after the date that they are
 * stored under: a month is stored under its first day and published after its last.
 */
const fedCadences: Readonly<
  Record<(typeof storedKinds)[number], { cadence: Cadence; releaseLagDays: number }>
> = {
  day: { cadence: 'daily', releaseLagDays: 3 },
  week: { cadence: 'weekly', releaseLagDays: 6 },
  month: { cadence: 'monthly', releaseLagDays: 45 },
  quarter: { cadence: 'monthly', releaseLagDays: 150 },
  year: { cadence: 'monthly', releaseLagDays: 500 },
}

const attributionOf = ({ publisher, attribution, licenseClass }: Publisher): Attribution => ({
  name: publisher,
  text: attribution,
  licenseClass,
})
