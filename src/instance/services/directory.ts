import type { Database } from 'bun:sqlite'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { checksumsOf } from '../../database/checkpoint.ts'
import { forgetMark, missingCommits } from '../../database/commit-mark.ts'
import { namingFile, openDatabase, removeDatabase } from '../../database/database.ts'
import { forgetChecksums } from '../../database/page-checksum-file.ts'
import { keepBeforeUpgrade } from '../../database/upgrade.ts'
import { fileFault } from '../../lib/files/file-faults.ts'
import { bytesOf, megabyte } from '../../lib/files/free-space.ts'
import { keepOwner } from '../../lib/files/owner.ts'
import { createReserveFile, type ReserveFile } from '../../lib/files/reserve-file.ts'
import { masterKeyOf } from '../../lib/secrets/master-key.ts'
import { createChangeLog, isLogged, logChanges } from '../../replication/store/change-log.ts'
import { createReplicationState } from '../../replication/store/state.ts'
import { catalogueVersion, shippedCatalogue } from '../../topics/catalogue/files/shipped.ts'
import { createVault } from '../../topics/keys/service/vault.ts'
import { giveUpSealed, opensEverySample } from '../../topics/operator/service/secret-check.ts'
import { createSecretCheckStore } from '../../topics/operator/store/secret-check.ts'
import { claimForProduction, refuseDatabase } from './refusals.ts'
import { openServices, type Services } from './services.ts'

export const databasePath = (dir: string): string => join(dir, 'wellhead.db')

/** Files of a data directory that this program makes; its configuration is not among them. */
const ownFile =
  /^(wellhead\.db|lock|master\.key|commit-mark|rate-windows\.json|metrics-history\.json|reserve|first-credentials|evaluation-keys\.json)/

/** Whether a directory contains files of a data directory. */
export const isDataDirectory = (dir: string): boolean =>
  readdirSync(dir).some(name => ownFile.test(name) || name === 'wellhead.toml')

/** Gives files that a command created as root to the owner of the directory. */
export const keepDirectoryOwner = (dir: string): void => keepOwner(dir, name => ownFile.test(name))

/** Files that a directory has only once it has had a database. */
const remainders: readonly RegExp[] = [
  /^wellhead\.db-(checksums|wal)$/,
  /^wellhead\.db\.(before|schema)-\d+$/,
  /^master\.key$/,
  /^commit-mark$/,
  /^rate-windows\.json$/,
  /^metrics-history\.json$/,
  /^first-credentials$/,
]

/**
 * Reports that the database of a directory is gone or empty although other files show that there
 * was one; undefined for a directory with a database, and for a new one. A new empty database would
 * look like a successful start.
 */
export function lostDatabase(dir: string): string | undefined {
  const path = databasePath(dir)
  if (!existsSync(dir) || bytesOf(path) > 0) return undefined
  const left = readdirSync(dir)
    .filter(name => remainders.some(pattern => pattern.test(name)) && bytesOf(join(dir, name)) > 0)
    .sort()
  if (left.length === 0) return undefined
  return `${path} is ${existsSync(path) ? 'empty' : 'missing'}, but ${left.join(', ')} in the same directory ${left.length === 1 ? 'shows' : 'show'} that a database existed. Put the file back, or restore a backup: wellhead restore --from latest --data ${dir}. To start with an empty database: wellhead serve --new-database --data ${dir}.`
}

const readAndWritten = constants.R_OK | constants.W_OK

/** Existing files that a start opens, with the access it needs. */
const openedFiles: readonly (readonly [name: string, mode: number])[] = [
  ['wellhead.db', readAndWritten],
  ['wellhead.db-wal', readAndWritten],
  ['wellhead.db-shm', readAndWritten],
  ['wellhead.db-checksums', readAndWritten],
  ['lock', readAndWritten],
  ['commit-mark', readAndWritten],
  ['master.key', constants.R_OK],
]

/**
 * Makes the directory where there is none, and throws, before anything is written, what keeps its
 * database from being opened.
 */
export function prepareDirectory(
  dir: string,
  { log, takesNewDatabase }: Pick<ProcessRuntime, 'log' | 'takesNewDatabase'>,
): void {
  const path = databasePath(dir)
  makeDirectory(dir)
  if (existsSync(path))
    usable(path, () => {
      if (statSync(path).isDirectory())
        throw new Error(`${path} must be the database file; got a directory. Move it away.`)
    })
  for (const [name, mode] of openedFiles) {
    const file = join(dir, name)
    if (existsSync(file)) usable(file, () => accessSync(file, mode))
  }
  const lost = lostDatabase(dir)
  if (lost === undefined) return
  if (!takesNewDatabase) throw new Error(lost)
  log.warn('database_replaced', { path, message: 'The database was lost; an empty one begins.' })
  forgetChecksums(path)
  forgetMark(dir)
  removeDatabase(path)
}

/** Creates a directory where there is none. Where it cannot be used, throws with the remedy. */
export const makeDirectory = (dir: string): void =>
  usable(dir, () => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  })

const lockFile = /^lock(-journal|\.json)?$/

/** Removes a directory in which a start that was refused has made nothing but the lock it holds. */
export function removeUnused(dir: string): void {
  if (existsSync(dir) && readdirSync(dir).every(name => lockFile.test(name)))
    rmSync(dir, { recursive: true, force: true })
}

/** Runs work on a file; an error of the file system names the owner of the file and the remedy. */
function usable(path: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    const fault =
      (error as NodeJS.ErrnoException).code === 'EEXIST' &&
      `${path} must be a directory; got a file. Name another with --data.`
    throw new Error(fault || (fileFault(error, path) ?? String((error as Error).message)), {
      cause: error,
    })
  }
}

export interface DirectoryOptions {
  runtime: ProcessRuntime
  dir: string
  /** The directory is opened to be served, not for one command. */
  serving: boolean
  /** The database is a state that was kept in order: nothing of its log can be missing. */
  isState?: boolean
}

/** An open data directory. */
export interface OpenDirectory {
  services: Services
  /** Commits are published; then this is the last change before this start wrote anything. */
  isPublished: boolean
  lastChange: number
}

/**
 * Opens the database of a directory and all services on it, and updates the catalogue. Throws where
 * the directory must not be served, or not in this mode.
 */
export function openDirectory(options: DirectoryOptions): OpenDirectory {
  const path = databasePath(options.dir)
  refuseDatabase(path, options)
  return namingFile(path, () => openNamed(options))
}

function openNamed(options: DirectoryOptions): OpenDirectory {
  const { runtime, dir, serving } = options
  const { config } = runtime
  if (serving) removeUnfinishedRestore(databasePath(dir), runtime.log)
  const db = openStored(options)
  const isPublished = config.mode === 'serve' && config.nats.servers.length > 0
  keepLogging(db, serving ? isPublished : isLogged(db))
  // Read before this start writes anything: a restored database would catch up with the stream.
  const lastChange = isPublished ? createChangeLog(db).last() : 0
  const masterKey = masterKeyOf(dir, config.secrets.masterKey.reveal(), runtime.ids)
  // Before the services are opened, which hold the sealed secrets of endpoints.
  if (serving && runtime.takesNewMasterKey) takeNewMasterKey(db, masterKey, runtime)
  const services = openServices({ ...runtime, db, masterKey })
  if (serving) {
    services.disk.attach(reserveOf(dir, config.data.reserveMb))
    services.vitalsHistory.attach(join(dir, 'metrics-history.json'))
    if (config.mode === 'serve') claimForProduction(services.settings)
  }
  takeCatalogue(services)
  return { services, isPublished, lastChange }
}

/**
 * Removes what a killed restore left, which is as big as the database, and reports it: the operator
 * may believe that the backup is served.
 */
function removeUnfinishedRestore(path: string, log: ProcessRuntime['log']): void {
  const part = `${path}.part`
  if (!existsSync(part)) return
  removeDatabase(part)
  log.warn('restore_interrupted', {
    path: part,
    message: `A restore did not finish. Its file is removed, and ${path} is served as it was: restore again.`,
  })
}

/**
 * Opens the database, which is copied first if it has an older schema, and logs commits that are
 * missing and checksums that were rebuilt.
 */
function openStored({ runtime, dir, isState = false }: DirectoryOptions): Database {
  const { config, log } = runtime
  const path = databasePath(dir)
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true, mode: 0o700 })
  const upgraded = keepBeforeUpgrade(path)
  if (upgraded)
    log.info('upgrade_backup_made', {
      message: `The database of schema ${upgraded.from} was saved as ${upgraded.keptAs}. Restore it to go back to the previous version.`,
    })
  const missing = isState ? undefined : missingCommits(dir, path, log)
  if (missing !== undefined)
    log.error('commits_missing', {
      path,
      message: `The database was not closed, and ${missing}. What it holds is consistent; restore a backup if that has more.`,
    })
  const db = openDatabase(path, {
    autocheckpoint: config.sqlite.autocheckpoint,
    checksums: config.mode === 'serve',
  })
  if (checksumsOf(db)?.isReplaced)
    log.warn('checksums_rebuilt', {
      path,
      message: 'The database is another file than the one that its checksums were of.',
    })
  return db
}

/**
 * The change log is on from the first start of a server that publishes, also for commands that run
 * without NATS settings, until a server starts that does not publish.
 */
function keepLogging(db: Database, isWanted: boolean): void {
  const isGap = isLogged(db) && !isWanted
  if (isGap) createReplicationState(db).set('unlogged', 'yes')
  logChanges(db, isWanted)
}

/** Space reserved for a start on a full disk: for the lock and the index of the WAL. */
export const startReserveOf = (dir: string, megabytes: number): ReserveFile =>
  createReserveFile(join(dir, 'reserve.start'), dir, Math.min(megabytes, 1) * megabyte)

/** Space reserved for a server that runs on a full disk. */
function reserveOf(dir: string, megabytes: number): ReserveFile {
  const [start, running] = [
    startReserveOf(dir, megabytes),
    createReserveFile(join(dir, 'reserve'), dir, megabytes * megabyte),
  ]
  return {
    ...running,
    bytesNeeded: start.bytes + running.bytesNeeded,
    keep: () => start.keep() && running.keep(),
  }
}

/** Gives up what was sealed with a lost key: a start refuses that unless the operator confirmed it. */
function takeNewMasterKey(db: Database, masterKey: string, { ids, log }: ProcessRuntime): void {
  const store = createSecretCheckStore(db)
  const vault = createVault(masterKey)
  if (opensEverySample(vault, store)) return
  log.warn('master_key_replaced', {
    ...giveUpSealed(vault, store, ids),
    message:
      'What was sealed with the lost key is given up: webhooks sign with new secrets, which their owners must fetch, and credentials of data sources must be entered again.',
  })
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
