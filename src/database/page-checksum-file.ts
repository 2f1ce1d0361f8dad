import { fstatSync, fsyncSync, ftruncateSync, readSync, rmSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { writeWhole } from '../lib/files/write-whole.ts'

const header = Buffer.from('wellhead page checksums 1\n'.padEnd(512))
const entryBytes = 4

export const checksumsPath = (databasePath: string): string => `${databasePath}-checksums`

/** Deletes the checksums of a database that is about to be replaced. */
export const forgetChecksums = (databasePath: string): void =>
  rmSync(checksumsPath(databasePath), { force: true })

/** 0 means that a page has no checksum yet. */
export const checksumOf = (page: Uint8Array): number => crc32(page) || 1

/** The checksums of pages in an open file. */
export function entriesOf(file: number) {
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
      writeWhole(file, header, 0)
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
      writeWhole(file, bytes, at(from))
    },
    cutTo: (pages: number) => ftruncateSync(file, at(pages + 1)),
  }
}

export type Entries = ReturnType<typeof entriesOf>

/** Up to `count` whole pages from page `from`. */
export function readPages(file: number, from: number, count: number, pageBytes: number): Buffer[] {
  const bytes = Buffer.allocUnsafe(count * pageBytes)
  const size = readSync(file, bytes, 0, bytes.length, (from - 1) * pageBytes)
  return Array.from({ length: Math.floor(size / pageBytes) }, (_, n) =>
    bytes.subarray(n * pageBytes, (n + 1) * pageBytes),
  )
}
