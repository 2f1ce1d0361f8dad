import type { Changes, Database, SQLQueryBindings, Statement } from 'bun:sqlite'

/**
 * The part of a prepared statement that stores use: `Row` is its result, `Bindings` its parameters.
 */
export interface LazyStatement<Row, Bindings extends SQLQueryBindings[]> {
  get(...bindings: Bindings): Row | undefined
  all(...bindings: Bindings): Row[]
  /** Rows as lists of cells, in the order of the columns: cheaper than objects, for many rows. */
  values(...bindings: Bindings): unknown[][]
  run(...bindings: Bindings): Changes
  iterate(...bindings: Bindings): IterableIterator<Row>
}

/**
 * A statement that is prepared when it is first used: a start would otherwise spend much of its
 * time on hundreds that no one needs yet. A mistake in its SQL shows at the first use too.
 */
export function lazy<Row = unknown, Bindings extends SQLQueryBindings[] = SQLQueryBindings[]>(
  db: Database,
  sql: string,
): LazyStatement<Row, Bindings> {
  let prepared: Statement<Row, SQLQueryBindings[]> | undefined
  return lazyBy(() => {
    prepared ??= db.query<Row, SQLQueryBindings[]>(sql)
    return prepared
  })
}

/** A statement that `statement` returns at each use. */
export const lazyBy = <Row, Bindings extends SQLQueryBindings[]>(
  statement: () => Statement<Row, SQLQueryBindings[]>,
): LazyStatement<Row, Bindings> => ({
  get: (...bindings) => statement().get(...bindings) ?? undefined,
  all: (...bindings) => statement().all(...bindings),
  values: (...bindings) => statement().values(...bindings),
  run: (...bindings) => statement().run(...bindings),
  iterate: (...bindings) => statement().iterate(...bindings),
})

/** A statement whose SQL depends on the request: preparing it takes less than keeping it for others. */
export function once<Row, Found>(
  db: Database,
  sql: string,
  use: (statement: Statement<Row, SQLQueryBindings[]>) => Found,
): Found {
  const statement = db.prepare<Row, SQLQueryBindings[]>(sql)
  try {
    return use(statement)
  } finally {
    statement.finalize()
  }
}

export const rowsOnce = <Row>(db: Database, sql: string, values: SQLQueryBindings[]): Row[] =>
  once<Row, Row[]>(db, sql, statement => statement.all(...values))

/**
 * Lazy statements over one database as tagged templates. Only names of columns and pieces of SQL
 * are in them: values are bound.
 */
export const statements =
  (db: Database) =>
  <Row = unknown, Bindings extends SQLQueryBindings[] = SQLQueryBindings[]>(
    parts: TemplateStringsArray,
    ...pieces: readonly (string | number)[]
  ) =>
    lazy<Row, Bindings>(db, String.raw({ raw: parts }, ...pieces).trim())
