import { spawnThread } from './thread.ts'

/**
 * Runs work that writes a file, while another thread syncs the file to disk as it grows. A file of
 * many megabytes that is synced only at its end goes to disk in one piece, and the server's next
 * commit, with every request behind it, waits for all of it.
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
