import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** Small facts of the installation itself, by name. */
export type Settings = ReturnType<typeof settingsStore>

/** When a database of production got its first account, Unix ms; those from before this was noted have none. */
export const databaseBeganAt = 'database.began_at'

/** Id of the operator's own account, whose sign-in opens the operator's pages. */
export const operatorAccount = 'operator.account'

export function settingsStore(db: Database) {
  const sql = statements(db)
  const read = sql<{ value: string }, [string]>`SELECT value FROM settings WHERE name = ?`
  const put = sql`
    INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  const drop = sql`DELETE FROM settings WHERE name = ?`
  return {
    get: (name: string) => read.get(name)?.value,
    set: (name: string, value: string) => void put.run(name, value),
    remove: (name: string) => void drop.run(name),
  }
}
