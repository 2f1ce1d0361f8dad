import { shippedPorts } from './feed/catalogue/ports.ts'
import { datasets } from './feed/datasets.ts'
import { type FeedServices, openFeeds } from './feed/engine/open.ts'
import type { Dataset } from './feed/files/dataset.ts'
import { createRowGuards, type RowGuards } from './feed/files/row-guards.ts'
import { createSourceReader } from './feed/sources/reader.ts'
import type { Runtime } from './runtime.ts'
import { type AccountClosing, createAccountClosing, endingOf } from './service/account/closing.ts'
import { type AccountServices, openAccounts } from './service/account/open.ts'
import { type AlertServices, openAlerts } from './service/alerts/open.ts'
import { type AnalyticsServices, openAnalytics } from './service/analytics/open.ts'
import { type BillingServices, openBilling } from './service/billing/open.ts'
import { type CatalogueServices, openCatalogue } from './service/catalogue/open.ts'
import { createSeriesChanges, type SeriesChanges } from './service/catalogue/series-changes.ts'
import { type ConditionServices, openCondition } from './service/condition/open.ts'
import { type DeliveryServices, openDeliveries } from './service/deliveries/open.ts'
import { type DrillingServices, openDrilling } from './service/drilling/open.ts'
import { type FuelServices, openFuels } from './service/fuels/open.ts'
import { type FundamentalServices, openFundamentals } from './service/fundamentals/open.ts'
import { type FuturesServices, openFutures } from './service/futures/open.ts'
import { type KeyServices, openKeys } from './service/keys/open.ts'
import { type MessageServices, openMessages } from './service/messages/open.ts'
import { type OperatorServices, openOperator } from './service/operator/open.ts'
import { type OutboxServices, openOutbox } from './service/outbox/open.ts'
import { type Bulk, createBulk } from './service/prices/bulk.ts'
import { openPrices, type PriceServices } from './service/prices/open.ts'
import { createPriceFiles, type PriceFiles } from './service/prices/price-files.ts'
import { openSources, type SourceServices } from './service/sources/open.ts'
import { openStreams, type StreamServices } from './service/streams/open.ts'
import { openWatches, type WatchServices } from './service/watches/open.ts'
import { openWebhooks, type WebhookServices } from './service/webhooks/open.ts'
import { createClosedAccountStore } from './store/account/closed-accounts.ts'
import { createSubscriptionStore } from './store/billing/subscriptions.ts'
import { datasetLines } from './store/operator/dataset-rows.ts'

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
  /** Doubts rows of datasets before they are recorded. */
  rowGuards: RowGuards
  /** The addresses of accounts, and their end. */
  accountClosing: AccountClosing
  /** Prices by the million. */
  bulk: Bulk
  /** All of them, as files of a night. */
  priceFiles: PriceFiles
  /** The operator's own series, and their terms for shipped ones. */
  seriesChanges: SeriesChanges
}

/**
 * Opens every topic over what the topics before it offer. The order is that of the listeners, too:
 * the readers of prices hear of a change before alerts do.
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
    doubts: markets.doubtedValues,
    settings: markets.settings,
    now: runtime.clock.now,
  })
  const feeds = openFeeds({ ...markets, datasets: kinds, rowGuards, catalogue: rows })
  const accounts = openAccounts(markets)
  const subscriptions = createSubscriptionStore(runtime.db)
  const alerts = openAlerts(markets)
  const watches = openWatches(markets)
  const billing = openBilling({
    ...markets,
    changes: webhooks.keyChanges,
    purchases: webhooks.creditStore,
  })
  const deliveries = openDeliveries(markets)
  const sources = openSources({ ...markets, reader: createSourceReader(shippedPorts()) })
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
    seriesChanges: createSeriesChanges({ ...markets, now: runtime.clock.now }),
    ...alerts,
    ...watches,
    ...accounts,
    accountClosing: createAccountClosing({
      ...markets,
      ...accounts,
      closedAccounts: createClosedAccountStore(runtime.db),
      isSubscribed(accountId) {
        const running = subscriptions.running(accountId)
        return running !== undefined && !running.cancelAtPeriodEnd
      },
      endings: [
        endingOf(alerts.alerts),
        endingOf(watches.watches),
        endingOf(deliveries.deliveries),
        endingOf(sources.dataSources),
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
