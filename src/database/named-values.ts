import type { Database } from 'bun:sqlite'
import { statements } from './statement.ts'

/** The texts of a table of names and values. */
export function namedValues<Name extends string>(db: Database, table: string) {
  const sql = statements(db)
  const read = sql<{ value: string }, [string]>`SELECT value FROM ${table} WHERE name = ?`
  const put = sql`
    INSERT INTO ${table} (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  const drop = sql`DELETE FROM ${table} WHERE name = ?`
  return {
    get: (name: Name) => read.get(name)?.value,
    set: (name: Name, value: string) => void put.run(name, value),
    remove: (name: Name) => void drop.run(name),
  }
}
