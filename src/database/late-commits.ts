import type { Database } from 'bun:sqlite'
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** Commits that another thread syncs to disk, while this one serves other requests. */
export interface LateCommits {
  /**
   * Runs `work` and resolves with its result once the disk has what it committed. Others read it
   * before; a power cut may take it back until then, so it is not acknowledged earlier. Rejects
   * with what `work` threw, and where the disk refused it.
   */
  run<T>(work: () => T): Promise<T>
}

const syncFile = promisify(fdatasync)

/**
 * Creates the late commits of a database with a WAL. `work` must not begin within a transaction.
 * Commits that come while the disk is busy with earlier ones share the next sync.
 */
export function createLateCommits(db: Database, sync = syncFile): LateCommits {
  if (db.filename === ':memory:') return promptCommits
  const logPath = `${db.filename}-wal`
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  const begin = async (log: number) => {
    try {
      // A failure was reported to those who awaited that commit.
      await running.catch(() => {})
      waiting = undefined
      running = sync(log)
      await running
    } finally {
      closeSync(log)
    }
  }
  return {
    async run<T>(work: () => T) {
      db.run('PRAGMA synchronous = NORMAL')
      let result: T
      try {
        result = work()
      } finally {
        db.run('PRAGMA synchronous = FULL')
      }
      // SQLite holds no lock on its WAL, so the file may be opened and closed here. It is opened at
      // once, before another database may replace this one.
      waiting ??= begin(openSync(logPath, 'r'))
      await waiting
      return result
    },
  }
}

/** Commits that must be on disk before they can be read. */
export const promptCommits: LateCommits = { run: async work => work() }
