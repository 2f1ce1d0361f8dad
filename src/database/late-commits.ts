import type { Database } from 'bun:sqlite'
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { nextTurn } from '../lib/process/loop-turns.ts'

/** Commits that another thread syncs to disk, while this one serves other requests. */
export interface LateCommits {
  /**
   * Runs `work` and resolves with its result once its commit is on disk. Until then a power cut may
   * revert the commit, which other reads already see, so it is not acknowledged earlier. Rejects
   * with the error of `work` or of the disk.
   */
  run<T>(work: () => T): Promise<T>
  /**
   * The same for several pieces of work, each of which commits in another turn of the loop: the
   * disk is waited for once, after the last. Where a piece throws, those before it remain.
   */
  runParts<T>(parts: Iterable<() => T>): Promise<T[]>
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
  /** Runs `work` without waiting for the disk. */
  const committed = <T>(work: () => T): T => {
    db.run('PRAGMA synchronous = NORMAL')
    try {
      return work()
    } finally {
      db.run('PRAGMA synchronous = FULL')
    }
  }
  const synced = async () => {
    // SQLite holds no lock on its WAL, so the file may be opened and closed here. It is opened at
    // once, before another database may replace this one.
    waiting ??= begin(openSync(logPath, 'r'))
    await waiting
  }
  return {
    async run<T>(work: () => T) {
      const result = committed(work)
      await synced()
      return result
    },
    async runParts<T>(parts: Iterable<() => T>) {
      const results = await eachInTurn(parts, committed)
      await synced()
      return results
    },
  }
}

async function eachInTurn<T>(parts: Iterable<() => T>, run: (part: () => T) => T): Promise<T[]> {
  const results: T[] = []
  for (const part of parts) {
    if (results.length > 0) await nextTurn()
    results.push(run(part))
  }
  return results
}

/** Commits that must be on disk before they can be read. */
export const promptCommits: LateCommits = {
  run: async work => work(),
  runParts: parts => eachInTurn(parts, part => part()),
}
