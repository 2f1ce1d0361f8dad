import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import { shippedPorts } from './feed/catalogue/ports.ts'
import { createSourceReader } from './feed/sources/reader.ts'
import type { Clock } from './lib/clock.ts'
import { chanceOf, type Ids } from './lib/ids.ts'
import { secondMs } from './lib/instant.ts'
import type { Log } from './lib/log.ts'
import { parseToml } from './lib/toml.ts'
import { defaultLimits, type Limits } from './plan/limits.ts'
import { plansFrom } from './plan/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from './plan/plans.ts'
import { createEgress, type Egress } from './send/egress/egress.ts'
import { createSourceFetch } from './send/sources/fetch.ts'
import { createWebhookSender } from './send/webhooks/webhook.ts'
import { createOrganizations, type Organizations } from './service/account/organizations.ts'
import { createPasswordHashes } from './service/account/password-hashes.ts'
import { createSessions, type Sessions } from './service/account/sessions.ts'
import { createSignIn, type SignIn } from './service/account/sign-in.ts'
import { type Alerting, alerting } from './service/alerts/alerting.ts'
import { type Billing, createBilling } from './service/billing/billing.ts'
import { type BillingPages, createBillingPages } from './service/billing/pages.ts'
import { type Catalogue, createCatalogue } from './service/catalogue/catalogue.ts'
import { createQuality, type Quality } from './service/condition/quality.ts'
import { createDeliveries, type Deliveries } from './service/deliveries/deliveries.ts'
import { createDrilling, type Drilling } from './service/drilling/drilling.ts'
import { createPermits, type Permits } from './service/drilling/permits.ts'
import { createWellProduction, type WellProduction } from './service/drilling/well-production.ts'
import { createSurchargeMatching, type SurchargeMatching } from './service/fuels/surcharges.ts'
import { createInventories, type Inventories } from './service/fundamentals/inventories.ts'
import {
  createPublishedFigures,
  type PublishedFigures,
} from './service/fundamentals/published-figures.ts'
import { createStorageLevels, type StorageLevels } from './service/fundamentals/storage.ts'
import { contractBook } from './service/futures/contracts.ts'
import { createFutures, type Futures } from './service/futures/futures.ts'
import { type Credits, createCredits } from './service/keys/credits.ts'
import { createKeyChanges } from './service/keys/key-changes.ts'
import { createKeyring, type Keyring } from './service/keys/keyring.ts'
import { createMeter, type Meter } from './service/keys/meter.ts'
import { createVault, type Vault } from './service/keys/vault.ts'
import { type Messages, messages } from './service/messages/messages.ts'
import { type AdminTokens, createAdminTokens } from './service/operator/admin-tokens.ts'
import { createOutbox, type Outbox } from './service/outbox/outbox.ts'
import { type Board, createBoard } from './service/prices/board.ts'
import { type Closes, createCloses } from './service/prices/closes.ts'
import { createFx } from './service/prices/fx.ts'
import { createHistory, type History } from './service/prices/history.ts'
import { createIngest, type Ingest } from './service/prices/ingest.ts'
import { createQuarantineList, type QuarantineList } from './service/prices/quarantine.ts'
import { createSourceFiles } from './service/sources/file.ts'
import { createDataSources, type DataSources } from './service/sources/sources.ts'
import { createSourceSync, type SourceSync } from './service/sources/sync.ts'
import { type Cable, createCable } from './service/streams/cable.ts'
import { createCablePrices } from './service/streams/cable-prices.ts'
import { createStreams, type Streams } from './service/streams/streams.ts'
import { type Watching, watching } from './service/watches/watching.ts'
import { type EventDelivery, eventDelivery } from './service/webhooks/event-delivery.ts'
import { createOrganizationStore, type OrganizationStore } from './store/account/organizations.ts'
import { createPasswordStore } from './store/account/passwords.ts'
import { createSessionStore } from './store/account/sessions.ts'
import { createSignInLinkStore } from './store/account/sign-in-links.ts'
import { type AnnotationStore, createAnnotationStore } from './store/analytics/annotations.ts'
import {
  type CongressionalTradeStore,
  createCongressionalTradeStore,
} from './store/analytics/congressional-trades.ts'
import { createPositionStore, type PositionStore } from './store/analytics/positions.ts'
import { createSeriesStore, type SeriesStore } from './store/catalogue/series.ts'
import { createQualityStore } from './store/condition/quality.ts'
import { createFracChemicalStore, type FracChemicalStore } from './store/drilling/frac-chemicals.ts'
import {
  createFracDisclosureStore,
  type FracDisclosureStore,
} from './store/drilling/frac-disclosures.ts'
import { createWellStore, type WellStore } from './store/drilling/wells.ts'
import { createStationStore, type StationStore } from './store/fuels/stations.ts'
import { createSurchargeStore, type SurchargeStore } from './store/fuels/surcharges.ts'
import { createInventoryStore } from './store/fundamentals/inventories.ts'
import {
  createMonthlyForecastStore,
  type MonthlyForecastStore,
} from './store/fundamentals/monthly-forecasts.ts'
import { createOpecStore, type OpecStore } from './store/fundamentals/opec.ts'
import { createOutlookStore, type OutlookStore } from './store/fundamentals/outlooks.ts'
import {
  createStorageCapacityStore,
  type StorageCapacityStore,
} from './store/fundamentals/storage-capacities.ts'
import { createFuturesStore } from './store/futures/futures.ts'
import { createAccountStore } from './store/keys/accounts.ts'
import { createApiKeyStore } from './store/keys/api-keys.ts'
import { createCreditStore } from './store/keys/credits.ts'
import { createUsageStore } from './store/keys/usage.ts'
import { createAdminTokenStore } from './store/operator/admin-tokens.ts'
import { type Settings, settingsStore } from './store/operator/settings.ts'
import { createOutboxStore } from './store/outbox/outbox.ts'
import { createCloseStore } from './store/prices/closes.ts'
import { createObservationStore, type ObservationStore } from './store/prices/observations.ts'
import { createQuarantineStore } from './store/prices/quarantine.ts'
import { createDataSourceStore } from './store/sources/sources.ts'

/** What everything stands on: arguments, never globals. */
export interface Runtime {
  db: Database
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  /** What the vault seals with. */
  masterKey: string
}

/** The runtime of an instance before its directory is opened. */
export type ProcessRuntime = Omit<Runtime, 'db' | 'masterKey'>

/** The stores and the state in memory over one database. */
export interface Services extends Runtime, Messages, EventDelivery, Alerting, Watching {
  settings: Settings
  series: SeriesStore
  observations: ObservationStore
  catalogue: Catalogue
  quarantine: QuarantineList
  ingest: Ingest
  board: Board
  history: History
  futures: Futures
  closes: Closes
  storage: StorageLevels
  storageCapacities: StorageCapacityStore
  surcharges: SurchargeStore
  surchargeMatching: SurchargeMatching
  cot: PositionStore
  stations: StationStore
  dataSources: DataSources
  sourceSync: SourceSync
  drilling: Drilling
  annotations: AnnotationStore
  inventories: Inventories
  opec: OpecStore
  outlooks: OutlookStore
  monthlyForecasts: MonthlyForecastStore
  actuals: PublishedFigures
  quality: Quality
  congressionalTrades: CongressionalTradeStore
  permits: Permits
  fracDisclosures: FracDisclosureStore
  fracChemicals: FracChemicalStore
  wells: WellStore
  wellProduction: WellProduction
  plans: Plans
  limits: Limits
  keys: Keyring
  meter: Meter
  /** Bought requests. */
  credits: Credits
  billing: Billing
  billingPages: BillingPages
  adminTokens: AdminTokens
  sessions: Sessions
  signIn: SignIn
  organizationStore: OrganizationStore
  organizations: Organizations
  deliveries: Deliveries
  vault: Vault
  outbox: Outbox
  egress: Egress
  streams: Streams
  cable: Cable
}

export function openServices(runtime: Runtime): Services {
  const { db, config, clock, ids } = runtime
  const series = createSeriesStore(db)
  const observations = createObservationStore(db)
  const known = createCatalogue(series, contractBook)
  // The list must tell the readers of a change, and the readers need the list: they are tied by
  // this function.
  const changed = (seriesId: number) => {
    prices.forget(seriesId)
    past.forget(seriesId)
    daily.forget(seriesId)
    judged.forget(seriesId)
  }
  const quarantine = createQuarantineList(createQuarantineStore(db), changed)
  const prices = createBoard(observations, quarantine, clock)
  const past = createHistory(observations, quarantine)
  const daily = createCloses(createCloseStore(db), quarantine)
  const judged = createQuality({
    store: createQualityStore(db),
    catalogue: known,
    board: prices,
    quarantine,
    clock,
  })
  const capacities = createStorageCapacityStore(db)
  const opec = createOpecStore(db)
  const surcharges = createSurchargeStore(db)
  const writes = createIngest(observations, known, clock)
  writes.listen(changes => {
    for (const change of changes) changed(change.seriesId)
  })
  const limits = limitsOf(config)
  const plans = plansOf(config, limits)
  const memberships = createOrganizationStore(db)
  const knownWells = createWellStore(db)
  const keys = createKeyring(
    { accounts: createAccountStore(db), keys: createApiKeyStore(db), memberships },
    plans,
    clock,
    ids,
  )
  const waysOut = createOutbox(createOutboxStore(db), {
    db,
    clock,
    ids,
    log: runtime.log,
    chance: () => chanceOf(ids),
  })
  const safe = createVault(runtime.masterKey)
  const said = messages({ ...runtime, outbox: waysOut, keys, vault: safe })
  const purchases = createCreditStore(db)
  const bought = createCredits(purchases, clock)
  const counted = createMeter(createUsageStore(db), keys, clock, config.quota.scope, bought)
  const told = eventDelivery({
    db,
    clock,
    ids,
    limits,
    keys,
    vault: safe,
    catalogue: known,
    observations,
    quarantine,
    ingest: writes,
    meter: counted,
    outbox: waysOut,
    mail: said.mail,
    notices: said.notices,
  })
  const reachable = createEgress(config.egress.allow)
  const { headerPrefix, webhookUserAgent: userAgent } = config.brand
  const { data_sources: sourcing } = config
  const ownSources = createDataSources({
    db,
    store: createDataSourceStore(db),
    vault: safe,
    clock,
    ids,
    perAccount: sourcing.perAccount,
  })
  waysOut.register(
    'webhook',
    createWebhookSender({ egress: reachable, clock, headerPrefix, userAgent }),
    told.webhookLanes,
  )
  const alerted = alerting({
    ...runtime,
    ...said,
    events: told.events,
    keys,
    catalogue: known,
    board: prices,
    closes: daily,
    observations,
    quarantine,
    ingest: writes,
    serviceName: config.brand.serviceName,
    intervalMs: config.alerts.intervalMs,
  })
  const open = createStreams({ log: runtime.log, perKey: config.streams.perKey })
  const signedIn = createSessions({
    db,
    keys,
    store: createSessionStore(db),
    masterKey: runtime.masterKey,
    clock,
    ids,
    lifetimes: { tokenMs: config.sessions.lifetimeMs, signInMs: config.sessions.signInMaxMs },
  })
  return {
    ...runtime,
    ...said,
    ...told,
    ...alerted,
    ...watching({ ...runtime, keys, catalogue: known, board: prices, events: told.events }),
    sessions: signedIn,
    signIn: createSignIn({
      db,
      keys,
      sessions: signedIn,
      links: createSignInLinkStore(db),
      passwords: createPasswordStore(db),
      hashes: createPasswordHashes(),
      mail: said.mail,
      clock,
      ids,
      log: runtime.log,
      serviceName: config.brand.serviceName,
      linkLifetimeMs: config.sessions.linkLifetimeMs,
    }),
    organizationStore: memberships,
    organizations: createOrganizations({
      db,
      keys,
      store: memberships,
      mail: said.mail,
      clock,
      ids,
      serviceName: config.brand.serviceName,
    }),
    settings: settingsStore(db),
    series,
    observations,
    catalogue: known,
    quarantine,
    ingest: writes,
    board: prices,
    history: past,
    futures: createFutures({
      store: createFuturesStore(db),
      catalogue: known,
      quarantine,
      ingest: writes,
      clock,
      maxAgeHours: limits.futuresMaxAgeHours,
      liveStaleMinutes: config.futures.liveStaleMinutes,
    }),
    closes: daily,
    storage: createStorageLevels({ board: prices, closes: daily, capacities }),
    storageCapacities: capacities,
    surcharges,
    surchargeMatching: createSurchargeMatching({ surcharges, catalogue: known, closes: daily }),
    cot: createPositionStore(db),
    stations: createStationStore(db),
    dataSources: ownSources,
    sourceSync: createSourceSync({
      sources: ownSources,
      keys,
      clock,
      log: runtime.log,
      timeoutMs: sourcing.timeoutMs,
      reader: createSourceReader(shippedPorts()),
      files: createSourceFiles(sourcing.directory),
      fetch: createSourceFetch({ egress: reachable, clock, userAgent }),
    }),
    drilling: createDrilling({ db, catalogue: known, ingest: writes, events: told.events }),
    annotations: createAnnotationStore(db),
    inventories: createInventories({
      store: createInventoryStore(db),
      catalogue: known,
      ingest: writes,
    }),
    opec,
    outlooks: createOutlookStore(db),
    monthlyForecasts: createMonthlyForecastStore(db),
    actuals: createPublishedFigures({ closes: daily, opec, now: clock.now }),
    quality: judged,
    congressionalTrades: createCongressionalTradeStore(db),
    permits: createPermits({ db, events: told.events }),
    fracDisclosures: createFracDisclosureStore(db),
    fracChemicals: createFracChemicalStore(db),
    wells: knownWells,
    wellProduction: createWellProduction({ db, wells: knownWells }),
    plans,
    limits,
    keys,
    meter: counted,
    credits: bought,
    billing: createBilling({
      ...runtime,
      ...said,
      events: told.events,
      plans,
      keys,
      purchases,
      credits: bought,
      changes: createKeyChanges({ ...runtime, keys, limits }),
    }),
    billingPages: createBillingPages(runtime),
    adminTokens: createAdminTokens(createAdminTokenStore(db), clock, ids),
    deliveries: createDeliveries({
      db,
      clock,
      ids,
      keys,
      limits,
      catalogue: known,
      board: prices,
      observations,
      quarantine,
      outbox: waysOut,
      mail: said.mail,
      enabled: config.deliveries.enabled,
      serviceName: config.brand.serviceName,
    }),
    vault: safe,
    outbox: waysOut,
    egress: reachable,
    streams: open,
    cable: createCable({
      streams: open,
      prices: createCablePrices(known, prices, createFx(known, prices), clock.now),
      catalogue: known,
      keys,
      ingest: writes,
      clock,
      channels: config.brand.streamChannels,
    }),
  }
}

function limitsOf(config: Config): Limits {
  return {
    ...defaultLimits,
    perMinute: config.limits.perMinute,
    unauthenticated: config.limits.unauthenticatedPerMinute,
    overQuota: config.limits.overQuotaPerMinute,
    marine: config.limits.marinePerMinute,
    marineHistorical: config.limits.marineHistoricalPerMinute,
    demoPerHour: config.demo.limitPerHour,
    keysMax: config.limits.keysMax,
    enterprisePerMonth: config.limits.enterprisePerMonth,
    dispatchIntervalSeconds: config.deliveries.dispatchIntervalMs / secondMs,
  }
}

/** `spec`, `unlimited`, or a file with changes to the specification's table. */
function plansOf(config: Config, limits: Limits): Plans {
  if (config.plans === 'spec') return specPlans(limits)
  if (config.plans === 'unlimited') return unlimitedPlans(limits)
  return plansFrom(parsePlans(config.plans), limits)
}

function parsePlans(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  if (path.endsWith('.json')) return JSON.parse(text)
  const parsed = parseToml(text)
  if ('fault' in parsed) throw new Error(`${path}:${parsed.line}:${parsed.column}: ${parsed.fault}`)
  return parsed.table
}
