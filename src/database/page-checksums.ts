import type { Database } from 'bun:sqlite'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import { privateMode } from '../lib/files/private-file.ts'
import { createSystemClock } from '../lib/time/clock.ts'
import { readWal, walStateOf } from './write-ahead-log.ts'

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

const header = Buffer.from('wellhead page checksums 1\n'.padEnd(512))
const entryBytes = 4
const blockEntries = 1024
const chunkFrames = 64
const logHeaderBytes = 32
const frameHeaderBytes = 24
/** The number of sampled pages that distinguishes a replaced file from a damaged one. */
const samplePages = 64

export const checksumsPath = (databasePath: string): string => `${databasePath}-checksums`

/** Deletes the checksums of a database that is about to be replaced. */
export const forgetChecksums = (databasePath: string): void =>
  rmSync(checksumsPath(databasePath), { force: true })

/** 0 means that a page has no checksum yet. */
const checksumOf = (page: Uint8Array): number => crc32(page) || 1

/** The checksums of pages in an open file. */
function entriesOf(file: number) {
  const at = (page: number) => header.length + (page - 1) * entryBytes
  /** Fills `sums` with those from page `from` on; 0 where the file has none. */
  const readInto = (sums: Uint32Array, from: number): void => {
    const bytes = new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength)
    const read = readSync(file, bytes, 0, bytes.length, at(from))
    bytes.fill(0, read)
  }
  return {
    isOurs() {
      const start = Buffer.alloc(header.length)
      readSync(file, start, 0, header.length, 0)
      return start.equals(header)
    },
    begin() {
      ftruncateSync(file, 0)
      writeSync(file, header, 0, header.length, 0)
      fsyncSync(file)
    },
    /** Pages that there is room for. */
    count: () => Math.max(0, Math.floor((fstatSync(file).size - header.length) / entryBytes)),
    read(from: number, count: number): Uint32Array {
      const sums = new Uint32Array(count)
      readInto(sums, from)
      return sums
    },
    readInto,
    write(from: number, sums: Uint32Array): void {
      const bytes = new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength)
      writeSync(file, bytes, 0, bytes.length, at(from))
    },
    cutTo: (pages: number) => ftruncateSync(file, at(pages + 1)),
  }
}

type Entries = ReturnType<typeof entriesOf>

/** Up to `count` whole pages from page `from`. */
function readPages(file: number, from: number, count: number, pageBytes: number): Buffer[] {
  const bytes = Buffer.allocUnsafe(count * pageBytes)
  const size = readSync(file, bytes, 0, bytes.length, (from - 1) * pageBytes)
  return Array.from({ length: Math.floor(size / pageBytes) }, (_, n) =>
    bytes.subarray(n * pageBytes, (n + 1) * pageBytes),
  )
}

const databaseFiles = new Map<string, number>()

/**
 * A descriptor to read the pages of a database by that is in use. It is never closed: SQLite's
 * locks on a file are the process's, and closing any descriptor of the file would end them.
 */
function databaseFile(path: string): number {
  const { dev, ino } = statSync(path)
  const id = `${dev}:${ino}`
  const file = databaseFiles.get(id) ?? openSync(path, 'r')
  databaseFiles.set(id, file)
  return file
}

/** Reads the part of a WAL that was added since the last read. */
function followPages(path: string, pageBytes: number) {
  const frameBytes = frameHeaderBytes + pageBytes
  /** The buffer is reused, because allocating one costs as much as reading into it. */
  const chunk = Buffer.alloc(chunkFrames * frameBytes)
  const start = Buffer.alloc(logHeaderBytes)
  let salts = 0n
  let taken = 0
  /** The number of unread frames among these. */
  const unread = (frames: number) => (frames < taken ? frames : frames - taken)
  const read = (frames: number): { sums: [page: number, sum: number][]; databasePages: number } => {
    const file = openSync(`${path}-wal`, 'r')
    try {
      readSync(file, start, 0, logHeaderBytes, 0)
      if (start.readBigUInt64BE(16) !== salts) taken = 0
      salts = start.readBigUInt64BE(16)
      const sums = new Map<number, number>()
      let databasePages = 0
      while (taken < frames) {
        const length = Math.min(chunkFrames, frames - taken) * frameBytes
        if (readSync(file, chunk, 0, length, logHeaderBytes + taken * frameBytes) !== length)
          throw new Error('the log is shorter than SQLite says')
        for (let at = 0; at < length; at += frameBytes) {
          if (chunk.readBigUInt64BE(at + 8) !== salts)
            throw new Error('a frame of the log belongs to another filling')
          const page = chunk.subarray(at + frameHeaderBytes, at + frameBytes)
          sums.set(chunk.readUInt32BE(at), checksumOf(page))
          databasePages = chunk.readUInt32BE(at + 4) || databasePages
        }
        taken += length / frameBytes
      }
      return { sums: [...sums].sort(([a], [b]) => a - b), databasePages }
    } finally {
      closeSync(file)
    }
  }
  return { read, unread }
}

/**
 * Keeps the checksums of a database that this process writes. Neither SQLite nor another program
 * may make checkpoints of it.
 */
export function keepChecksums(db: Database, path: string) {
  const walState = walStateOf(db)
  const { page_size: pageBytes } = db.query<{ page_size: number }, []>('PRAGMA page_size').get()!
  const pages = databaseFile(path)
  const pagesOfLog = followPages(path, pageBytes)
  const { log: inherited } = walState.get()!
  /** Pages that an earlier process's WAL replaced cannot be checked. */
  let isInherited = inherited > 0
  /** Pages that may be older in the database file than their checksum. */
  let unsettled = new Set<number>()
  let rewritten: number[] = []
  /** How long the WAL was when a checkpoint last left a part of it; 0: it left nothing. */
  let checkpointedAt = 0
  /** Every checksum that was written has reached the disk. */
  let isOnDisk = true
  /** The number of pages of the database after the newest commit in the WAL; 0: none was read. */
  let pagesAfterCheckpoint = 0
  let file: number | undefined
  /** The database file was replaced, so its checksums were started again. */
  let isReplaced = false
  /** The database has no checksums yet, for example after a restore. */
  let isBegun = false
  let fault: unknown

  /** A database continues without checksums: they never keep it from a checkpoint. */
  const attempt = (work: (file: number) => void) => {
    try {
      if (file !== undefined) work(file)
    } catch (error) {
      fault = error
      if (file !== undefined) closeSync(file)
      file = undefined
      forgetChecksums(path)
    }
  }
  const oldPage = Buffer.alloc(pageBytes)
  const isDamaged = (page: number, sum: number): boolean =>
    readSync(pages, oldPage, 0, pageBytes, (page - 1) * pageBytes) === pageBytes &&
    checksumOf(oldPage) !== sum
  const storedSums = new Uint32Array(blockEntries)
  /** Writes the checksums of pages that were added to the WAL since it was last read. */
  const takeIn = (file: number) => {
    const { log } = walState.get()!
    if (log <= 0) return
    const { sums, databasePages } = pagesOfLog.read(log)
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
  /** When it returns the disk has the checksums of every page that the log holds. */
  const takeInAll = (file: number) => {
    takeIn(file)
    if (isOnDisk) return
    if (pagesAfterCheckpoint > 0) entriesOf(file).cutTo(pagesAfterCheckpoint)
    fsyncSync(file)
    isOnDisk = true
  }
  const stopwatch = createSystemClock()
  let checkpoints = { count: 0, ms: 0, lastMs: 0 }
  /**
   * Copies the WAL into the database; `TRUNCATE` waits for read transactions and truncates the WAL.
   */
  const checkpoint = (mode: 'PASSIVE' | 'TRUNCATE') => {
    const startedMs = stopwatch.monotonic()
    attempt(takeInAll)
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
    // Every page of the database is the one that its checksum is of.
    unsettled = new Set()
    isInherited = false
  }

  try {
    file = openSync(checksumsPath(path), existsSync(checksumsPath(path)) ? 'r+' : 'w+', privateMode)
    const entries = entriesOf(file)
    isReplaced = inherited === 0 && entries.isOurs() && isOther(pages, entries, pageBytes)
    if (!entries.isOurs() || isReplaced) {
      entries.begin()
      isBegun = true
    }
  } catch (error) {
    fault = error
  }
  return {
    isReplaced,
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
        toTakeIn: pagesOfLog.unread(log),
      }
    },
    /** Writes the checksums of what the log got, so that the next checkpoint finds less to do. */
    takeIn: () => attempt(takeIn),
    /**
     * Compares up to `count` pages from page `from`, counted from 1, with their checksums; a page
     * without one gets it. `next`: where to continue; undefined after the last page.
     */
    check(from: number, count: number) {
      const damaged: number[] = []
      let next: number | undefined
      attempt(file => {
        const entries = entriesOf(file)
        const pageContents = readPages(pages, from, count, pageBytes)
        const storedSums = entries.read(from, pageContents.length)
        let isFilled = false
        for (const [n, page] of pageContents.entries()) {
          if (unsettled.has(from + n)) continue
          const sum = checksumOf(page)
          if (storedSums[n] !== 0 && storedSums[n] !== sum) damaged.push(from + n)
          if (storedSums[n] !== 0) continue
          storedSums[n] = sum
          isFilled = true
        }
        if (isFilled) entries.write(from, storedSums)
        if (pageContents.length === count) next = from + count
      })
      return { damaged, next }
    },
    /** Whether the pages have no checksums yet; true for the first call only. */
    takeBegun() {
      const taken = isBegun
      isBegun = false
      return taken
    },
    /** Pages that were damaged when they were about to be written over, since the last call. */
    takeRewritten() {
      const taken = rewritten
      rewritten = []
      return taken
    },
    /** Why no checksums are written any more. */
    fault: () => fault,
  }
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

/**
 * How often a page that differs is read again: a server may have checkpointed it in the meantime.
 */
const looks = 4
const chunkPages = 256

/**
 * Pages of a database file that are not what their checksums are of; undefined where it has no
 * checksums. Also alongside the server that writes it, from a process that does not have it open.
 */
export function damagedPages(path: string): number[] | undefined {
  if (!existsSync(checksumsPath(path))) return undefined
  const sums = openSync(checksumsPath(path), 'r')
  const pages = openSync(path, 'r')
  try {
    const entries = entriesOf(sums)
    if (!entries.isOurs()) return undefined
    const pageBytes = pageBytesOf(pages)
    if (pageBytes === undefined) return [1]
    let damaged: number[] = []
    for (let from = 1; from <= entries.count(); from += chunkPages) {
      const pageContents = readPages(pages, from, chunkPages, pageBytes)
      for (const [n, sum] of entries.read(from, chunkPages).entries())
        if (sum !== 0 && (!pageContents[n] || checksumOf(pageContents[n]) !== sum))
          damaged.push(from + n)
    }
    for (let look = 0; look < looks && damaged.length > 0; look += 1) {
      const inWal = readWal(path)?.pages
      damaged = damaged.filter(page => {
        const [bytes] = readPages(pages, page, 1, pageBytes)
        const [sum] = entries.read(page, 1)
        return !inWal?.has(page) && sum !== 0 && (!bytes || checksumOf(bytes) !== sum)
      })
    }
    return damaged
  } finally {
    closeSync(pages)
    closeSync(sums)
  }
}

/**
 * The page size in the header of the database, where 1 stands for 65,536; undefined where the
 * header is invalid.
 */
function pageBytesOf(pages: number): number | undefined {
  const stated = readPages(pages, 1, 1, 512)[0]?.readUInt16BE(16)
  if (stated === 1) return 65_536
  const isPower = stated !== undefined && stated >= 512 && (stated & (stated - 1)) === 0
  return isPower ? stated : undefined
}
