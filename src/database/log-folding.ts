import { Database } from 'bun:sqlite'
import { soon } from '../lib/time/clock.ts'
import { keepChecksums, type PageChecksums } from './page-checksums.ts'

interface Folding {
  checksums: PageChecksums
  /** Of the log, before it is folded. */
  pagesMax: number
  /** It is about to be folded. */
  isDue: boolean
  /** Has it folded outside of this thread; undefined: nobody does. */
  elsewhere: FoldElsewhere | undefined
  /** While it is folded elsewhere. */
  underWay: Promise<void> | undefined
  /** It was to be emptied meanwhile. */
  isToBeEmptied: boolean
}

interface FoldElsewhere {
  /** Calls `foldLog` in another thread. */
  fold(): Promise<void>
  /** Reads the state of the database that the thread folds. */
  reader: Database
}
const foldings = new WeakMap<Database, Folding>()

/**
 * Keeps checksums of a database, whose log is folded here from now on: where it has grown to `pagesMax`,
 * and when the database is closed.
 */
export function foldWithChecksums(db: Database, path: string, pagesMax: number): void {
  const checksums = keepChecksums(db, path)
  const folding: Folding = {
    checksums,
    pagesMax,
    isDue: false,
    elsewhere: undefined,
    underWay: undefined,
    isToBeEmptied: false,
  }
  foldings.set(db, folding)
  const close = db.close.bind(db)
  db.close = throwOnError => {
    if (foldings.delete(db)) {
      folding.elsewhere?.reader.close()
      attemptFold(() => checksums.fold('TRUNCATE'))
    }
    close(throwOnError)
  }
}

/**
 * From now on the log of a database with checksums is folded by `fold`, which calls `foldLog` in a
 * thread of its own: the disk may take its time, and only what was written meanwhile is left for this
 * one. Nothing changes for a database without checksums. Answers how to wait until no fold is under
 * way.
 */
export function foldElsewhere(
  db: Database,
  path: string,
  fold: () => Promise<void>,
): () => Promise<void> {
  const folding = foldings.get(db)
  if (folding) folding.elsewhere = { fold, reader: new Database(path, { readonly: true }) }
  return async () => folding?.underWay
}

/** Folds the log of a database that another connection of this process writes, as far as that lets it. */
export function foldLog(path: string): void {
  const db = new Database(path, { readwrite: true })
  try {
    db.run('PRAGMA synchronous = FULL')
    db.run('PRAGMA wal_checkpoint(PASSIVE)')
  } finally {
    db.close()
  }
}

/** A log that cannot be folded now is folded later; what it holds is as safe. */
export function attemptFold(fold: () => void): void {
  try {
    fold()
  } catch {
    // A full disk and a damaged file are told by the next write or read.
  }
}

/** The checksums that are kept of a database; undefined where none are. */
export const checksumsOf = (db: Database): PageChecksums | undefined => foldings.get(db)?.checksums

/**
 * Folds the log of a database with checksums where it has grown long, as SQLite does by itself. Not at
 * once: whoever asked meanwhile waits for the write, and is answered before the fold. Where it has grown
 * much longer it is folded here, because work that never pauses would let it grow for ever.
 */
export function foldLongLog(db: Database): void {
  const folding = foldings.get(db)
  if (!folding || db.inTransaction) return
  const wanted = wantedBy(folding)
  if (wanted === 'fold at once') fold(folding)
  else if (wanted !== undefined) tendAfterOthers(db, folding)
}

/** What a log wants that has grown: a part of it wants its checksums, the whole of it the fold. */
function wantedBy({ checksums, pagesMax, elsewhere, underWay }: Folding) {
  const part = pagesMax / 4
  const { toFold, sinceFold, toTakeIn } = checksums.logPages()
  if (underWay) return toTakeIn >= part ? 'checksums' : undefined
  // While a reader holds a checkpoint up, not every commit tries again.
  if (toFold >= pagesMax && sinceFold >= part)
    return toFold >= (elsewhere ? longestLog : 2) * pagesMax ? 'fold at once' : 'fold'
  return toTakeIn >= part ? 'checksums' : undefined
}

/** What came while this was written is answered in the next turn; the log has the one after it. */
function tendAfterOthers(db: Database, folding: Folding): void {
  if (folding.isDue) return
  folding.isDue = true
  soon(() =>
    soon(() => {
      folding.isDue = false
      // Meanwhile it may have been closed, or folded.
      if (foldings.get(db) !== folding || db.inTransaction) return
      const wanted = wantedBy(folding)
      if (wanted === 'checksums') folding.checksums.takeIn()
      else if (wanted === undefined) return
      else if (folding.elsewhere) beginFoldThere(db, folding, folding.elsewhere)
      else fold(folding)
    }),
  )
}

const fold = ({ checksums }: Folding) => attemptFold(() => checksums.fold('PASSIVE'))

/** A log that is folded elsewhere may be so many times as long before it is begun anew. */
const longestLog = 8

/**
 * Has the log folded by the other thread as far as its checksums are written: the reader holds that
 * state, and keeps the log from being begun anew, until it is. A log is begun anew when all of it is
 * folded, so what came meanwhile is at last folded here.
 */
function beginFoldThere(db: Database, folding: Folding, elsewhere: FoldElsewhere): void {
  folding.checksums.takeIn()
  folding.underWay = whileHeld(elsewhere).then(() => {
    folding.underWay = undefined
    // Meanwhile it may have been closed, and the reader with it.
    if (foldings.get(db) !== folding) return
    if (elsewhere.reader.inTransaction) elsewhere.reader.run('ROLLBACK')
    const { checksums, pagesMax, isToBeEmptied } = folding
    folding.isToBeEmptied = false
    const { all, toFold } = checksums.logPages()
    if (isToBeEmptied) attemptFold(() => checksums.fold('TRUNCATE'))
    else if (toFold === 0 || all >= longestLog * pagesMax) fold(folding)
    else checksums.noteFold()
  })
}

/** Resolves when the other thread has done what it could. */
async function whileHeld({ fold, reader }: FoldElsewhere): Promise<void> {
  try {
    reader.run('BEGIN')
    reader.query('SELECT 1 FROM sqlite_schema').get()
    await fold()
  } catch {
    // What is left is folded by the thread that writes.
  }
}

/** Copies what the write-ahead log holds into the database file. */
export function checkpoint(db: Database): void {
  const folding = foldings.get(db)
  if (!folding) db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  // SQLite would wait for the other thread's reader: it is done once that has ended.
  else if (folding.underWay) folding.isToBeEmptied = true
  else folding.checksums.fold('TRUNCATE')
}
