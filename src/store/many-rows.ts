import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'

/**
 * Rows of one statement. Beyond the largest, what the tables themselves cost is all that is left.
 */
const sizes = [100, 20, 4, 1] as const

/** What became of many rows. */
export interface Written {
  /** Rows that were inserted or updated. */
  changes: number
  /** The rowid given to the last one, where each row was inserted into a table that has rowids. */
  lastId: number
}

/**
 * Writes rows in their order with one INSERT for up to a hundred of them: a call costs as much as
 * the row itself. `head` is all before VALUES, `tail` all behind it, `row` what stands for one:
 * `(?, ?, 'new')`. It takes several statements: call it in a transaction.
 */
export function manyRows(
  db: Database,
  head: string,
  row: string,
  tail = '',
): (rows: readonly SQLQueryBindings[][]) => Written {
  const held = new Map<number, Statement<unknown, SQLQueryBindings[]>>()
  const statement = (size: number) => {
    const one =
      held.get(size) ??
      db.query<unknown, SQLQueryBindings[]>(
        `${head} VALUES ${Array(size).fill(row).join(', ')} ${tail}`,
      )
    held.set(size, one)
    return one
  }
  return rows => {
    const written = { changes: 0, lastId: 0 }
    let from = 0
    for (const size of sizes) {
      for (; rows.length - from >= size; from += size) {
        const { changes, lastInsertRowid } = statement(size).run(
          ...rows.slice(from, from + size).flat(),
        )
        written.changes += changes
        written.lastId = Number(lastInsertRowid)
      }
    }
    return written
  }
}
