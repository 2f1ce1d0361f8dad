import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

/** Small facts of the installation itself, by name. */
export type Settings = ReturnType<typeof settingsStore>

/** When a database of production got its first account, Unix ms; those from before this was noted have none. */
export const databaseBeganAt = 'database.began_at'

export function settingsStore(db: Database) {
  const read = lazy<{ value: string }, [string]>(db, 'SELECT value FROM settings WHERE name = ?')
  const put = lazy(
    db,
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const drop = lazy(db, 'DELETE FROM settings WHERE name = ?')
  return {
    get: (name: string) => read.get(name)?.value,
    set: (name: string, value: string) => void put.run(name, value),
    remove: (name: string) => void drop.run(name),
  }
}
