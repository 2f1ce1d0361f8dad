import type { Database } from 'bun:sqlite'

/** Small facts of the installation itself, by name. */
export interface Settings {
  get(name: string): string | undefined
  set(name: string, value: string): void
  remove(name: string): void
}

export function settingsStore(db: Database): Settings {
  const read = db.query<{ value: string }, [string]>('SELECT value FROM settings WHERE name = ?')
  const put = db.query(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const drop = db.query('DELETE FROM settings WHERE name = ?')
  return {
    get: name => read.get(name)?.value,
    set: (name, value) => void put.run(name, value),
    remove: name => void drop.run(name),
  }
}
