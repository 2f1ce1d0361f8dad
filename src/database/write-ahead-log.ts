import type { Database } from 'bun:sqlite'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'

/**
 * SQLite's write-ahead log as its file format describes it (sqlite.org/fileformat2.html): the part
 * that the next opening of the database will use, and the part that it will silently ignore.
 */
export interface WalState {
  /** The salts in the WAL header, which change whenever the WAL is restarted. */
  salts: string
  /** Frames up to the last whole commit. */
  frames: number
  /** Where the log breaks off before its end, counted from 1. */
  brokenAt: number | undefined
  /**
   * Commits after the break that belong to the current generation of the WAL: they will never be
   * visible.
   */
  commitsAfter: number
  /** Pages of the database that the frames hold. */
  pages: ReadonlySet<number>
}

const headerBytes = 32
const frameHeaderBytes = 24
const magicLittle = 0x377f0682
const magicBig = 0x377f0683

/** The log alongside a database file; undefined where there is none, or an empty one. */
export function readWal(databasePath: string): WalState | undefined {
  const path = `${databasePath}-wal`
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size < headerBytes) return undefined
  const bytes = readFileSync(path)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = view.getUint32(0)
  const isLittle = magic === magicLittle
  const pageBytes = view.getUint32(8)
  const salts = saltsAt(view, 16)
  const sums = checksum(view, 0, 24, isLittle, [0, 0])
  const isHeaderGood =
    (isLittle || magic === magicBig) &&
    sums[0] === view.getUint32(24) &&
    sums[1] === view.getUint32(28)
  const pages = new Set<number>()
  if (!isHeaderGood || pageBytes < 512)
    return { salts, frames: 0, brokenAt: 0, commitsAfter: 0, pages }

  const frameBytes = frameHeaderBytes + pageBytes
  const count = Math.floor((bytes.byteLength - headerBytes) / frameBytes)
  let running = sums
  let frames = 0
  let open: number[] = []
  for (let frame = 1; frame <= count; frame += 1) {
    const at = headerBytes + (frame - 1) * frameBytes
    const isOurs = saltsAt(view, at + 8) === salts
    const headSums = checksum(view, at, 8, isLittle, running)
    const pageSums = checksum(view, at + frameHeaderBytes, pageBytes, isLittle, headSums)
    const isGood =
      isOurs && pageSums[0] === view.getUint32(at + 16) && pageSums[1] === view.getUint32(at + 20)
    if (!isGood) {
      const after = commitsFrom(view, frame, count, frameBytes, salts)
      const brokenAt = after > 0 ? frame : undefined
      return { salts, frames, brokenAt, commitsAfter: after, pages }
    }
    running = pageSums
    open.push(view.getUint32(at))
    if (view.getUint32(at + 4) === 0) continue
    frames = frame
    for (const page of open) pages.add(page)
    open = []
  }
  return { salts, frames, brokenAt: undefined, commitsAfter: 0, pages }
}

const saltsAt = (view: DataView, at: number): string =>
  `${view.getUint32(at).toString(16)}-${view.getUint32(at + 4).toString(16)}`

/**
 * Frames of an earlier generation of the WAL have other salts, so the frames that follow belong to
 * the current one.
 */
function commitsFrom(
  view: DataView,
  from: number,
  count: number,
  frameBytes: number,
  salts: string,
): number {
  let commits = 0
  for (let frame = from; frame <= count; frame += 1) {
    const at = headerBytes + (frame - 1) * frameBytes
    if (view.getUint32(at + 4) !== 0 && saltsAt(view, at + 8) === salts) commits += 1
  }
  return commits
}

type Sums = readonly [number, number]

function checksum(view: DataView, from: number, length: number, isLittle: boolean, before: Sums) {
  let [a, b] = before
  for (let at = from; at < from + length; at += 8) {
    a = (a + view.getUint32(at, isLittle) + b) >>> 0
    b = (b + view.getUint32(at + 4, isLittle) + a) >>> 0
  }
  return [a, b] as const
}

/** How many frames the WAL has, as its connection knows, and how many are checkpointed. */
export const walStateOf = (db: Database) =>
  db.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)')

/** Where the log of a database that is open ends. */
export interface WalEnd {
  salts: string
  frames: number
}

/**
 * Follows the log of a database that this connection writes: it knows how many frames have been
 * committed, and of the file only the header is read. Undefined where the log is empty.
 */
export function followWal(db: Database, databasePath: string): () => WalEnd | undefined {
  const path = `${databasePath}-wal`
  const state = walStateOf(db)
  const header = Buffer.alloc(headerBytes)
  const view = new DataView(header.buffer, header.byteOffset, headerBytes)
  return () => {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < headerBytes) return undefined
    // SQLite has no locks on this file, so closing it ends none.
    const file = openSync(path, 'r')
    try {
      readSync(file, header, 0, headerBytes, 0)
    } finally {
      closeSync(file)
    }
    return { salts: saltsAt(view, 16), frames: Math.max(0, state.get()!.log) }
  }
}
