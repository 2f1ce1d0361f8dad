import type { Changes, Database, SQLQueryBindings, Statement } from 'bun:sqlite'
import { pastSql, versionedIn } from './vintage.ts'

/** What the stores use of a prepared statement: `Row` is what it answers, `Bindings` what it takes. */
export interface LazyStatement<Row, Bindings extends SQLQueryBindings[]> {
  get(...bindings: Bindings): Row | null
  all(...bindings: Bindings): Row[]
  /** Rows as lists of cells, in the order of the columns: cheaper than objects, for many rows. */
  values(...bindings: Bindings): unknown[][]
  run(...bindings: Bindings): Changes
  iterate(...bindings: Bindings): IterableIterator<Row>
}

/**
 * A statement that is prepared when it is first used: a start would otherwise spend much of its
 * time on hundreds that nobody needs yet. A mistake in its SQL shows at the first use too. Within
 * `asKnownAt` it answers from what was known then.
 */
export function lazy<Row = unknown, Bindings extends SQLQueryBindings[] = SQLQueryBindings[]>(
  db: Database,
  sql: string,
): LazyStatement<Row, Bindings> {
  let prepared: Statement<Row, SQLQueryBindings[]> | undefined
  let versioned: readonly string[] | undefined
  const tables = () => {
    versioned ??= versionedIn(sql)
    return versioned
  }
  const statement = () => {
    const past = pastSql(db, sql, tables)
    if (past !== undefined) return db.prepare<Row, SQLQueryBindings[]>(past)
    prepared ??= db.query<Row, SQLQueryBindings[]>(sql)
    return prepared
  }
  return {
    get: (...bindings) => statement().get(...bindings),
    all: (...bindings) => statement().all(...bindings),
    values: (...bindings) => statement().values(...bindings),
    run: (...bindings) => statement().run(...bindings),
    iterate: (...bindings) => statement().iterate(...bindings),
  }
}
