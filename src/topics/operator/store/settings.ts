import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

/** Small facts of the installation itself, by name. */
export interface Settings {
  get(name: string): string | undefined
  set(name: string, value: string): void
  remove(name: string): void
}

/** When a database of production got its first account, Unix ms; those from before this was noted have none. */
export const databaseBeganAt = 'database.began_at'

export function settingsStore(db: Database): Settings {
  const read = lazy<{ value: string }, [string]>(db, 'SELECT value FROM settings WHERE name = ?')
  const put = lazy(
    db,
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const drop = lazy(db, 'DELETE FROM settings WHERE name = ?')
  return {
    get: name => read.get(name)?.value,
    set: (name, value) => void put.run(name, value),
    remove: name => void drop.run(name),
  }
}
