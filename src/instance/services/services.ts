import type { Runtime } from '../../config/runtime.ts'
import { datasets } from '../../feeds/datasets.ts'
import { type FeedServices, openFeeds } from '../../feeds/engine/open.ts'
import type { Dataset } from '../../feeds/files/dataset.ts'
import { createRowGuards, type RowGuards } from '../../feeds/files/row-guards.ts'
import { type OutboxServices, openOutbox } from '../../outbox/open.ts'
import {
  type AccountClosing,
  createAccountClosing,
  endingOf,
} from '../../topics/account/service/closing.ts'
import { type AccountServices, openAccounts } from '../../topics/account/service/open.ts'
import { createClosedAccountStore } from '../../topics/account/store/closed-accounts.ts'
import { type AlertServices, openAlerts } from '../../topics/alerts/service/open.ts'
import { type AnalyticsServices, openAnalytics } from '../../topics/analytics/service/open.ts'
import { type BillingServices, openBilling } from '../../topics/billing/service/open.ts'
import { createSubscriptionStore } from '../../topics/billing/store/subscriptions.ts'
import { shippedPorts } from '../../topics/catalogue/files/ports.ts'
import type { SeriesTerms } from '../../topics/catalogue/math/terms.ts'
import { type CatalogueServices, openCatalogue } from '../../topics/catalogue/service/open.ts'
import {
  createSeriesChanges,
  type SeriesChanges,
} from '../../topics/catalogue/service/series-changes.ts'
import { seriesNamed } from '../../topics/catalogue/service/series-faults.ts'
import { type Changes, openChanges } from '../../topics/changes/service/open.ts'
import { type ConditionServices, openCondition } from '../../topics/condition/service/open.ts'
import { type DeliveryServices, openDeliveries } from '../../topics/deliveries/service/open.ts'
import type { ResolutionFrom } from '../../topics/delivery/math/terms.ts'
import { isDelivery } from '../../topics/delivery/service/market-days.ts'
import { type DrillingServices, openDrilling } from '../../topics/drilling/service/open.ts'
import { createOwnFormulas, type OwnFormulas } from '../../topics/formulas/service/own.ts'
import { type FuelServices, openFuels } from '../../topics/fuels/service/open.ts'
import {
  type FundamentalServices,
  openFundamentals,
} from '../../topics/fundamentals/service/open.ts'
import { type FuturesServices, openFutures } from '../../topics/futures/service/open.ts'
import { type KeyServices, openKeys } from '../../topics/keys/service/open.ts'
import { type MessageServices, openMessages } from '../../topics/messages/service/open.ts'
import { type OperatorServices, openOperator } from '../../topics/operator/service/open.ts'
import { datasetLines } from '../../topics/operator/store/dataset-rows.ts'
import { type Bulk, createBulk } from '../../topics/prices/service/exports/bulk.ts'
import {
  createPriceFiles,
  type PriceFiles,
} from '../../topics/prices/service/exports/price-files.ts'
import { openPrices, type PriceServices } from '../../topics/prices/service/open.ts'
import { createSourceParser } from '../../topics/sources/files/parser.ts'
import { openSources, type SourceServices } from '../../topics/sources/service/open.ts'
import { openStreams, type StreamServices } from '../../topics/streams/service/open.ts'
import { openWatches, type WatchServices } from '../../topics/watches/service/open.ts'
import { openWebhooks, type WebhookServices } from '../../topics/webhooks/service/open.ts'

/** The stores and the state in memory over one database, topic by topic. */
export interface Services
  extends Runtime,
    OperatorServices,
    CatalogueServices,
    PriceServices,
    ConditionServices,
    FuturesServices,
    FundamentalServices,
    AnalyticsServices,
    FuelServices,
    DrillingServices,
    KeyServices,
    OutboxServices,
    MessageServices,
    WebhookServices,
    AccountServices,
    BillingServices,
    AlertServices,
    WatchServices,
    DeliveryServices,
    SourceServices,
    FeedServices,
    StreamServices {
  datasets: readonly Dataset<unknown>[]
  /** Checks rows of datasets before they are recorded. */
  rowGuards: RowGuards
  /** The addresses of accounts, and their end. */
  accountClosing: AccountClosing
  /** Prices by the million. */
  bulk: Bulk
  /** All of them, as files of a night. */
  priceFiles: PriceFiles
  /** The feed of changes. */
  changes: Changes
  /** The operator's custom series, and the attributes that override those of shipped series. */
  seriesChanges: SeriesChanges
  ownFormulas: OwnFormulas
}

/**
 * Opens each topic with what the topics before it provide. The order is also the order of
 * listeners: latest-price caches and query workers are notified of a change before alerts are.
 */
export function openServices(runtime: Runtime): Services {
  const operator = { ...runtime, ...openOperator(runtime) }
  const catalogue = { ...operator, ...openCatalogue(operator) }
  const prices = { ...catalogue, ...openPrices(catalogue) }
  const condition = { ...prices, ...openCondition(prices) }
  const keys = { ...condition, ...openKeys(condition) }
  const outbox = { ...keys, ...openOutbox(keys) }
  const messages = { ...outbox, ...openMessages(outbox) }
  const webhooks = { ...messages, ...openWebhooks(messages) }
  const markets = {
    ...webhooks,
    ...openFutures(webhooks),
    ...openFundamentals(webhooks),
    ...openAnalytics(webhooks),
    ...openFuels(webhooks),
    ...openDrilling(webhooks),
  }
  const { catalogue: codes } = markets
  const rows = {
    find: (code: string) => codes.named(code),
    nearest: (code: string, category?: string) => codes.suggest(code, category)[0]?.code,
  }
  const kinds = datasets({
    ...markets,
    exchangeWords: runtime.config.brand.exchangeWords,
    catalogue: rows,
  })
  const rowGuards = createRowGuards({
    lines: datasetLines(runtime.db),
    flags: markets.flaggedValues,
    settings: markets.settings,
    codeOf: id => codes.byId(id).code,
    now: runtime.clock.now,
  })
  const periods = {
    termsOf: (code: string) => codes.named(code)?.delivery,
    shorten(code: string, from: ResolutionFrom) {
      const series = codes.named(code)!
      const terms = [...series.delivery!.resolutions, from].toSorted((a, b) =>
        a.from < b.from ? -1 : 1,
      )
      seriesChanges.put(series, { ...series.terms, resolutions: terms })
    },
  }
  const feeds = openFeeds({
    ...markets,
    datasets: kinds,
    rowGuards,
    catalogue: rows,
    periods,
    averagedOf(id) {
      const { averageOf } = codes.byId(id)
      const leg = averageOf === undefined ? undefined : codes.find(averageOf)
      return leg && isDelivery(leg) ? leg : undefined
    },
  })
  const subscriptions = createSubscriptionStore(runtime.db)
  const isSubscribed = (accountId: string) => {
    const running = subscriptions.running(accountId)
    return running !== undefined && !running.cancelAtPeriodEnd
  }
  const accounts = openAccounts({ ...markets, isSubscribed })
  const alerts = openAlerts(markets)
  const watches = openWatches(markets)
  const billing = openBilling({
    ...markets,
    changes: webhooks.keyChanges,
    purchases: webhooks.creditStore,
  })
  const deliveries = openDeliveries(markets)
  const sources = openSources({ ...markets, reader: createSourceParser(shippedPorts()) })
  const changes = openChanges({ ...markets, ...feeds })
  const findWith =
    (terms: SeriesTerms, added: Parameters<typeof seriesNamed>[0]) => (name: string) =>
      codes.named(name, terms.owner) ?? seriesNamed(added, name)
  const seriesChanges = createSeriesChanges({
    ...markets,
    now: runtime.clock.now,
    formulaFault: (code, terms, added) =>
      markets.formulas.faultOf(code, terms, findWith(terms, added)),
    noteAudiences: changes.noteAudiences,
  })
  const ownFormulas = createOwnFormulas({ ...markets, ...accounts, seriesChanges })
  return {
    ...markets,
    datasets: kinds,
    rowGuards,
    bulk: createBulk({ ...markets, ...feeds }),
    priceFiles: createPriceFiles(
      runtime.config.files.directory,
      runtime.masterKey,
      runtime.clock.now,
    ),
    changes,
    seriesChanges,
    ownFormulas,
    ...alerts,
    ...watches,
    ...accounts,
    accountClosing: createAccountClosing({
      ...markets,
      ...accounts,
      closedAccounts: createClosedAccountStore(runtime.db),
      isSubscribed,
      endings: [
        endingOf(alerts.alerts),
        endingOf(watches.watches),
        endingOf(deliveries.deliveries),
        endingOf(sources.dataSources),
        endingOf(ownFormulas),
        endingOf(markets.webhooks),
      ],
    }),
    ...billing,
    ...deliveries,
    ...sources,
    ...feeds,
    ...openStreams(markets),
  }
}
