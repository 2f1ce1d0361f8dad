import { constants, Database } from 'bun:sqlite'
import { existsSync, rmSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import schema from '../../schema.sql' with { type: 'text' }
import { ConfigProblem } from '../config/config.ts'
import { fileFault } from '../lib/files/file-faults.ts'
import { closeToOthers, makePrivate } from '../lib/files/private-file.ts'
import {
  attemptCheckpoint,
  checkpoint,
  checkpointLongWal,
  checkpointWithChecksums,
  checksumsOf,
} from './checkpoint.ts'
import { noteMissedRows } from './dataset-log.ts'
import { applicationId, identityOf } from './identity.ts'
import { migrate, schemaVersion } from './migrations.ts'
import { checksumsPath, forgetChecksums } from './page-checksum-file.ts'
import { keepRevisions } from './revisions.ts'
import { noteBatchRows } from './undo-triggers.ts'

export interface OpenOptions {
  /**
   * How long a statement waits for another process's lock. It blocks the whole event loop, so it
   * stays at or under 250 ms.
   */
  busyTimeoutMs?: number
  /**
   * Pages in the write-ahead log before SQLite copies them back; 0 leaves checkpoints to a
   * replicator.
   */
  autocheckpoint?: number
  /** Keeps checksums of its pages from now on; a database that has them keeps them in any case. */
  checksums?: boolean
  readonly?: boolean
  /**
   * No process writes to the database and it has no WAL: it is read without creating files in its
   * directory.
   */
  immutable?: boolean
}

/**
 * Opens the database and brings it to this version's schema. Throws when the file was written by a
 * newer version.
 */
export function openDatabase(path: string, options: OpenOptions = {}): Database {
  return namingFile(path, () => openNamed(path, options))
}

const repair =
  'Restore a backup with "wellhead restore"; the damaged file is preserved. "wellhead verify" lists the damage.'

const writable =
  'This user must be able to write to its directory: mount it writable, or copy it to one that is.'

const room =
  'The write was undone. Free at least as much disk space as the database takes, and try again.'

const advices: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^SQLITE_(CORRUPT|NOTADB)/, repair],
  [/^SQLITE_CANTOPEN/, writable],
  [/^SQLITE_FULL/, room],
]

/** What the reader can do about an error of SQLite. */
const adviceOf = (code: string): string => {
  const [, advice] = advices.find(([known]) => known.test(code)) ?? []
  return advice === undefined ? '' : `. ${advice}`
}

/** Runs work on a database; an error that makes the database unusable names its file. */
export function namingFile<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error) || path === inMemory || error.message.includes(path)) throw error
    // A refused setting does not concern the file.
    if (error instanceof ConfigProblem) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    const text = fileFault(error, path) ?? `${path}: ${error.message}${adviceOf(code)}`
    throw Object.assign(new Error(text, { cause: error }), { code })
  }
}

function openNamed(path: string, options: OpenOptions): Database {
  const isWritten = !options.readonly && !options.immutable
  const hasFile = isWritten && path !== inMemory
  if (hasFile) closeFiles(path)
  const hasChecksums = hasFile && keepsChecksums(path, options)
  const db = options.immutable
    ? new Database(
        `${pathToFileURL(path)}?immutable=1`,
        constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
      )
    : new Database(
        path,
        options.readonly ? { readonly: true, strict: true } : { create: true, strict: true },
      )
  try {
    db.run(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 250}`)
    if (identityOf(db) === 'foreign') throw new Error(`${path} is a database of another program`)
    const version = versionOf(db)
    if (isWritten) {
      // SQLite would checkpoint pages without a checksum.
      prepareForWriting(db, version, hasChecksums ? 0 : (options.autocheckpoint ?? pagesMax))
    }
    prepareForReading(db)
    if (hasChecksums) checkpointWithChecksums(db, path, options.autocheckpoint ?? pagesMax)
    return db
  } catch (error) {
    // SQLite checkpoints the WAL of a database that it closes.
    if (hasChecksums && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
      forgetChecksums(path)
    db.close()
    throw error
  }
}

const inMemory = ':memory:'
/** How many pages the WAL has when it is checkpointed. */
const pagesMax = 1000

/** Pages that a replicator checkpoints get no checksums, and would be taken for damage. */
function keepsChecksums(path: string, { autocheckpoint, checksums = false }: OpenOptions): boolean {
  if (autocheckpoint !== 0) return checksums || existsSync(checksumsPath(path))
  forgetChecksums(path)
  return false
}

/** SQLite gives a new WAL and its index the permissions of the database. */
function closeFiles(path: string): void {
  makePrivate(path)
  for (const tail of ['-wal', '-shm']) closeToOthers(path + tail)
}

/**
 * The schema version of a database; 0 is a file whose schema was never written, as a start that was
 * killed at once leaves it.
 */
export function versionOf(db: Database): number {
  const { user_version: version } = db.query('PRAGMA user_version').get() as {
    user_version: number
  }
  if (version <= schemaVersion) return version
  throw new Error(
    `the database has schema version ${version} and this program knows up to ${schemaVersion}: run the newer program, or restore a backup made by this one`,
  )
}

function prepareForWriting(db: Database, version: number, autocheckpoint: number) {
  // WAL mode: readers never wait for the writer, and replicators require it.
  db.run('PRAGMA journal_mode = WAL')
  // FULL: acknowledged rows survive a power cut. NORMAL lost acknowledged rows in nearly every
  // simulated cut.
  db.run('PRAGMA synchronous = FULL')
  db.run(`PRAGMA wal_autocheckpoint = ${autocheckpoint}`)
  // The log is cut back to 64 MB after a checkpoint, so that one large import does not hold the
  // disk for ever.
  db.run('PRAGMA journal_size_limit = 67108864')
  if (version === 0) {
    transact(db, () => {
      db.run(schema)
      db.run(`PRAGMA user_version = ${schemaVersion}`)
      db.run(`PRAGMA application_id = ${applicationId}`)
      keepRevisions(db)
      noteBatchRows(db)
    })
  } else if (version !== schemaVersion)
    // These triggers are made from the tables, and those change only by migrations.
    transact(db, () => {
      migrate(db, version)
      keepRevisions(db)
      noteBatchRows(db)
      noteMissedRows(db)
    })
}

export function prepareForReading(db: Database) {
  // 8 MB of pages: the upper levels of every tree of a large database. Everything else comes from
  // the page cache of the kernel. Each connection has its own.
  db.run('PRAGMA cache_size = -8192')
  // After the migrations: one that builds a table again must be able to drop the old one.
  db.run('PRAGMA foreign_keys = ON')
  db.run('PRAGMA temp_store = MEMORY')
  db.run('PRAGMA trusted_schema = OFF')
}

/** Transactions that have begun on a connection. */
const begun = new WeakMap<Database, number>()

const beginning = (db: Database): void => {
  if (!db.inTransaction) begun.set(db, (begun.get(db) ?? 0) + 1)
}

/** A number that identifies the current transaction of a connection; outside of one, the next. */
export const transactionNumber = (db: Database): number =>
  (begun.get(db) ?? 0) + (db.inTransaction ? 0 : 1)

const undoneListeners = new WeakMap<Database, (() => void)[]>()

/**
 * Adds a listener for rolled-back transactions of a connection: data that was read within one is
 * invalid.
 */
export function onUndone(db: Database, listener: () => void): void {
  undoneListeners.set(db, [...(undoneListeners.get(db) ?? []), listener])
}

const notifyUndone = (db: Database): void => {
  for (const listener of undoneListeners.get(db) ?? []) listener()
}

/**
 * Runs `work` as one write transaction that takes the write lock at once, so that it cannot fail
 * half-way for want of it. Refuses work that returns a promise: SQLite would commit at its first
 * await.
 */
export function transact<T>(db: Database, work: () => T): T {
  beginning(db)
  const run = db.transaction(() => {
    const result = work()
    if (isThenable(result)) throw new Error('a transaction must not await')
    return result
  })
  let result: T
  try {
    result = run.immediate()
  } catch (error) {
    notifyUndone(db)
    throw error
  }
  checkpointLongWal(db)
  return result
}

/**
 * Runs reads that must see one state of the database, whatever others commit in the meantime.
 */
export function readAtOnce<T>(db: Database, read: () => T): T {
  if (db.inTransaction) return read()
  db.run('BEGIN')
  try {
    return read()
  } finally {
    // A full disk may have ended it.
    if (db.inTransaction) db.run('COMMIT')
  }
}

/**
 * Runs transactions that delete data permanently: its bytes in the file are overwritten, and the
 * WAL, which holds the old pages, is checkpointed. A WAL that a replicator checkpoints keeps them
 * until then.
 */
export function withoutTraces<T>(db: Database, work: () => T): T {
  db.run('PRAGMA secure_delete = ON')
  try {
    return work()
  } finally {
    db.run('PRAGMA secure_delete = OFF')
    const { wal_autocheckpoint: pages } = db.query('PRAGMA wal_autocheckpoint').get() as {
      wal_autocheckpoint: number
    }
    if (checksumsOf(db) || pages > 0) attemptCheckpoint(() => checkpoint(db))
  }
}

/** Returns the result of a transaction that is rolled back. */
export function rehearse<T>(db: Database, work: () => T): T {
  const takenBack = new Error('a rehearsal is taken back')
  let answer: { result: T } | undefined
  beginning(db)
  try {
    db.transaction(() => {
      answer = { result: work() }
      throw takenBack
    }).immediate()
  } catch (error) {
    if (error !== takenBack) throw error
  } finally {
    notifyUndone(db)
  }
  return answer!.result
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** The result of SQLite's integrity check: an empty list when the file is sound. */
export function integrityFaults(db: Database): string[] {
  const rows = db.query('PRAGMA integrity_check').all() as { integrity_check: string }[]
  const faults = rows.map(row => row.integrity_check).filter(text => text !== 'ok')
  const orphans = db.query('PRAGMA foreign_key_check').all() as { table: string; rowid: number }[]
  return [...faults, ...orphans.map(row => `${row.table}: row ${row.rowid} refers to nothing`)]
}

/**
 * The tables and indexes that pages belong to; none for unused pages, and where the damage keeps
 * SQLite from finding out.
 */
export function namesOfPages(db: Database, pages: readonly number[]): string[] {
  try {
    return db
      .query<{ name: string }, [string]>(
        'SELECT DISTINCT name FROM dbstat WHERE pageno IN (SELECT value FROM json_each(?)) ORDER BY 1',
      )
      .all(JSON.stringify(pages))
      .map(row => row.name)
  } catch {
    return []
  }
}

/**
 * The quick part of the integrity check: every page, but neither indexes against their tables nor
 * references.
 */
export const quickFaults = (db: Database): string[] =>
  (db.query('PRAGMA quick_check').all() as { quick_check: string }[])
    .map(row => row.quick_check)
    .filter(text => text !== 'ok')

/** Deletes a database with its WAL and the index of that. */
export function removeDatabase(path: string): void {
  for (const tail of ['', '-wal', '-shm']) rmSync(path + tail, { force: true })
}

/**
 * Closes a database and removes its WAL. Where another program checkpoints the WAL, it stays and the
 * file is not touched.
 */
export function closeDatabase(db: Database, path: string, keepsLog = false): void {
  if (!keepsLog) {
    checkpoint(db)
    db.close()
    return
  }
  // SQLite copies the log back when the last connection that may write is not the last one at all.
  const keeper = new Database(path, { readonly: true })
  keeper.query('SELECT 1 FROM sqlite_schema').get()
  db.close()
  keeper.close()
}

/**
 * Writes a consistent, compact copy of a database to a new file, while other connections keep using
 * it.
 */
export function copyDatabase(from: string, to: string): void {
  // SQLite takes an empty file for one that is not there.
  makePrivate(to)
  const db = openDatabase(from, { readonly: true })
  try {
    db.query('VACUUM INTO ?').run(to)
  } finally {
    db.close()
  }
}
