import { spawnThread } from './thread.ts'

/**
 * Does work that writes a file and brings it to the disk meanwhile. What a file of many megabytes
 * has in memory at its end goes to the disk in one go, and a server's next commit waits for all of
 * it, with anyone who asks. The work may hold this thread up, so another one does it.
 */
export function flushedMeanwhile<T>(path: string, work: () => T): T {
  const flusher = spawnThread('file-syncer')
  flusher.postMessage(path)
  try {
    return work()
  } finally {
    flusher.terminate()
  }
}
