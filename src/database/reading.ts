import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { openDatabase } from './database.ts'

/**
 * Reads a database without leaving files: without a WAL no process has it open, and SQLite need not
 * create its own files. If a process opens it during the reading, it is read again as a shared
 * database.
 */
export function readDatabase<T>(path: string, work: (db: Database) => T): T {
  const log = `${path}-wal`
  const once = (immutable: boolean) => {
    const db = openDatabase(path, immutable ? { immutable } : { readonly: true })
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  if (existsSync(log)) return once(false)
  try {
    const result = once(true)
    return existsSync(log) ? once(false) : result
  } catch (error) {
    if (existsSync(log)) return once(false)
    throw error
  }
}
