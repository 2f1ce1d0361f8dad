import type { Database } from 'bun:sqlite'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { checkpoint } from '../../database/checkpoint.ts'
import { forgetMark } from '../../database/commit-mark.ts'
import { damagedPages } from '../../database/damaged-pages.ts'
import {
  copyDatabase,
  integrityFaults,
  namesOfPages,
  openDatabase,
  removeDatabase,
  versionOf,
} from '../../database/database.ts'
import { identityOf, missingParts } from '../../database/identity.ts'
import { schemaVersion } from '../../database/migrations.ts'
import { forgetChecksums } from '../../database/page-checksum-file.ts'
import { readWal } from '../../database/write-ahead-log.ts'
import {
  databasePath,
  keepDirectoryOwner,
  makeDirectory,
} from '../../instance/services/directory.ts'
import { checksumFault } from '../../lib/files/checksum-file.ts'
import { type Lock, lockDataDir } from '../../lib/files/directory-lock.ts'
import { bytesOf, requireSpace } from '../../lib/files/free-space.ts'
import { makePrivate, privateMode } from '../../lib/files/private-file.ts'
import { syncToDisk } from '../../lib/files/side-file.ts'
import { workingFile } from '../../lib/files/working-file.ts'
import type { Ids } from '../../lib/ids.ts'
import { masterKeyPath } from '../../lib/secrets/master-key.ts'
import { errorMessage } from '../../lib/text/error-message.ts'
import { holdBack, type KeptBack } from '../../outbox/held-back.ts'
import { noteRestored } from '../../replication/store/state.ts'
import { flushedMeanwhile } from '../../threads/file-syncer.ts'
import { createVault } from '../../topics/keys/service/vault.ts'
import { opensEverySample } from '../../topics/operator/service/secret-check.ts'
import { auditFaults } from '../../topics/operator/store/audit.ts'
import {
  createSecretCheckStore,
  type SecretCheckStore,
} from '../../topics/operator/store/secret-check.ts'
import { createObservationStore } from '../../topics/prices/store/observations.ts'
import { Temporary } from '../exit-codes.ts'
import { credentialsPath } from '../server/first-start.ts'

/**
 * The faults of a database file: the checksum next to it, application id, missing tables, SQLite's
 * own checks, references, bars against their observations, and the hash chain of the audit trail.
 * The file is only read, so it may run next to a server.
 */
export function verifyFile(path: string): string[] {
  if (!existsSync(path)) throw new Error(`${path}: there is no such file`)
  const mismatch = checksumFault(path)
  const faults = mismatch === undefined ? [] : [mismatch]
  // Before SQLite opens the file: closing it here would end SQLite's locks on it.
  const pages = damagedPages(path) ?? []
  try {
    return [...faults, ...faultsOf(path, pages)]
  } catch (error) {
    if (pages.length > 0) faults.push(textOf(pages))
    if (faults.length === 0 && (error as NodeJS.ErrnoException).code === 'SQLITE_NOTADB')
      throw new Error(`${path} must be a database or backup of Wellhead; got another kind of file`)
    if (faults.length === 0) throw error
    return [...faults, errorMessage(error)]
  }
}

function faultsOf(path: string, pages: readonly number[]): string[] {
  const db = openDatabase(path, { readonly: true })
  try {
    if (identityOf(db) === 'empty') return ['it is empty and not a database of this program']
    if (versionOf(db) < schemaVersion)
      return [...walFaults(path), ...pageFaults(db, pages), ...faultsAfterUpgrade(path)]
    const missing = missingParts(db)
    return [
      ...walFaults(path),
      ...pageFaults(db, pages),
      ...integrityFaults(db),
      ...missing,
      ...(missing.length > 0 ? [] : [...createObservationStore(db).faults(), ...auditFaults(db)]),
    ]
  } finally {
    db.close()
  }
}

/** An older database is checked as its upgrade leaves it: on a copy next to it, which is removed. */
function faultsAfterUpgrade(path: string): string[] {
  const copy = workingFile(dirname(path), basename(path))
  try {
    makePrivate(copy)
    copyDatabase(path, copy)
    openDatabase(copy).close()
    return verifyFile(copy)
  } finally {
    removeDatabase(copy)
  }
}

const textOf = (pages: readonly number[]): string =>
  pages.length === 1
    ? `page ${pages[0]} is damaged`
    : `${pages.length} pages are damaged, the first is ${pages[0]}`

/** Pages that do not match their checksums, with the tables and indexes that they belong to. */
function pageFaults(db: Database, pages: readonly number[]): string[] {
  if (pages.length === 0) return []
  const names = namesOfPages(db, pages)
  return [`${textOf(pages)}${names.length > 0 ? ` (of ${names.join(', ')})` : ''}`]
}

/** Commits in the WAL that SQLite will ignore when it opens the database. */
function walFaults(path: string): string[] {
  const wal = readWal(path)
  if (wal?.brokenAt === undefined || wal.commitsAfter < 2) return []
  return [
    `its write-ahead log is damaged at frame ${wal.brokenAt}: ${wal.commitsAfter} commits from there on are lost`,
  ]
}

/** A consistent copy of a database that may be in use, checked before it gets its name. */
export function backup(dir: string, target: string): void {
  if (existsSync(target))
    throw new Error(
      `${target} already exists, and a backup never overwrites a file: choose another name`,
    )
  const path = databasePath(dir)
  const part = workingFile(dirname(target), basename(target))
  requireSpace(dirname(target), bytesOf(path) + bytesOf(`${path}-wal`), `a backup of ${path}`)
  try {
    makePrivate(part)
    flushedMeanwhile(part, () => copyDatabase(path, part))
    const faults = verifyFile(part)
    if (faults.length > 0) throw new Error(`the backup is damaged: ${faults[0]}`)
    syncToDisk(part)
    renameSync(part, target)
    syncToDisk(dirname(target))
  } finally {
    removeDatabase(part)
  }
}

export interface RestoreOptions {
  at: number
  ids: Ids
  /** Sends messages that were pending in the backup; by default they are held back. */
  releaseOutbox?: boolean
  /** The configured master key; empty: the key is in a file of the directory. */
  masterKey?: string
  /** Restores sealed data even though no key opens it: the operator confirmed that. */
  withoutMasterKey?: boolean
  /** The file is a snapshot of the stream of changes, and replication continues after it. */
  isOfStream?: boolean
  /** The caller has the lock of the directory. */
  isLocked?: boolean
}

export interface Restored {
  path: string
  /** The database that was replaced. */
  keptAs: string | undefined
  keptBack: KeptBack | undefined
  /** When anything was last recorded in it, Unix ms. */
  newestAt: number | undefined
  /** The directory has a master key, or the configuration names one. */
  hasMasterKey: boolean
}

/**
 * Replaces the database of a directory that no process uses by a verified backup. The replaced
 * database is kept in the same directory. A crash leaves one or the other: the new file is
 * complete, including its held messages, before it gets the name.
 */
export function restore(dir: string, source: string, options: RestoreOptions): Restored {
  const faults = verifyFile(source)
  if (faults.length > 0) throw new Error(`${source} is damaged and was not restored: ${faults[0]}`)
  const isNew = !existsSync(dir)
  makeDirectory(dir)
  const lock = options.isLocked ? undefined : lockOf(dir, 'restore', options.at)
  let isDone = false
  try {
    const restored = putInPlace(dir, source, options)
    isDone = true
    return restored
  } finally {
    if (isNew && !isDone) rmSync(dir, { recursive: true, force: true })
    else keepDirectoryOwner(dir)
    lock?.release()
  }
}

/** The lock of a directory that no server may use while a command replaces its database. */
export function lockOf(dir: string, role: string, at: number): Lock {
  const lock = lockDataDir(dir, { pid: process.pid, role, startedAt: at })
  if ('heldBy' in lock) throw new Temporary(`${dir} is in use; stop the server first`)
  return lock
}

function putInPlace(dir: string, source: string, options: RestoreOptions): Restored {
  const { at, masterKey = '', isOfStream = false } = options
  const path = databasePath(dir)
  const part = `${path}.part`
  try {
    // Removes the rest of an earlier restore too: SQLite would take a WAL there for that of the
    // copy.
    removeDatabase(part)
    copyFileSync(source, part)
    // The backup may be a read-only file.
    chmodSync(part, privateMode)
    const settled = isOfStream ? undefined : settle(part, dir, source, options)
    if (!isOfStream) noteRestored(part)
    syncToDisk(part)
    const keptAs = existsSync(path) ? keep(path, `${path}.before-${at}`) : undefined
    removeWal(path)
    forgetMark(dir)
    forgetChecksums(path)
    renameSync(part, path)
    // They are of the replaced database, and a start would point to them.
    const credentials = credentialsPath(dir)
    if (existsSync(credentials)) renameSync(credentials, `${credentials}.before-${at}`)
    syncToDisk(dir)
    return {
      path,
      keptAs,
      keptBack: settled?.keptBack,
      newestAt: settled?.newestAt,
      hasMasterKey: masterKey !== '' || existsSync(masterKeyPath(dir)),
    }
  } finally {
    removeDatabase(part)
  }
}

/**
 * Checks that the secrets of the restored file can be opened, and holds back its waiting messages.
 */
function settle(part: string, dir: string, source: string, options: RestoreOptions) {
  const { at, ids, releaseOutbox = false, masterKey = '', withoutMasterKey = false } = options
  const settled = checkpointed(part, db => {
    const store = createSecretCheckStore(db)
    if (!withoutMasterKey) refuseUnopened(store, dir, source, masterKey)
    const newestAt = store.newestAt()
    return { newestAt, keptBack: releaseOutbox ? undefined : holdBack(db, at, ids) }
  })
  refuseWal(part)
  removeWal(part)
  return settled
}

/** A database whose secrets no key opens starts, and then signs nothing and fetches nothing. */
function refuseUnopened(store: SecretCheckStore, dir: string, source: string, masterKey: string) {
  const count = store.sealedCount()
  if (count === 0) return
  const path = masterKeyPath(dir)
  const place = masterKey === '' ? path : 'secrets.master_key'
  const key = masterKey || (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')
  if (key !== '' && opensEverySample(createVault(key), store)) return
  const what = key === '' ? `${path} is missing` : `${place} does not open them`
  throw new Error(
    `${source} was not restored: it holds ${count} sealed ${count === 1 ? 'secret' : 'secrets'} (webhook secrets, credentials), and ${what}. Put the master key that belongs to this backup into ${path}, or name its file in WELLHEAD_SECRETS_MASTER_KEY_FILE. If it is lost, add --without-master-key; the first start then needs --new-master-key, and those secrets have to be entered again.`,
  )
}

/** Runs work on a database, and checkpoints its WAL afterwards. */
function checkpointed<T>(path: string, work: (db: Database) => T): T {
  const db = openDatabase(path)
  try {
    const result = work(db)
    checkpoint(db)
    return result
  } finally {
    db.close()
  }
}

/** Gives a database a second name, which it keeps when another file takes the first one. */
function keep(path: string, name: string): string {
  // Comes before the file is opened, because SQLite deletes the WAL of a file that is not a valid
  // database.
  if (hasWal(path)) second(`${path}-wal`, `${name}-wal`)
  if (isCheckpointed(path)) {
    rmSync(`${name}-wal`, { force: true })
    refuseWal(path)
  }
  second(path, name)
  return name
}

/** Checkpoints the WAL that a killed process left; false for a file that cannot be read. */
function isCheckpointed(path: string): boolean {
  try {
    checkpointed(path, () => undefined)
    return true
  } catch {
    return false
  }
}

/** Throws if a WAL is left: while another process reads it, it cannot be checkpointed. */
function refuseWal(path: string): void {
  if (hasWal(path))
    throw new Temporary(`${path} is in use by another process; nothing was restored`)
}

function second(path: string, name: string): void {
  try {
    linkSync(path, name)
  } catch {
    // The file system may not support hard links.
    copyFileSync(path, name)
    syncToDisk(name)
  }
}

const hasWal = (path: string): boolean =>
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0

function removeWal(path: string): void {
  for (const tail of ['-wal', '-shm']) rmSync(path + tail, { force: true })
}
