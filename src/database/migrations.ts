import type { Database } from 'bun:sqlite'
import text from './migrations.sql' with { type: 'text' }

export interface Migration {
  version: number
  /** Why the schema had to change. */
  why: string
  sql: string
}

const heading = /^-- Version (\d+): (.+)\n/

export const migrations: readonly Migration[] = text.split(/^(?=-- Version )/m).flatMap(sql => {
  const [, version, why] = heading.exec(sql) ?? []
  return why === undefined ? [] : [{ version: Number(version), why, sql }]
})

export const schemaVersion = 1 + migrations.length

/**
 * All steps with their version numbers are one transaction, so that a crash leaves the version that
 * there was, or this one.
 */
export function migrate(db: Database, from: number, steps: readonly Migration[] = migrations) {
  db.transaction(() => {
    for (const step of steps.filter(step => step.version > from)) {
      db.run(step.sql)
      db.run(`PRAGMA user_version = ${step.version}`)
    }
  }).immediate()
}
