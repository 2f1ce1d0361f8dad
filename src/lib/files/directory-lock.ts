import { Database, SQLiteError } from 'bun:sqlite'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../text/error-message.ts'
import { isoInstant, parseInstant } from '../time/instant.ts'
import { makePrivate } from './private-file.ts'
import { writeStateFile } from './side-file.ts'

export interface Holder {
  pid: number
  /** The purpose of the process, such as `serve` or `import`. */
  role: string
  startedAt: number
  /** Where it listens, once it does. */
  url?: string
}

/** `heldBy` is undefined while a holder has the lock but has not yet written who it is. */
export type LockResult = Lock | { heldBy: Holder | undefined }

export interface Lock {
  /** Publishes the address at which the holder listens. */
  announce(url: string): void
  release(): void
}

// A connection that is garbage-collected is closed, and its lock with it, so locks stay referenced.
const openLocks = new Set<Database>()

/**
 * Makes this process the only one that may write in `dir`, or returns the current holder.
 * Throws when `dir` cannot hold a lock at all. The lock is SQLite's exclusive lock on
 * `dir/lock`, which the kernel drops with the process however it ends. On POSIX it is also dropped
 * when the holding process closes the file by other means, so nothing else may open `dir/lock`.
 * Where the system supports abstract socket names, the directory itself is locked too, because a
 * lock file can be deleted.
 */
export function lockDataDir(dir: string, holder: Holder): LockResult {
  const sidecar = join(dir, 'lock.json')
  const db = exclusive(dir)
  if (!db) return { heldBy: readHolder(sidecar) }
  openLocks.add(db)
  const name = lockName(dir)
  if (name === 'taken') {
    unlock(db)
    return { heldBy: readHolder(sidecar) }
  }
  try {
    writeHolder(sidecar, holder)
  } catch (error) {
    unlock(db)
    name?.stop(true)
    throw error
  }
  return {
    announce(url) {
      try {
        writeHolder(sidecar, { ...holder, url })
      } catch {
        // A full disk: the server is found by its settings then.
      }
    },
    release() {
      if (!openLocks.has(db)) return
      // First the name, then the lock: the other way round this could remove the next holder's
      // name.
      rmSync(sidecar, { force: true })
      name?.stop(true)
      unlock(db)
    },
  }
}

/**
 * The holder of `dir`; undefined when no process holds it. Takes no lock and writes nothing. A name
 * that a killed process left is recognised by the lock itself, which is tested for an instant.
 */
export function holderOf(dir: string): { heldBy: Holder | undefined } | undefined {
  const [path, sidecar] = [join(dir, 'lock'), join(dir, 'lock.json')]
  if (!existsSync(path) || !existsSync(sidecar)) return undefined
  const db = new Database(path, { readonly: true, strict: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('PRAGMA schema_version')
    return undefined
  } catch (error) {
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY'))
      return { heldBy: readHolder(sidecar) }
    throw error
  } finally {
    db.close()
  }
}

/** `holderOf` holds a shared lock for an instant: a health check must not refuse a start. */
const testedMsMax = 250

/** A connection that holds the exclusive lock; undefined when another one does. */
function exclusive(dir: string): Database | undefined {
  const path = join(dir, 'lock')
  let db: Database | undefined
  try {
    makePrivate(path)
    db = new Database(path, { create: true, strict: true })
    db.run(`PRAGMA busy_timeout = ${testedMsMax}`)
    // Left open until the release: the lock is the transaction's. It writes nothing, so it leaves
    // no journal.
    db.run('BEGIN EXCLUSIVE')
    return db
  } catch (error) {
    db?.close()
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY')) return undefined
    throw new Error(`cannot lock the data directory through ${path}: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

/**
 * Takes a name that the kernel gives to one process at a time, made of what the directory is on its
 * disk; undefined where the system has no such names. A deleted directory that a process still holds
 * had another time of birth, although a new one may get its inode.
 */
function lockName(dir: string): { stop(closeActive: boolean): void } | 'taken' | undefined {
  if (process.platform !== 'linux') return undefined
  const { dev, ino, birthtimeNs } = statSync(dir, { bigint: true })
  try {
    const listener = Bun.listen({
      unix: `\0wellhead-${dev}-${ino}-${birthtimeNs}`,
      socket: { open: socket => void socket.end(), data() {} },
    })
    listener.unref()
    return listener
  } catch (error) {
    return (error as { code?: string }).code === 'EADDRINUSE' ? 'taken' : undefined
  }
}

function unlock(db: Database) {
  openLocks.delete(db)
  db.run('ROLLBACK')
  db.close()
}

function writeHolder(path: string, { pid, role, startedAt, url }: Holder) {
  const text = JSON.stringify({ pid, role, started_at: isoInstant(startedAt), url })
  writeStateFile(path, `${text}\n`)
}

function readHolder(path: string): Holder | undefined {
  try {
    const { pid, role, started_at, url } = JSON.parse(readFileSync(path, 'utf8')) as Record<
      string,
      unknown
    >
    const startedAt = typeof started_at === 'string' ? parseInstant(started_at) : undefined
    return typeof pid === 'number' && typeof role === 'string' && startedAt !== undefined
      ? { pid, role, startedAt, ...(typeof url === 'string' && { url }) }
      : undefined
  } catch {
    return undefined
  }
}
