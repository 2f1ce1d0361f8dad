import type { Database } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { catalogueVersion, shippedCatalogue } from './feed/catalogue/shipped.ts'
import { createReserveFile, type ReserveFile } from './lib/files/reserve-file.ts'
import { masterKeyOf, masterKeyPath } from './lib/secrets/master-key.ts'
import type { ProcessRuntime } from './runtime.ts'
import { giveUpSealed, opensEverySample } from './service/operator/secret-check.ts'
import { openServices, type Services } from './services.ts'
import { missingCommits } from './store/commit-mark.ts'
import { openDatabase, transact } from './store/database.ts'
import { createUsageStore } from './store/keys/usage.ts'
import { checksumsOf } from './store/log-folding.ts'
import { createSecretCheckStore } from './store/operator/secret-check.ts'
import { createChangeLog, isLogged, logChanges } from './store/replication/change-log.ts'
import { createReplicationState } from './store/replication/state.ts'

export const databasePath = (dir: string): string => join(dir, 'wellhead.db')

export interface DirectoryOptions {
  runtime: ProcessRuntime
  dir: string
  /** The directory is opened to be served, not for one command. */
  serving: boolean
  /** States of an evaluation copy share the pages of its database. */
  leavesShared: boolean
  /** The database is a state that was kept in order: nothing of its log can be missing. */
  isState?: boolean
}

/** A data directory that is open: what is written there, and by whom. */
export interface OpenDirectory {
  services: Services
  /** Commits are published; then this is the last change before this start wrote anything. */
  isPublished: boolean
  lastChange: number
}

/**
 * Opens the database of a directory and everything that stands on it, and brings the catalogue up
 * to date. Throws where the directory must not be served, or not like this.
 */
export function openDirectory(options: DirectoryOptions): OpenDirectory {
  const { runtime, dir, serving } = options
  const { config } = runtime
  const db = openStored(options)
  if (serving) refuseReplaced(db, dir)
  refuseReplica(db, dir)
  const isPublished = config.mode === 'serve' && config.nats.servers.length > 0
  keepLogging(db, serving ? isPublished : isLogged(db))
  // Before anything of this start is written: a restored database would catch up with the stream.
  const lastChange = isPublished ? createChangeLog(db).last() : 0
  createUsageStore(db).addWaiting()
  const services = openServices({
    ...runtime,
    db,
    masterKey: masterKeyOf(dir, config.secrets.masterKey.reveal(), runtime.ids, {
      isNeeded: !runtime.takesNewMasterKey && createSecretCheckStore(db).sealedCount() > 0,
    }),
  })
  if (serving) {
    services.disk.attach(reserveOf(dir, config.data.reserveMb))
    checkMasterKey(services, dir, runtime.takesNewMasterKey === true)
  }
  takeCatalogue(services)
  const conflict = serving ? claimDirectory(services) : undefined
  if (conflict) {
    db.close()
    throw new Error(`${dir} can not be used: ${conflict}; name another directory with --data.`)
  }
  return { services, isPublished, lastChange }
}

/** Opens the database, and tells what of it is not as it was left. */
function openStored({ runtime, dir, leavesShared, isState = false }: DirectoryOptions): Database {
  const { config, log } = runtime
  const path = databasePath(dir)
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const missing = isState ? undefined : missingCommits(dir, path, log)
  if (missing !== undefined)
    log.error('commits_missing', {
      path,
      message: `The database was not closed, and ${missing}. What it holds is consistent; restore a backup if that has more.`,
    })
  const db = openDatabase(path, {
    autocheckpoint: config.sqlite.autocheckpoint,
    checksums: config.mode === 'serve',
    leavesShared,
  })
  if (checksumsOf(db)?.isReplaced)
    log.warn('checksums_begun_anew', {
      path,
      message: 'The database is another file than the one that its checksums were of.',
    })
  return db
}

/**
 * What a server publishes is logged from its first start on, also by commands whose own surroundings
 * know no NATS, until a server starts that does not publish.
 */
function keepLogging(db: Database, isWanted: boolean): void {
  const isGap = isLogged(db) && !isWanted
  if (isGap) createReplicationState(db).set('unlogged', 'yes')
  logChanges(db, isWanted)
}

/** What another copy took over is not written here any more. */
function refuseReplaced(db: Database, dir: string): void {
  const replacedBy = createReplicationState(db).get('replaced_by')
  if (replacedBy === undefined) return
  db.close()
  throw new Error(
    `${dir} can not be served: another copy took over from it, ${replacedBy}. "wellhead promote" makes it the primary with what the stream has, and keeps this database beside it.`,
  )
}

/** What is written into a copy of another database would be lost, or collide with what comes. */
function refuseReplica(db: Database, dir: string): void {
  if (createReplicationState(db).get('replica_at') === undefined) return
  db.close()
  throw new Error(
    `${dir} is a replica: serve it with --replica. "wellhead promote" makes it the primary with what the stream has.`,
  )
}

const megabyte = 2 ** 20

/** What a data directory keeps free for a start on a full disk: its lock, the index of its log. */
export const startReserveOf = (dir: string, megabytes: number): ReserveFile =>
  createReserveFile(join(dir, 'reserve.start'), dir, Math.min(megabytes, 1) * megabyte)

/** What it keeps free for a server that runs on one. */
function reserveOf(dir: string, megabytes: number): ReserveFile {
  const [start, running] = [
    startReserveOf(dir, megabytes),
    createReserveFile(join(dir, 'reserve'), dir, megabytes * megabyte),
  ]
  return { ...running, keep: () => start.keep() && running.keep() }
}

/**
 * A key that does not open what is sealed belongs to another database: with it every webhook would
 * be signed wrongly, or not at all.
 */
function checkMasterKey({ db, vault, config, ids, log }: Services, dir: string, takesNew: boolean) {
  const store = createSecretCheckStore(db)
  if (opensEverySample(vault, store)) return
  if (takesNew) {
    log.warn('master_key_replaced', {
      ...giveUpSealed(vault, store, ids),
      message:
        'What was sealed with the lost key is given up: webhooks sign with new secrets, which their owners must fetch, and credentials of data sources must be entered again.',
    })
    return
  }
  db.close()
  const place = config.secrets.masterKey.reveal() === '' ? masterKeyPath(dir) : 'secrets.master_key'
  throw new Error(
    `${place} does not open what is sealed in ${databasePath(dir)}: it is not the key with which webhook secrets and credentials were sealed. Put the right key there. Without it, start with --new-master-key: the secrets of webhooks and the credentials of data sources are lost then and must be entered again.`,
  )
}

/**
 * A directory holds real data or an evaluation copy, never both: a served fixture would be a lie, a
 * filled-in real series a worse one.
 */
export function claimDirectory({
  db,
  settings,
  catalogue,
  config,
}: Pick<Services, 'db' | 'settings' | 'catalogue' | 'config'>): string | undefined {
  const mode = settings.get('directory.mode')
  if (mode === config.mode) return mode === 'dev' ? otherWorld(settings, config) : undefined
  if (mode === 'dev')
    return 'it is an evaluation copy with generated data, which the command serve does not serve'
  if (mode !== undefined)
    return 'it holds real data, into which the command dev would mix generated data'
  if (config.mode === 'dev' && catalogue.list().some(series => catalogue.extent(series))) {
    return 'it holds observations already, into which the command dev would mix generated data'
  }
  transact(db, () => {
    settings.set('directory.mode', config.mode)
    if (config.mode === 'dev') settings.set(worldName, config.dev.world)
  })
  return undefined
}

const worldName = 'fixture.world'

/** A copy that was begun with one world can not go on with another: its histories end elsewhere. */
function otherWorld(
  settings: Pick<Services['settings'], 'get'>,
  { dev }: Services['config'],
): string | undefined {
  const world = settings.get(worldName) ?? 'whole'
  return world === dev.world
    ? undefined
    : `it holds the ${world} world, which "--world ${world}" goes on with`
}

/**
 * Writes the shipped catalogue when it is not the one the database has: a new version may bring new
 * codes.
 */
function takeCatalogue({ config, settings, series, catalogue }: Services) {
  const words = config.brand.exchangeWords
  const version = catalogueVersion(words)
  if (settings.get('catalogue.version') === version) return
  const shipped = shippedCatalogue(words)
  series.put(shipped.series, shipped.aliases)
  settings.set('catalogue.version', version)
  catalogue.reload()
}
