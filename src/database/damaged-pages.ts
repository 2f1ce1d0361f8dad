import { closeSync, existsSync, openSync } from 'node:fs'
import { checksumOf, checksumsPath, entriesOf, readPages } from './page-checksum-file.ts'
import { readWal } from './write-ahead-log.ts'

/**
 * How often a page that differs is read again: a server may have checkpointed it in the meantime.
 */
const rereadsMax = 4
const chunkPages = 256

/**
 * The pages of a database file that do not match their checksums; undefined for a database without
 * checksums. A server may write the database at the same time, if it is another process.
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
    for (let look = 0; look < rereadsMax && damaged.length > 0; look += 1) {
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
