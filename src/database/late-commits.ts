import type { Database } from 'bun:sqlite'
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** Commits that are brought to the disk outside of this thread, which may answer others meanwhile. */
export interface LateCommits {
  /**
   * Runs `work` and resolves with its result once the disk has what it committed. Others read it
   * before; a power cut may take it back until then, so nobody is told earlier that it is done.
   * Rejects with what `work` threw, and where the disk refused it.
   */
  run<T>(work: () => T): Promise<T>
}

const syncFile = promisify(fdatasync)

/** Of a database with a log. `work` must not begin within a transaction. */
export function createLateCommits(db: Database): LateCommits {
  if (db.filename === ':memory:') return promptCommits
  const logPath = `${db.filename}-wal`
  return {
    async run<T>(work: () => T) {
      db.run('PRAGMA synchronous = NORMAL')
      let result: T
      try {
        result = work()
      } finally {
        db.run('PRAGMA synchronous = FULL')
      }
      // SQLite locks nothing in its log: it may be opened and closed beside it. At once, before another
      // database may take the place of this one.
      const log = openSync(logPath, 'r')
      try {
        await syncFile(log)
      } finally {
        closeSync(log)
      }
      return result
    },
  }
}

/** Where commits must be on the disk before anybody can read them. */
export const promptCommits: LateCommits = { run: async work => work() }
