import { closeSync, openSync, readSync } from 'node:fs'
import { checksumOf } from './page-checksum-file.ts'

const chunkFrames = 64
const walHeaderBytes = 32
const frameHeaderBytes = 24

/** Reads the part of a WAL that was added since the last read. */
export function followPages(path: string, pageBytes: number) {
  const frameBytes = frameHeaderBytes + pageBytes
  /** The buffer is reused, because allocating one costs as much as reading into it. */
  const chunk = Buffer.alloc(chunkFrames * frameBytes)
  const start = Buffer.alloc(walHeaderBytes)
  let salts = 0n
  let taken = 0
  /** The number of unread frames among these. */
  const unread = (frames: number) => (frames < taken ? frames : frames - taken)
  const read = (frames: number): { sums: [page: number, sum: number][]; databasePages: number } => {
    const file = openSync(`${path}-wal`, 'r')
    try {
      readSync(file, start, 0, walHeaderBytes, 0)
      if (start.readBigUInt64BE(16) !== salts) taken = 0
      salts = start.readBigUInt64BE(16)
      const sums = new Map<number, number>()
      let databasePages = 0
      while (taken < frames) {
        const length = Math.min(chunkFrames, frames - taken) * frameBytes
        if (readSync(file, chunk, 0, length, walHeaderBytes + taken * frameBytes) !== length)
          throw new Error('the WAL is shorter than SQLite says')
        for (let at = 0; at < length; at += frameBytes) {
          if (chunk.readBigUInt64BE(at + 8) !== salts)
            throw new Error('a frame of the WAL was written before its restart')
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
