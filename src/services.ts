import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import { shippedPorts } from './feed/shipped-ports.ts'
import { sourceReader } from './feed/source-reader.ts'
import type { Clock } from './lib/clock.ts'
import { chanceOf, type Ids } from './lib/ids.ts'
import { secondMs } from './lib/instant.ts'
import type { Log } from './lib/log.ts'
import { parseToml } from './lib/toml.ts'
import { defaultLimits, type Limits } from './plan/limits.ts'
import { plansFrom } from './plan/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from './plan/plans.ts'
import { type Egress, egress } from './send/egress.ts'
import { sourceFetch } from './send/source-fetch.ts'
import { webhookSender } from './send/webhook.ts'
import { type Actuals, actuals } from './service/actuals.ts'
import { type AdminTokens, adminTokens } from './service/admin-tokens.ts'
import { type Alerting, alerting } from './service/alerting.ts'
import { type Billing, billing } from './service/billing.ts'
import { type BillingPages, billingPages } from './service/billing-pages.ts'
import { type Board, board } from './service/board.ts'
import { type Cable, cable } from './service/cable.ts'
import { cablePrices } from './service/cable-prices.ts'
import { type Catalogue, catalogue } from './service/catalogue.ts'
import { type Closes, closes } from './service/closes.ts'
import { contractBook } from './service/contract-book.ts'
import { type Credits, credits } from './service/credits.ts'
import { type DataSources, dataSources } from './service/data-sources.ts'
import { type Deliveries, deliveries } from './service/deliveries.ts'
import { type Drilling, drilling } from './service/drilling.ts'
import { type EventDelivery, eventDelivery } from './service/event-delivery.ts'
import { type Futures, futures } from './service/futures.ts'
import { fx } from './service/fx.ts'
import { type History, history } from './service/history.ts'
import { type Ingest, ingest } from './service/ingest.ts'
import { type Inventories, inventories } from './service/inventories.ts'
import { keyChanges } from './service/key-changes.ts'
import { type Keyring, keyring } from './service/keyring.ts'
import { type Messages, messages } from './service/messages.ts'
import { type Meter, meter } from './service/meter.ts'
import { type Organizations, organizations } from './service/organizations.ts'
import { type Outbox, outbox } from './service/outbox.ts'
import { passwordHashes } from './service/password-hashes.ts'
import { type Permits, permits } from './service/permits.ts'
import { type Quality, quality } from './service/quality.ts'
import { type QuarantineList, quarantineList } from './service/quarantine.ts'
import { type Sessions, sessions } from './service/sessions.ts'
import { type SignIn, signIn } from './service/sign-in.ts'
import { sourceFiles } from './service/source-file.ts'
import { type SourceSync, sourceSync } from './service/source-sync.ts'
import { type StorageLevels, storageLevels } from './service/storage.ts'
import { type Streams, streams } from './service/streams.ts'
import { type SurchargeMatching, surchargeMatching } from './service/surcharges.ts'
import { type Vault, vault } from './service/vault.ts'
import { type Watching, watching } from './service/watching.ts'
import { type WellProduction, wellProduction } from './service/well-production.ts'
import { accountStore } from './store/accounts.ts'
import { adminTokenStore } from './store/admin-tokens.ts'
import { type AnnotationStore, annotationStore } from './store/annotations.ts'
import { apiKeyStore } from './store/api-keys.ts'
import { closeStore } from './store/closes.ts'
import { type CongressionalTradeStore, congressionalTradeStore } from './store/congressional-trades.ts'
import { type CotStore, cotStore } from './store/cot.ts'
import { creditStore } from './store/credits.ts'
import { dataSourceStore } from './store/data-sources.ts'
import { type FracChemicalStore, fracChemicalStore } from './store/frac-chemicals.ts'
import { type FracDisclosureStore, fracDisclosureStore } from './store/frac-disclosures.ts'
import { futuresStore } from './store/futures.ts'
import { inventoryStore } from './store/inventories.ts'
import { type MonthlyForecastStore, monthlyForecastStore } from './store/monthly-forecasts.ts'
import { type ObservationStore, observationStore } from './store/observations.ts'
import { type OpecStore, opecStore } from './store/opec.ts'
import { type OrganizationStore, organizationStore } from './store/organizations.ts'
import { outboxStore } from './store/outbox.ts'
import { type OutlookStore, outlookStore } from './store/outlooks.ts'
import { passwordStore } from './store/passwords.ts'
import { qualityStore } from './store/quality.ts'
import { quarantineStore } from './store/quarantine.ts'
import { type SeriesStore, seriesStore } from './store/series.ts'
import { sessionStore } from './store/sessions.ts'
import { type Settings, settingsStore } from './store/settings.ts'
import { signInLinkStore } from './store/sign-in-links.ts'
import { type StationStore, stationStore } from './store/stations.ts'
import { type StorageCapacityStore, storageCapacityStore } from './store/storage-capacities.ts'
import { type SurchargeStore, surchargeStore } from './store/surcharges.ts'
import { usageStore } from './store/usage.ts'
import { type WellStore, wellStore } from './store/wells.ts'

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
  // The list must tell the readers of a change, and the readers need the list: they are tied by this function.
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
  const judged = quality({ store: qualityStore(db), catalogue: known, board: prices, quarantine, clock })
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
  const keys = keyring({ accounts: accountStore(db), keys: apiKeyStore(db), memberships }, plans, clock, ids)
  const waysOut = outbox(outboxStore(db), { db, clock, ids, log: ground.log, chance: () => chanceOf(ids) })
  const safe = vault(ground.masterKey)
  const said = messages({ ...ground, outbox: waysOut, keys, vault: safe })
  const purchases = creditStore(db)
  const bought = credits(purchases, clock)
  const counted = meter(usageStore(db), keys, clock, config.quota.scope, bought)
  const told = eventDelivery({
    ...{ db, clock, ids, limits, keys, vault: safe, catalogue: known, observations, quarantine, ingest: writes, meter: counted },
    ...{ outbox: waysOut, mail: said.mail, notices: said.notices },
  })
  const reachable = egress(config.egress.allow)
  const { headerPrefix, webhookUserAgent: userAgent } = config.brand
  const { data_sources: sourcing } = config
  const ownSources = dataSources({ db, store: dataSourceStore(db), vault: safe, clock, ids, perAccount: sourcing.perAccount })
  waysOut.register('webhook', webhookSender({ egress: reachable, clock, headerPrefix, userAgent }), told.webhookLanes)
  const alerted = alerting({
    ...{ ...ground, ...said, events: told.events, keys, catalogue: known, board: prices, closes: daily },
    ...{ observations, quarantine, ingest: writes },
    ...{ serviceName: config.brand.serviceName, intervalMs: config.alerts.intervalMs },
  })
  const open = streams({ log: ground.log, perKey: config.streams.perKey })
  const signedIn = sessions({
    ...{ db, keys, store: sessionStore(db), masterKey: ground.masterKey, clock, ids },
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
      ...{ db, keys, sessions: signedIn, links: signInLinkStore(db), passwords: passwordStore(db), hashes: passwordHashes() },
      ...{ mail: said.mail, clock, ids, log: ground.log, serviceName: config.brand.serviceName },
      linkLifetimeMs: config.sessions.linkLifetimeMs,
    }),
    organizationStore: memberships,
    organizations: organizations({
      ...{ db, keys, store: memberships, mail: said.mail, clock, ids, serviceName: config.brand.serviceName },
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
      ...{ store: futuresStore(db), catalogue: known, quarantine, ingest: writes, clock },
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
      ...{ sources: ownSources, keys, clock, log: ground.log, timeoutMs: sourcing.timeoutMs },
      ...{ reader: sourceReader(shippedPorts()), files: sourceFiles(sourcing.directory) },
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
      ...{ ...ground, ...said, events: told.events, plans, keys, purchases, credits: bought },
      changes: keyChanges({ ...ground, keys, limits }),
    }),
    billingPages: billingPages(ground),
    adminTokens: adminTokens(adminTokenStore(db), clock, ids),
    deliveries: deliveries({
      ...{ db, clock, ids, keys, limits, catalogue: known, board: prices, observations, quarantine, outbox: waysOut, mail: said.mail },
      ...{ enabled: config.deliveries.enabled, serviceName: config.brand.serviceName },
    }),
    vault: safe,
    outbox: waysOut,
    egress: reachable,
    streams: open,
    cable: cable({
      ...{ streams: open, prices: cablePrices(known, prices, fx(known, prices), clock.now), catalogue: known, keys, ingest: writes, clock },
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
