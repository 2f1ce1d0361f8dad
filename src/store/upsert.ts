import type { Database } from 'bun:sqlite'
import type { WriteCounts } from './prices/observations.ts'

export type Columns = Readonly<Record<string, string | number | null>>
export type Outcome = keyof WriteCounts

/**
 * Writes one row of a table whose every column counts, and answers what became of it: a row that is
 * there already, column for column, is unchanged. `columns` are all but `recorded_at`. Call it in a
 * transaction.
 */
export function upsert<T extends object>(
  db: Database,
  table: string,
  columns: readonly string[],
  keys: readonly string[],
) {
  const held = db.query<Columns, (string | number | null)[]>(
    `SELECT ${columns.join(', ')} FROM ${table} WHERE ${keys.map(name => `${name} = ?`).join(' AND ')}`,
  )
  const put = db.query(
    `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}, recorded_at) VALUES (${columns.map(() => '?').join(', ')}, ?)`,
  )
  return (given: T, recordedAt: number): Outcome => {
    const row = given as Columns
    const old = held.get(...keys.map(name => row[name]!))
    if (old && columns.every(name => old[name] === row[name])) return 'unchanged'
    put.run(...columns.map(name => row[name]!), recordedAt)
    return old ? 'revised' : 'inserted'
  }
}

export function counted(outcomes: readonly Outcome[]): WriteCounts {
  const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
  for (const outcome of outcomes) counts[outcome] += 1
  return counts
}
