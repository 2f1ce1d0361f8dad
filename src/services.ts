import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import { shippedPorts } from './feed/catalogue/ports.ts'
import { sourceReader } from './feed/sources/reader.ts'
import type { Clock } from './lib/clock.ts'
import { chanceOf, type Ids } from './lib/ids.ts'
import { secondMs } from './lib/instant.ts'
import type { Log } from './lib/log.ts'
import { parseToml } from './lib/toml.ts'
import { defaultLimits, type Limits } from './plan/limits.ts'
import { plansFrom } from './plan/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from './plan/plans.ts'
import { type Egress, egress } from './send/egress/egress.ts'
import { sourceFetch } from './send/sources/fetch.ts'
import { webhookSender } from './send/webhooks/webhook.ts'
import { type Organizations, organizations } from './service/account/organizations.ts'
import { passwordHashes } from './service/account/password-hashes.ts'
import { type Sessions, sessions } from './service/account/sessions.ts'
import { type SignIn, signIn } from './service/account/sign-in.ts'
import { type Alerting, alerting } from './service/alerts/alerting.ts'
import { type Billing, billing } from './service/billing/billing.ts'
import { type BillingPages, billingPages } from './service/billing/pages.ts'
import { type Catalogue, catalogue } from './service/catalogue/catalogue.ts'
import { type Quality, quality } from './service/condition/quality.ts'
import { type Deliveries, deliveries } from './service/deliveries/deliveries.ts'
import { type Drilling, drilling } from './service/drilling/drilling.ts'
import { type Permits, permits } from './service/drilling/permits.ts'
import { type WellProduction, wellProduction } from './service/drilling/well-production.ts'
import { type SurchargeMatching, surchargeMatching } from './service/fuels/surcharges.ts'
import { type Inventories, inventories } from './service/fundamentals/inventories.ts'
import { type Actuals, actuals } from './service/fundamentals/published-figures.ts'
import { type StorageLevels, storageLevels } from './service/fundamentals/storage.ts'
import { contractBook } from './service/futures/contracts.ts'
import { type Futures, futures } from './service/futures/futures.ts'
import { type Credits, credits } from './service/keys/credits.ts'
import { keyChanges } from './service/keys/key-changes.ts'
import { type Keyring, keyring } from './service/keys/keyring.ts'
import { type Meter, meter } from './service/keys/meter.ts'
import { type Vault, vault } from './service/keys/vault.ts'
import { type Messages, messages } from './service/messages/messages.ts'
import { type AdminTokens, adminTokens } from './service/operator/admin-tokens.ts'
import { type Outbox, outbox } from './service/outbox/outbox.ts'
import { type Board, board } from './service/prices/board.ts'
import { type Closes, closes } from './service/prices/closes.ts'
import { fx } from './service/prices/fx.ts'
import { type History, history } from './service/prices/history.ts'
import { type Ingest, ingest } from './service/prices/ingest.ts'
import { type QuarantineList, quarantineList } from './service/prices/quarantine.ts'
import { sourceFiles } from './service/sources/file.ts'
import { type DataSources, dataSources } from './service/sources/sources.ts'
import { type SourceSync, sourceSync } from './service/sources/sync.ts'
import { type Cable, cable } from './service/streams/cable.ts'
import { cablePrices } from './service/streams/cable-prices.ts'
import { type Streams, streams } from './service/streams/streams.ts'
import { type Watching, watching } from './service/watches/watching.ts'
import { type EventDelivery, eventDelivery } from './service/webhooks/event-delivery.ts'
import { type OrganizationStore, organizationStore } from './store/account/organizations.ts'
import { passwordStore } from './store/account/passwords.ts'
import { sessionStore } from './store/account/sessions.ts'
import { signInLinkStore } from './store/account/sign-in-links.ts'
import { type AnnotationStore, annotationStore } from './store/analytics/annotations.ts'
import {
  type CongressionalTradeStore,
  congressionalTradeStore,
} from './store/analytics/congressional-trades.ts'
import { type CotStore, cotStore } from './store/analytics/positions.ts'
import { type SeriesStore, seriesStore } from './store/catalogue/series.ts'
import { qualityStore } from './store/condition/quality.ts'
import { type FracChemicalStore, fracChemicalStore } from './store/drilling/frac-chemicals.ts'
import { type FracDisclosureStore, fracDisclosureStore } from './store/drilling/frac-disclosures.ts'
import { type WellStore, wellStore } from './store/drilling/wells.ts'
import { type StationStore, stationStore } from './store/fuels/stations.ts'
import { type SurchargeStore, surchargeStore } from './store/fuels/surcharges.ts'
import { inventoryStore } from './store/fundamentals/inventories.ts'
import {
  type MonthlyForecastStore,
  monthlyForecastStore,
} from './store/fundamentals/monthly-forecasts.ts'
import { type OpecStore, opecStore } from './store/fundamentals/opec.ts'
import { type OutlookStore, outlookStore } from './store/fundamentals/outlooks.ts'
import {
  type StorageCapacityStore,
  storageCapacityStore,
} from './store/fundamentals/storage-capacities.ts'
import { futuresStore } from './store/futures/futures.ts'
import { accountStore } from './store/keys/accounts.ts'
import { apiKeyStore } from './store/keys/api-keys.ts'
import { creditStore } from './store/keys/credits.ts'
import { usageStore } from './store/keys/usage.ts'
import { adminTokenStore } from './store/operator/admin-tokens.ts'
import { type Settings, settingsStore } from './store/operator/settings.ts'
import { outboxStore } from './store/outbox/outbox.ts'
import { closeStore } from './store/prices/closes.ts'
import { type ObservationStore, observationStore } from './store/prices/observations.ts'
import { quarantineStore } from './store/prices/quarantine.ts'
import { dataSourceStore } from './store/sources/sources.ts'

/** What everything stands on: arguments, never globals. */
export interface Ground {
  db: Database
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  /** What the vault seals with. */
  masterKey: string
}

/** The ground of a house before its directory is opened. */
export type Bare = Omit<Ground, 'db' | 'masterKey'>

/** The stores and the state in memory over one database. */
export interface Services extends Ground, Messages, EventDelivery, Alerting, Watching {
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
  cot: CotStore
  stations: StationStore
  dataSources: DataSources
  sourceSync: SourceSync
  drilling: Drilling
  annotations: AnnotationStore
  inventories: Inventories
  opec: OpecStore
  outlooks: OutlookStore
  monthlyForecasts: MonthlyForecastStore
  actuals: Actuals
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

export function openServices(ground: Ground): Services {
  const { db, config, clock, ids } = ground
  const series = seriesStore(db)
  const observations = observationStore(db)
  const known = catalogue(series, contractBook)
  // The list must tell the readers of a change, and the readers need the list: they are tied by
  // this function.
  const changed = (seriesId: number) => {
    prices.forget(seriesId)
    past.forget(seriesId)
    daily.forget(seriesId)
    judged.forget(seriesId)
  }
  const quarantine = quarantineList(quarantineStore(db), changed)
  const prices = board(observations, quarantine, clock)
  const past = history(observations, quarantine)
  const daily = closes(closeStore(db), quarantine)
  const judged = quality({
    store: qualityStore(db),
    catalogue: known,
    board: prices,
    quarantine,
    clock,
  })
  const capacities = storageCapacityStore(db)
  const opec = opecStore(db)
  const surcharges = surchargeStore(db)
  const writes = ingest(observations, known, clock)
  writes.listen(changes => {
    for (const change of changes) changed(change.seriesId)
  })
  const limits = limitsOf(config)
  const plans = plansOf(config, limits)
  const memberships = organizationStore(db)
  const knownWells = wellStore(db)
  const keys = keyring(
    { accounts: accountStore(db), keys: apiKeyStore(db), memberships },
    plans,
    clock,
    ids,
  )
  const waysOut = outbox(outboxStore(db), {
    db,
    clock,
    ids,
    log: ground.log,
    chance: () => chanceOf(ids),
  })
  const safe = vault(ground.masterKey)
  const said = messages({ ...ground, outbox: waysOut, keys, vault: safe })
  const purchases = creditStore(db)
  const bought = credits(purchases, clock)
  const counted = meter(usageStore(db), keys, clock, config.quota.scope, bought)
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
  const reachable = egress(config.egress.allow)
  const { headerPrefix, webhookUserAgent: userAgent } = config.brand
  const { data_sources: sourcing } = config
  const ownSources = dataSources({
    db,
    store: dataSourceStore(db),
    vault: safe,
    clock,
    ids,
    perAccount: sourcing.perAccount,
  })
  waysOut.register(
    'webhook',
    webhookSender({ egress: reachable, clock, headerPrefix, userAgent }),
    told.webhookLanes,
  )
  const alerted = alerting({
    ...ground,
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
  const open = streams({ log: ground.log, perKey: config.streams.perKey })
  const signedIn = sessions({
    db,
    keys,
    store: sessionStore(db),
    masterKey: ground.masterKey,
    clock,
    ids,
    lifetimes: { tokenMs: config.sessions.lifetimeMs, signInMs: config.sessions.signInMaxMs },
  })
  return {
    ...ground,
    ...said,
    ...told,
    ...alerted,
    ...watching({ ...ground, keys, catalogue: known, board: prices, events: told.events }),
    sessions: signedIn,
    signIn: signIn({
      db,
      keys,
      sessions: signedIn,
      links: signInLinkStore(db),
      passwords: passwordStore(db),
      hashes: passwordHashes(),
      mail: said.mail,
      clock,
      ids,
      log: ground.log,
      serviceName: config.brand.serviceName,
      linkLifetimeMs: config.sessions.linkLifetimeMs,
    }),
    organizationStore: memberships,
    organizations: organizations({
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
    futures: futures({
      store: futuresStore(db),
      catalogue: known,
      quarantine,
      ingest: writes,
      clock,
      maxAgeHours: limits.futuresMaxAgeHours,
      liveStaleMinutes: config.futures.liveStaleMinutes,
    }),
    closes: daily,
    storage: storageLevels({ board: prices, closes: daily, capacities }),
    storageCapacities: capacities,
    surcharges,
    surchargeMatching: surchargeMatching({ surcharges, catalogue: known, closes: daily }),
    cot: cotStore(db),
    stations: stationStore(db),
    dataSources: ownSources,
    sourceSync: sourceSync({
      sources: ownSources,
      keys,
      clock,
      log: ground.log,
      timeoutMs: sourcing.timeoutMs,
      reader: sourceReader(shippedPorts()),
      files: sourceFiles(sourcing.directory),
      fetch: sourceFetch({ egress: reachable, clock, userAgent }),
    }),
    drilling: drilling({ db, catalogue: known, ingest: writes, events: told.events }),
    annotations: annotationStore(db),
    inventories: inventories({ store: inventoryStore(db), catalogue: known, ingest: writes }),
    opec,
    outlooks: outlookStore(db),
    monthlyForecasts: monthlyForecastStore(db),
    actuals: actuals({ closes: daily, opec, now: clock.now }),
    quality: judged,
    congressionalTrades: congressionalTradeStore(db),
    permits: permits({ db, events: told.events }),
    fracDisclosures: fracDisclosureStore(db),
    fracChemicals: fracChemicalStore(db),
    wells: knownWells,
    wellProduction: wellProduction({ db, wells: knownWells }),
    plans,
    limits,
    keys,
    meter: counted,
    credits: bought,
    billing: billing({
      ...ground,
      ...said,
      events: told.events,
      plans,
      keys,
      purchases,
      credits: bought,
      changes: keyChanges({ ...ground, keys, limits }),
    }),
    billingPages: billingPages(ground),
    adminTokens: adminTokens(adminTokenStore(db), clock, ids),
    deliveries: deliveries({
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
    cable: cable({
      streams: open,
      prices: cablePrices(known, prices, fx(known, prices), clock.now),
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
