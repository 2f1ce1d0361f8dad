import type { Database } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, openSync, readSync, statSync } from 'node:fs'
import { privateMode } from '../lib/files/private-file.ts'
import { createSystemClock } from '../lib/time/clock.ts'
import {
  checksumOf,
  checksumsPath,
  type Entries,
  entriesOf,
  forgetChecksums,
  readPages,
} from './page-checksum-file.ts'
import { isStorageFault } from './storage-fault.ts'
import { followPages } from './wal-pages.ts'
import { walStateOf } from './write-ahead-log.ts'

/**
 * SQLite trusts its pages: a flipped bit is served as data. A file next to the database holds a
 * CRC-32 of every page, so that rows, indexes and free space are all checked, and no store keeps
 * checksums of its rows.
 *
 * Only checkpoints write pages to the database. First the checksums of the pages in the WAL are
 * written, then SQLite copies the pages and syncs them before the WAL is restarted. After a crash
 * in between, the WAL still has the pages, and a page in the WAL is not checked against its
 * checksum.
 *
 * Before a page is overwritten it is checked once more, so that damage that was read and written
 * back does not get a valid checksum.
 */
export type PageChecksums = ReturnType<typeof keepChecksums>

const blockEntries = 1024
/** The number of sampled pages that distinguishes a replaced file from a damaged one. */
const samplePages = 64

const databaseFiles = new Map<string, number>()

/**
 * A descriptor to read the pages of a database by that is in use. It is never closed: SQLite's
 * locks on a file are the process's, and closing any descriptor of the file would end them.
 */
function databaseFile(path: string): number {
  const { dev, ino } = statSync(path)
  const id = `${dev}:${ino}`
  return databaseFiles.getOrInsertComputed(id, () => openSync(path, 'r'))
}

/**
 * Keeps the checksums of a database that this process writes. Neither SQLite nor another program
 * may make checkpoints of it.
 */
export function keepChecksums(db: Database, path: string) {
  const walState = walStateOf(db)
  const { page_size: pageBytes } = db.query<{ page_size: number }, []>('PRAGMA page_size').get()!
  const pages = databaseFile(path)
  const { log: inherited } = walState.get()!
  const file = openChecksumFile(
    path,
    entries => inherited === 0 && isOther(pages, entries, pageBytes),
  )
  const wal = followWal(path, pages, pageBytes, inherited > 0)
  /** How long the WAL was when a checkpoint last left a part of it; 0: it left nothing. */
  let checkpointedAt = 0

  const stopwatch = createSystemClock()
  let checkpoints = { count: 0, ms: 0, lastMs: 0 }
  /**
   * Copies the WAL into the database; `TRUNCATE` waits for read transactions and truncates the WAL.
   */
  const checkpoint = (mode: 'PASSIVE' | 'TRUNCATE') => {
    const startedMs = stopwatch.monotonic()
    file.attempt(open => wal.readAllFrames(open, walState.get()!.log))
    db.run(`PRAGMA wal_checkpoint(${mode})`)
    const lastMs = stopwatch.monotonic() - startedMs
    checkpoints = { count: checkpoints.count + 1, ms: checkpoints.ms + lastMs, lastMs }
    noteCheckpoint()
  }
  /** Another thread has checkpointed a part of the WAL. */
  const noteCheckpoint = () => {
    const { log, checkpointed } = walState.get()!
    checkpointedAt = log === checkpointed ? 0 : log
    if (log !== checkpointed) return
    wal.settle()
    // After a full disk: the WAL has no page that the database lacks, so the pages in it get their
    // checksums as at a first start.
    if (isStorageFault(file.fault()) && file.beginAgain()) wal.forgetUnsynced()
  }

  return {
    isReplaced: file.isReplaced,
    checkpoint,
    noteCheckpoint,
    /** How often the WAL was checkpointed, and how long that took. */
    checkpoints: () => checkpoints,
    /**
     * Pages of the WAL: all of them, those that wait for a checkpoint, those that came since the
     * last tried, and those that no checksum was written of yet.
     */
    logPages() {
      const { log, checkpointed } = walState.get()!
      return {
        all: log,
        toCheckpoint: log - checkpointed,
        sinceCheckpoint: log < checkpointedAt ? log : log - checkpointedAt,
        framesBehind: wal.unread(log),
      }
    },
    /** Writes the checksums of pages that were added to the WAL, so that the next checkpoint is shorter. */
    update: () => file.attempt(open => wal.readFrames(open, walState.get()!.log)),
    /**
     * Compares up to `count` pages from page `from`, counted from 1, with their checksums; a page
     * without one gets it. `next`: where to continue; undefined after the last page.
     */
    check(from: number, count: number) {
      const damaged: number[] = []
      let next: number | undefined
      file.attempt(open => {
        const contents = readPages(pages, from, count, pageBytes)
        comparePages(entriesOf(open), from, contents, wal.isUnsettled, page => damaged.push(page))
        if (contents.length === count) next = from + count
      })
      return { damaged, next }
    },
    takeBegun: file.takeBegun,
    takeRewritten: wal.takeRewritten,
    /** Why no checksums are written: after a full disk until the next complete checkpoint. */
    fault: file.fault,
  }
}

/**
 * Opens the file with the checksums, and starts it again where it is not that of the database:
 * `isOther` says so. A database continues without checksums: they never keep it from a checkpoint.
 */
function openChecksumFile(path: string, isOther: (entries: Entries) => boolean) {
  let file: number | undefined
  let isReplaced = false
  let isBegun = false
  let fault: unknown

  const open = () => {
    file = openSync(checksumsPath(path), existsSync(checksumsPath(path)) ? 'r+' : 'w+', privateMode)
    return entriesOf(file)
  }
  const begin = (entries: Entries) => {
    entries.begin()
    isBegun = true
  }
  const stop = (error: unknown) => {
    fault = error
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  const fail = (error: unknown) => {
    stop(error)
    forgetChecksums(path)
  }

  try {
    const entries = open()
    isReplaced = entries.isOurs() && isOther(entries)
    if (!entries.isOurs() || isReplaced) begin(entries)
  } catch (error) {
    stop(error)
  }
  return {
    /** The database file was replaced, so its checksums were started again. */
    isReplaced,
    attempt(work: (file: number) => void) {
      try {
        if (file !== undefined) work(file)
      } catch (error) {
        fail(error)
      }
    },
    /** Returns whether the file could be started again. */
    beginAgain(): boolean {
      try {
        begin(open())
        fault = undefined
        return true
      } catch (error) {
        fail(error)
        return false
      }
    },
    /**
     * Whether the pages have no checksums yet, for example after a restore; true for the first call
     * only.
     */
    takeBegun() {
      const taken = isBegun
      isBegun = false
      return taken
    },
    fault: () => fault,
  }
}

/** Follows the pages that are added to the WAL; `inherits`: it has pages of an earlier process. */
function followWal(path: string, pages: number, pageBytes: number, inherits: boolean) {
  const walPages = followPages(path, pageBytes)
  /** Pages that are in the WAL of an earlier process cannot be checked. */
  let isInherited = inherits
  /** Pages that may be older in the database file than their checksum. */
  let unsettled = new Set<number>()
  let rewritten: number[] = []
  /** Every checksum that was written has reached the disk. */
  let isOnDisk = true
  /** The number of pages of the database after the newest commit in the WAL; 0: none was read. */
  let pagesAfterCheckpoint = 0
  const oldPage = Buffer.alloc(pageBytes)
  const isDamaged = (page: number, sum: number): boolean =>
    readSync(pages, oldPage, 0, pageBytes, (page - 1) * pageBytes) === pageBytes &&
    checksumOf(oldPage) !== sum
  const storedSums = new Uint32Array(blockEntries)

  /** Writes the checksums of pages that were added to the WAL since it was last read. */
  const readFrames = (file: number, log: number) => {
    if (log <= 0) return
    const { sums, databasePages } = walPages.read(log)
    if (sums.length === 0) return
    isOnDisk = false
    pagesAfterCheckpoint = databasePages || pagesAfterCheckpoint
    const entries = entriesOf(file)
    for (const [block, changes] of Map.groupBy(sums, ([page]) => blockOf(page))) {
      const first = block * blockEntries + 1
      entries.readInto(storedSums, first)
      for (const [page, sum] of changes) {
        const storedSum = storedSums[page - first]!
        const canJudge = storedSum !== 0 && !isInherited && !unsettled.has(page)
        if (canJudge && isDamaged(page, storedSum)) rewritten.push(page)
        unsettled.add(page)
        storedSums[page - first] = sum
      }
      entries.write(first, storedSums)
    }
  }
  return {
    readFrames,
    /** When it returns, the disk has the checksums of every page in the WAL. */
    readAllFrames(file: number, log: number) {
      readFrames(file, log)
      if (isOnDisk) return
      if (pagesAfterCheckpoint > 0) entriesOf(file).cutTo(pagesAfterCheckpoint)
      fsyncSync(file)
      isOnDisk = true
    },
    unread: walPages.unread,
    isUnsettled: (page: number) => unsettled.has(page),
    /** Every page of the database is the one that its checksum is of. */
    settle() {
      unsettled = new Set()
      isInherited = false
    },
    /** The file was started again: nothing of it waits for the disk. */
    forgetUnsynced() {
      isOnDisk = true
    },
    /** Pages that were damaged when they were about to be written over, since the last call. */
    takeRewritten() {
      const taken = rewritten
      rewritten = []
      return taken
    },
  }
}

/** Compares pages from page `from` with their checksums; one without a checksum gets it. */
function comparePages(
  entries: Entries,
  from: number,
  contents: readonly Buffer[],
  isUnsettled: (page: number) => boolean,
  onDamaged: (page: number) => void,
): void {
  const storedSums = entries.read(from, contents.length)
  let isFilled = false
  for (const [n, page] of contents.entries()) {
    if (isUnsettled(from + n)) continue
    const sum = checksumOf(page)
    if (storedSums[n] !== 0 && storedSums[n] !== sum) onDamaged(from + n)
    if (storedSums[n] !== 0) continue
    storedSums[n] = sum
    isFilled = true
  }
  if (isFilled) entries.write(from, storedSums)
}

const blockOf = (page: number): number => Math.floor((page - 1) / blockEntries)

/** Whether at least a quarter of a sample of pages differs from the checksums. */
function isOther(pages: number, entries: Entries, pageBytes: number): boolean {
  const count = entries.count()
  let [compared, different] = [0, 0]
  for (let n = 0; n < samplePages && n < count; n += 1) {
    const page = 1 + Math.floor((n * count) / Math.min(samplePages, count))
    const [sum] = entries.read(page, 1)
    if (sum === 0) continue
    const [bytes] = readPages(pages, page, 1, pageBytes)
    compared += 1
    if (!bytes || checksumOf(bytes) !== sum) different += 1
  }
  return different * 4 >= Math.max(compared, 1)
}
