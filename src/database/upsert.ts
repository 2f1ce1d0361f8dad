import type { Database } from 'bun:sqlite'
import { lazy } from './statement.ts'
import type { WriteOutcome } from './write-counts.ts'

export type Columns = Readonly<Record<string, string | number | null>>

/** The column of each field of a record. */
export type ColumnMap<T> = Readonly<Record<keyof T & string, string>>

/** What a SELECT names to answer records as they are: each column under the name of its field. */
export const selected = (columns: Readonly<Record<string, string>>, table?: string): string =>
  Object.entries(columns)
    .map(([field, column]) => `${table === undefined ? '' : `${table}.`}${column} AS "${field}"`)
    .join(', ')

/**
 * Writes one record of a table whose every column counts, and answers what became of it: a record
 * that is there already, field for field, is unchanged. `columns` are all but `recorded_at`; `keys`
 * are fields. Call it in a transaction.
 */
export function upsert<T extends object>(
  db: Database,
  table: string,
  columns: ColumnMap<T>,
  keys: readonly (keyof T & string)[],
) {
  const entries = Object.entries<string>(columns)
  const fields = entries.map(([field]) => field)
  const names = entries.map(([, column]) => column)
  const stored = lazy<Columns, (string | number | null)[]>(
    db,
    `SELECT ${selected(columns)} FROM ${table} WHERE ${keys.map(key => `${columns[key]} = ?`).join(' AND ')}`,
  )
  const put = lazy(
    db,
    `INSERT INTO ${table} (${names.join(', ')}, recorded_at) VALUES (${names.map(() => '?').join(', ')}, ?)
     ON CONFLICT (${keys.map(key => columns[key]).join(', ')}) DO UPDATE SET
       ${[...names, 'recorded_at'].map(name => `${name} = excluded.${name}`).join(', ')}`,
  )
  return (record: T, recordedAt: number): WriteOutcome => {
    const row = record as Columns
    const old = stored.get(...keys.map(key => row[key]!))
    if (old && fields.every(field => old[field] === row[field])) return 'unchanged'
    put.run(...fields.map(field => row[field]!), recordedAt)
    return old ? 'revised' : 'inserted'
  }
}
