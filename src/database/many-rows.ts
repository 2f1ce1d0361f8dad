import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { type LazyStatement, lazy } from './statement.ts'

/**
 * Rows per statement. More than the largest number saves nothing: writing to the table then takes
 * all of the time.
 */
const rowsPerStatement = [100, 20, 4, 1] as const

/** The result of writing many rows. */
export interface Written {
  /** Rows that were inserted or updated. */
  changes: number
  /** The rowid given to the last one, where each row was inserted into a table that has rowids. */
  lastId: number
}

/**
 * Writes rows in order with one INSERT for up to a hundred of them: a call costs as much as the row
 * itself. `head` is everything before VALUES, `tail` everything after, `row` the placeholder of
 * one: `(?, ?, 'new')`. It runs several statements: call it in a transaction.
 */
export function manyRows(
  db: Database,
  head: string,
  row: string,
  tail = '',
): (rows: readonly SQLQueryBindings[][]) => Written {
  const statements = new Map<number, LazyStatement<unknown, SQLQueryBindings[]>>()
  const statementOf = (size: number) => {
    return statements.getOrInsertComputed(size, () =>
      lazy(db, `${head} VALUES ${Array(size).fill(row).join(', ')} ${tail}`),
    )
  }
  return rows => {
    const written = { changes: 0, lastId: 0 }
    let from = 0
    for (const size of rowsPerStatement) {
      for (; rows.length - from >= size; from += size) {
        const { changes, lastInsertRowid } = statementOf(size).run(
          ...rows.slice(from, from + size).flat(),
        )
        written.changes += changes
        written.lastId = Number(lastInsertRowid)
      }
    }
    return written
  }
}
