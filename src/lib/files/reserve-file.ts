import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { freeBytesOf } from './free-space.ts'
import { privateMode } from './private-file.ts'
import { writeWhole } from './write-whole.ts'

const chunkBytes = 2 ** 20

/** Room on a disk that is kept for bad times. */
export type ReserveFile = ReturnType<typeof createReserveFile>

/** `bytes` of 0 keeps nothing. */
export function createReserveFile(path: string, dir: string, bytes: number) {
  const isReserved = () => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= bytes
  const free = () => freeBytesOf(dir)
  const bytesNeeded = 2 * bytes
  return {
    bytes,
    /** Free bytes without which it is not written: with fewer, the disk would be full again at once. */
    bytesNeeded,
    /** Free bytes that an unprivileged process may still use. */
    free,
    isReserved,
    /** Writes it, unless it is there or there is no room for it and as much again; whether it is there. */
    keep() {
      if (isReserved()) return true
      if (free() < bytesNeeded) return false
      try {
        write(path, bytes)
        return true
      } catch {
        rmSync(path, { force: true })
        return false
      }
    },
    /** Gives the room back; false when there was none. */
    giveBack() {
      const wasReserved = statSync(path, { throwIfNoEntry: false }) !== undefined
      rmSync(path, { force: true })
      return wasReserved
    },
  }
}

/** Every byte is written: a file with holes would keep no room. */
function write(path: string, bytes: number) {
  rmSync(path, { force: true })
  if (bytes === 0) return
  const chunk = Buffer.alloc(Math.min(chunkBytes, bytes), 0x57)
  const file = openSync(path, 'wx', privateMode)
  try {
    for (let left = bytes; left > 0; left -= chunk.length) writeWhole(file, chunk.subarray(0, left))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
