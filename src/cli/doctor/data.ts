import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { quickFaults, versionOf } from '../../database/database.ts'
import { schemaVersion } from '../../database/migrations.ts'
import { readDatabase } from '../../database/reading.ts'
import { conditionOf } from '../../feeds/engine/view.ts'
import { shippedFeeds } from '../../feeds/publishers/publishers.ts'
import { createFeedStore } from '../../feeds/store/feeds.ts'
import { databasePath, lostDatabase } from '../../instance/services/directory.ts'
import { dayMs, isoInstant, minuteMs } from '../../lib/time/instant.ts'
import { createOutboxStore } from '../../outbox/store/outbox.ts'
import { dataStatus } from '../../topics/calendars/math/freshness.ts'
import type { Cadence } from '../../topics/catalogue/math/catalogue.ts'
import { createCatalogue } from '../../topics/catalogue/service/catalogue.ts'
import { contractCalendar } from '../../topics/catalogue/service/contract-calendar.ts'
import { createSeriesStore } from '../../topics/catalogue/store/series.ts'
import { createFreshness } from '../../topics/condition/service/freshness.ts'
import {
  createSeriesFaults,
  type SeriesFaultKind,
  seriesFaultKinds,
} from '../../topics/condition/service/series-faults.ts'
import { createQualityStore } from '../../topics/condition/store/quality.ts'
import { createVault } from '../../topics/keys/service/vault.ts'
import { opensEverySample } from '../../topics/operator/service/secret-check.ts'
import { createSecretCheckStore } from '../../topics/operator/store/secret-check.ts'
import { settingsStore } from '../../topics/operator/store/settings.ts'
import { createQuarantineList } from '../../topics/prices/service/quarantine.ts'
import { createLatestPrices } from '../../topics/prices/service/reads/latest-prices.ts'
import { createObservationStore } from '../../topics/prices/store/observations.ts'
import { createQuarantineStore } from '../../topics/prices/store/quarantine.ts'
import { createWebhookStore } from '../../topics/webhooks/store/webhooks.ts'
import { checked, doubtful, type Finding, faulty, fine, reasonOf } from './finding.ts'

export interface DatabaseReport {
  now: number
  /** Undefined: there is none. Null: it is not known, because the configuration was refused. */
  masterKey: string | null | undefined
  /** The clock of a demo instance can have been moved ahead. */
  isCopy: boolean
  /** A server is running, so pending messages are being sent. */
  hasServer: boolean
}

const faultsShown = 3
/** A message that is overdue by this much is not being sent. */
const lateMs = 15 * minuteMs

/**
 * Whether a directory is one of production or a demo instance; undefined while no one has served
 * it, or where it cannot be read.
 */
export function modeOf(dir: string): 'serve' | 'dev' | undefined {
  if (!existsSync(databasePath(dir))) return undefined
  try {
    const mode = readDatabase(databasePath(dir), db =>
      versionOf(db) === 0 ? undefined : settingsStore(db).get('directory.mode'),
    )
    return mode === 'serve' || mode === 'dev' ? mode : undefined
  } catch {
    return undefined
  }
}

/** Checks whether the database is sound, and whether its data is still updated. */
export function examineDatabase(dir: string, runtime: DatabaseReport): readonly Finding[] {
  const path = databasePath(dir)
  const lost = lostDatabase(dir)
  if (lost !== undefined)
    return [faulty('database', lost, 'the server does not start until it is restored')]
  if (!existsSync(path))
    return [
      doubtful('database', `missing: ${path} yet`, 'start wellhead serve, or restore a backup'),
    ]
  try {
    return readDatabase(path, db => {
      const version = versionOf(db)
      if (version === 0)
        return [
          doubtful(
            'database',
            `${path} is empty`,
            'start wellhead serve, which creates its tables',
          ),
        ]
      if (version < schemaVersion) {
        const finding = `schema version ${version} of ${schemaVersion}; its content was not checked`
        return [
          doubtful(
            'schema',
            finding,
            'make a backup and start the server: it brings the database up to date',
          ),
          ...integrity(db, path),
          // A start refuses a wrong or missing key before it changes the schema.
          ...checked('secrets', () => examineSealed(db, runtime.masterKey)),
        ]
      }
      return [
        fine('schema', `version ${version}`),
        ...integrity(db, path),
        ...contents(db, runtime),
      ]
    })
  } catch (error) {
    return [
      faulty(
        'database',
        `${path} cannot be opened: ${reasonOf(error)}`,
        'restore a backup: wellhead restore FILE',
      ),
    ]
  }
}

const integrity = (db: Database, path: string): readonly Finding[] =>
  checked('database', () => {
    const faults = quickFaults(db)
    if (faults.length === 0) return fine('database', `${path} passed the quick check`)
    const finding = `${path} is damaged: ${faults.slice(0, faultsShown).join('; ')}`
    return faulty(
      'database',
      finding,
      'restore a backup: wellhead restore FILE; wellhead verify has details',
    )
  })

const contents = (db: Database, runtime: DatabaseReport): readonly Finding[] => [
  ...checked('secrets', () => examineSealed(db, runtime.masterKey)),
  ...checked('clock', () => examineClock(db, runtime)),
  ...checked('outbox', () => examineOutbox(db, runtime)),
  ...checked('data', () => examineFreshness(db, runtime.now)),
  ...checked('series', () => examineSeries(db, runtime.now)),
  ...checked('feeds', () => examineFeeds(db, runtime.now)),
]

/** How long a change of a publisher is reported. */
const changesShownMs = 7 * dayMs

/** Feeds that have ever run: whether they still bring what they should. */
function examineFeeds(db: Database, now: number): Finding[] {
  const store = createFeedStore(db)
  const states = store.states().filter(state => store.settings(state.name)?.pausedAt == null)
  const failing = states.flatMap(state => {
    const feed = shippedFeeds.find(feed => feed.publisher.name === state.name)
    const lastRun = store.lastRun(state.name)
    if (!feed || !lastRun) return []
    const condition = conditionOf(feed, state, lastRun, now)
    if (condition === 'ok') return []
    const finding =
      condition === 'late'
        ? `${state.name} is late: its publisher should have published by now`
        : `the last run of ${state.name} ${lastRun.result === 'held' ? 'was held' : 'failed'}: ${lastRun.problem}`
    const advice = `wellhead feeds show ${state.name}; wellhead feeds run ${state.name}`
    return [doubtful('feeds', finding, advice)]
  })
  const changed = store
    .notedSince(now - changesShownMs)
    .flatMap(({ feed, notes }) =>
      notes.map(({ message }) =>
        doubtful(
          'feeds',
          `${feed}: ${message}`,
          'inform customers who count periods; earlier values keep theirs',
        ),
      ),
    )
  if (failing.length + changed.length > 0) return [...failing, ...changed]
  return [fine('feeds', states.length === 0 ? 'none has run' : `${states.length} read`)]
}

function examineSealed(db: Database, masterKey: DatabaseReport['masterKey']): Finding {
  const store = createSecretCheckStore(db)
  const count = store.sealedCount()
  if (count === 0) return fine('secrets', 'no encrypted secrets')
  if (masterKey === null)
    return fine('secrets', `${count} encrypted; no configuration, so no key to try`)
  const advice =
    'restore the master key of this database, or replace webhook secrets and credentials'
  if (masterKey === undefined)
    return faulty('secrets', `${count} encrypted, but the master key is missing`, advice)
  if (!opensEverySample(createVault(masterKey), store))
    return faulty('secrets', `${count} encrypted, but with another master key`, advice)
  return fine('secrets', `${count} encrypted; the master key is correct`)
}

function examineClock(db: Database, { now, isCopy }: DatabaseReport): Finding {
  const recordedAt = createSecretCheckStore(db).recordedAt()
  if (recordedAt === undefined || recordedAt - now <= dayMs) return fine('clock', isoInstant(now))
  if (isCopy)
    return fine('clock', `${isoInstant(now)}; the clock of this demo instance was moved ahead`)
  const finding = `the clock shows ${isoInstant(now)}, but an observation was recorded at ${isoInstant(recordedAt)}`
  return faulty('clock', finding, 'set the clock of this machine and synchronize it by NTP')
}

function examineOutbox(db: Database, { now, hasServer }: DatabaseReport): Finding {
  const store = createOutboxStore(db)
  const endpoints = createWebhookStore(db)
  // An endpoint that is switched off keeps its messages for when it is switched on.
  const lanes = store
    .backlog()
    .filter(({ kind, lane }) => kind !== 'webhook' || endpoints.find(lane)?.active !== false)
  const inProgress = store.inProgress()
  const count =
    lanes.reduce((sum, lane) => sum + lane.waiting, 0) +
    inProgress.reduce((sum, leased) => sum + leased.count, 0)
  const oldestAt = Math.min(
    ...lanes.map(lane => lane.dueAt),
    ...inProgress.map(leased => leased.dueAt),
  )
  if (count === 0) return fine('outbox', 'no pending messages')
  const finding = `${count} ${count === 1 ? 'message waits' : 'messages wait'}, the oldest due at ${isoInstant(oldestAt)}`
  if (oldestAt > now - lateMs) return fine('outbox', finding)
  const advice = hasServer
    ? 'check the server log: a receiver or provider refuses them'
    : 'start the server: it sends them'
  return doubtful('outbox', finding, advice)
}

const cadences: readonly Cadence[] = [
  'intraday_2_5m',
  'intraday_5m',
  'twice_daily',
  'daily',
  'weekly',
  'monthly',
]

function examineFreshness(db: Database, now: number): Finding | Finding[] {
  const clock = { now: () => now, monotonic: () => 0 }
  const observations = createObservationStore(db)
  const catalogue = createCatalogue(createSeriesStore(db), contractCalendar)
  const quarantine = createQuarantineList(createQuarantineStore(db), () => {})
  const { reach } = createFreshness({
    catalogue,
    quarantine,
    observations,
    now: clock.now,
    latestPrices: createLatestPrices(observations, quarantine, clock),
  })
  const dated = catalogue.list().flatMap(series => {
    const lastAt = series.unavailableReason === null ? reach(series)?.lastAt : undefined
    return lastAt === undefined ? [] : [{ series, lastAt }]
  })
  if (dated.length === 0)
    return doubtful(
      'data',
      `no observations up to ${isoInstant(now)}`,
      'import data: wellhead import FILE',
    )
  return cadences.flatMap(cadence => {
    const those = dated.filter(entry => entry.series.cadence === cadence)
    if (those.length === 0) return []
    const stale = those.filter(({ series, lastAt }) => dataStatus(series, lastAt, now) === 'stale')
    const newestAt = Math.max(...those.map(entry => entry.lastAt))
    const check = `data, ${cadence}`
    const finding = `newest ${isoInstant(newestAt)}, ${stale.length} of ${those.length} codes stale`
    if (stale.length === 0) return [fine(check, finding)]
    return [
      doubtful(
        check,
        finding,
        `import newer values, such as for ${stale[0]!.series.code}; GET /v1/status lists every source`,
      ),
    ]
  })
}

const faultAdvice: Readonly<Record<SeriesFaultKind, string>> = {
  stopped:
    'import newer values; if the series has ended: wellhead series edit CODE --guards stop=off',
  frozen:
    'compare with the source; if the value is constant: wellhead series edit CODE --guards repeat=off',
  unit_break: 'check the unit, and correct or undo values in another unit',
  gap: 'find out why the source published nothing, and import the missing values, or correct the cadence of the series',
  missing: 'import the missing values, or correct the cadence and calendar of the series',
}

/** Finds faults in the values of series, however fresh they are. */
function examineSeries(db: Database, now: number): Finding | Finding[] {
  const faults = createSeriesFaults({
    store: createQualityStore(db),
    catalogue: createCatalogue(createSeriesStore(db), contractCalendar),
    quarantine: createQuarantineList(createQuarantineStore(db), () => {}),
    now: () => now,
  }).all()
  if (faults.length === 0)
    return fine('series', 'no series has stopped, is frozen, has changed unit or has gaps')
  return seriesFaultKinds.flatMap(kind => {
    const those = faults.filter(fault => fault.kind === kind)
    if (those.length === 0) return []
    const more = those.length > faultsShown ? `; and ${those.length - faultsShown} more` : ''
    const finding = those
      .slice(0, faultsShown)
      .map(fault => fault.description)
      .join('; ')
    return [doubtful('series', `${finding}${more}`, faultAdvice[kind])]
  })
}
