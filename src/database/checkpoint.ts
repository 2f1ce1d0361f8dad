import { Database } from 'bun:sqlite'
import { soon } from '../lib/time/clock.ts'
import { keepChecksums, type PageChecksums } from './page-checksums.ts'

interface CheckpointState {
  checksums: PageChecksums
  /** The WAL is checkpointed when it has this many pages. */
  pagesMax: number
  /** A checkpoint follows in a later turn of this thread. */
  isDue: boolean
  /** Checkpoints in another thread; undefined: only this thread does. */
  elsewhere: CheckpointElsewhere | undefined
  /** Set while the other thread checkpoints. */
  inProgress: Promise<void> | undefined
  /** The WAL has to be truncated once the other thread has finished. */
  mustTruncate: boolean
}

interface CheckpointElsewhere {
  /** Calls `checkpointWal` in another thread. */
  run(): Promise<void>
  /** Holds the state of the database that the other thread checkpoints. */
  reader: Database
}
const states = new WeakMap<Database, CheckpointState>()

/**
 * Keeps checksums of a database. From now on this process checkpoints its WAL: when the WAL has
 * grown to `pagesMax`, and when the database is closed.
 */
export function checkpointWithChecksums(db: Database, path: string, pagesMax: number): void {
  const checksums = keepChecksums(db, path)
  const state: CheckpointState = {
    checksums,
    pagesMax,
    isDue: false,
    elsewhere: undefined,
    inProgress: undefined,
    mustTruncate: false,
  }
  states.set(db, state)
  const close = db.close.bind(db)
  db.close = throwOnError => {
    if (states.delete(db)) {
      state.elsewhere?.reader.close()
      attemptCheckpoint(() => checksums.checkpoint('TRUNCATE'))
    }
    close(throwOnError)
  }
}

/**
 * From now on `run`, which calls `checkpointWal` in another thread, checkpoints the WAL of a
 * database with checksums. A slow disk then delays that thread, and this one only checkpoints what
 * was written in the meantime. Nothing changes for a database without checksums. Returns a function
 * that waits until no checkpoint is running.
 */
export function checkpointElsewhere(
  db: Database,
  path: string,
  run: () => Promise<void>,
): () => Promise<void> {
  const state = states.get(db)
  if (state) state.elsewhere = { run, reader: new Database(path, { readonly: true }) }
  return async () => state?.inProgress
}

/**
 * Checkpoints the WAL of a database that another connection of this process writes, as far as open
 * read transactions allow.
 */
export function checkpointWal(path: string): void {
  const db = new Database(path, { readwrite: true })
  try {
    db.run('PRAGMA synchronous = FULL')
    db.run('PRAGMA wal_checkpoint(PASSIVE)')
  } finally {
    db.close()
  }
}

/** A checkpoint that fails now is repeated later; until then the WAL holds the same data. */
export function attemptCheckpoint(work: () => void): void {
  try {
    work()
  } catch {
    // The next write or read reports a full disk or a damaged file.
  }
}

/** The checksums of a database; undefined for a database without checksums. */
export const checksumsOf = (db: Database): PageChecksums | undefined => states.get(db)?.checksums

/**
 * Checkpoints the WAL of a database with checksums when it has grown long, as SQLite does by itself.
 * The checkpoint waits until requests that came during the write are answered. A WAL that has grown
 * much longer is checkpointed at once, because work that never pauses would let it grow without end.
 */
export function checkpointLongWal(db: Database): void {
  const state = states.get(db)
  if (!state || db.inTransaction) return
  const wanted = workDue(state)
  if (wanted === 'checkpoint at once') checkpointHere(state)
  else if (wanted !== undefined) checkpointAfterRequests(db, state)
}

/**
 * The work that is due at this length of the WAL: writing checksums of its newest part, or a
 * checkpoint.
 */
function workDue({ checksums, pagesMax, elsewhere, inProgress }: CheckpointState) {
  const part = pagesMax / 4
  const { toCheckpoint, sinceCheckpoint, framesBehind } = checksums.logPages()
  if (inProgress) return framesBehind >= part ? 'checksums' : undefined
  // While a read transaction delays a checkpoint, not every commit tries again.
  if (toCheckpoint >= pagesMax && sinceCheckpoint >= part)
    return toCheckpoint >= (elsewhere ? longestWal : 2) * pagesMax
      ? 'checkpoint at once'
      : 'checkpoint'
  return framesBehind >= part ? 'checksums' : undefined
}

/** The next turn answers requests that came during the write; the one after it is for the WAL. */
function checkpointAfterRequests(db: Database, state: CheckpointState): void {
  if (state.isDue) return
  state.isDue = true
  soon(() =>
    soon(() => {
      state.isDue = false
      // The database may have been closed or checkpointed in the meantime.
      if (states.get(db) !== state || db.inTransaction) return
      const wanted = workDue(state)
      if (wanted === 'checksums') state.checksums.update()
      else if (wanted === undefined) return
      else if (state.elsewhere) beginCheckpointThere(db, state, state.elsewhere)
      else checkpointHere(state)
    }),
  )
}

const checkpointHere = ({ checksums }: CheckpointState) =>
  attemptCheckpoint(() => checksums.checkpoint('PASSIVE'))

/** A WAL that another thread checkpoints may grow to this multiple of its usual length. */
const longestWal = 8

/**
 * The other thread checkpoints the WAL as far as its checksums are written. A read transaction
 * holds that state until then, so that SQLite does not restart the WAL. SQLite restarts a WAL that
 * is completely checkpointed, so this thread checkpoints what was written in the meantime.
 */
function beginCheckpointThere(
  db: Database,
  state: CheckpointState,
  elsewhere: CheckpointElsewhere,
): void {
  state.checksums.update()
  state.inProgress = runWhileReading(elsewhere).then(() => {
    state.inProgress = undefined
    // The database may have been closed in the meantime, and its read transaction with it.
    if (states.get(db) !== state) return
    if (elsewhere.reader.inTransaction) elsewhere.reader.run('ROLLBACK')
    const { checksums, pagesMax, mustTruncate } = state
    state.mustTruncate = false
    const { all, toCheckpoint } = checksums.logPages()
    if (mustTruncate) attemptCheckpoint(() => checksums.checkpoint('TRUNCATE'))
    else if (toCheckpoint === 0 || all >= longestWal * pagesMax) checkpointHere(state)
    else checksums.noteCheckpoint()
  })
}

/** Resolves when the other thread has finished. */
async function runWhileReading({ run, reader }: CheckpointElsewhere): Promise<void> {
  try {
    reader.run('BEGIN')
    reader.query('SELECT 1 FROM sqlite_schema').get()
    await run()
  } catch {
    // The thread that writes checkpoints the rest.
  }
}

/** Copies the WAL into the database file and truncates it. */
export function checkpoint(db: Database): void {
  const state = states.get(db)
  if (!state) db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  // SQLite would wait for the other thread's read transaction, so the WAL is truncated after that
  // has ended.
  else if (state.inProgress) state.mustTruncate = true
  else state.checksums.checkpoint('TRUNCATE')
}
