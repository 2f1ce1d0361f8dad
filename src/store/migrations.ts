import type { Database } from 'bun:sqlite'

export interface Migration {
  version: number
  /** Why the schema had to change. */
  why: string
  sql: string
}

/**
 * Append-only: an entry that a released version carried is never edited. Each brings `version - 1`
 * to `version`.
 */
export const migrations: readonly Migration[] = []

export const schemaVersion = 1 + migrations.length

/**
 * Each step is one transaction together with its version number, so that a crash leaves a version
 * and never a half of one.
 */
export function migrate(db: Database, from: number, steps: readonly Migration[] = migrations) {
  for (const step of steps.filter(one => one.version > from)) {
    db.transaction(() => {
      db.run(step.sql)
      db.run(`PRAGMA user_version = ${step.version}`)
    }).immediate()
  }
}
