import type { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import type { Clock } from './lib/clock.ts'
import type { Ids } from './lib/ids.ts'
import type { Log } from './lib/log.ts'
import { parseToml } from './lib/toml.ts'
import { defaultLimits, type Limits } from './plan/limits.ts'
import { plansFrom } from './plan/overrides.ts'
import { type Plans, specPlans, unlimitedPlans } from './plan/plans.ts'
import { type AdminTokens, adminTokens } from './service/admin-tokens.ts'
import { type Board, board } from './service/board.ts'
import { type Catalogue, catalogue } from './service/catalogue.ts'
import { type Closes, closes } from './service/closes.ts'
import { contractBook } from './service/contract-book.ts'
import { type Futures, futures } from './service/futures.ts'
import { type History, history } from './service/history.ts'
import { type Ingest, ingest } from './service/ingest.ts'
import { type Keyring, keyring } from './service/keyring.ts'
import { type Meter, meter } from './service/meter.ts'
import { type QuarantineList, quarantineList } from './service/quarantine.ts'
import { type StorageLevels, storageLevels } from './service/storage.ts'
import { type SurchargeMatching, surchargeMatching } from './service/surcharges.ts'
import { type Vault, vault } from './service/vault.ts'
import { accountStore } from './store/accounts.ts'
import { adminTokenStore } from './store/admin-tokens.ts'
import { type AnnotationStore, annotationStore } from './store/annotations.ts'
import { apiKeyStore } from './store/api-keys.ts'
import { closeStore } from './store/closes.ts'
import { type CongressionalTradeStore, congressionalTradeStore } from './store/congressional-trades.ts'
import { type CotStore, cotStore } from './store/cot.ts'
import { futuresStore } from './store/futures.ts'
import { type ObservationStore, observationStore } from './store/observations.ts'
import { quarantineStore } from './store/quarantine.ts'
import { type SeriesStore, seriesStore } from './store/series.ts'
import { type Settings, settingsStore } from './store/settings.ts'
import { type StorageCapacityStore, storageCapacityStore } from './store/storage-capacities.ts'
import { type SurchargeStore, surchargeStore } from './store/surcharges.ts'
import { usageStore } from './store/usage.ts'

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
export interface Services extends Ground {
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
  annotations: AnnotationStore
  congressionalTrades: CongressionalTradeStore
  plans: Plans
  limits: Limits
  keys: Keyring
  meter: Meter
  adminTokens: AdminTokens
  vault: Vault
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
  }
  const quarantine = quarantineList(quarantineStore(db), changed)
  const prices = board(observations, quarantine, clock)
  const past = history(observations, quarantine)
  const daily = closes(closeStore(db), quarantine)
  const capacities = storageCapacityStore(db)
  const surcharges = surchargeStore(db)
  const writes = ingest(observations, known, clock)
  writes.listen(changes => {
    for (const change of changes) changed(change.seriesId)
  })
  const limits = limitsOf(config)
  const plans = plansOf(config, limits)
  const keys = keyring({ accounts: accountStore(db), keys: apiKeyStore(db) }, plans, clock, ids)
  return {
    ...ground,
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
    annotations: annotationStore(db),
    congressionalTrades: congressionalTradeStore(db),
    plans,
    limits,
    keys,
    meter: meter(usageStore(db), keys, clock, config.quota.scope),
    adminTokens: adminTokens(adminTokenStore(db), clock, ids),
    vault: vault(ground.masterKey),
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
