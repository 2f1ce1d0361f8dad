import { open } from 'node:fs/promises'
import { sleep } from '../time/clock.ts'

const betweenMs = 50

/**
 * Brings a file to the disk again and again until it is written. What a file of many megabytes has
 * in memory goes to the disk in one go otherwise, and the next commit of a server waits for all of it.
 */
export async function flushWhileWritten<T>(path: string, written: Promise<T>): Promise<T> {
  let isWritten = false
  const flush = async () => {
    await sleep(betweenMs)
    if (isWritten) return
    const file = await open(path, 'r')
    try {
      while (!isWritten) {
        await file.datasync()
        await sleep(betweenMs)
      }
    } finally {
      await file.close()
    }
  }
  // The writer of the file gets the same error and reports it.
  void flush().catch(() => undefined)
  try {
    return await written
  } finally {
    isWritten = true
  }
}
