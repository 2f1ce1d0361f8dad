import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'
import type { Declared, Revisions } from '../datasets/dataset.ts'
import { isoDay } from '../lib/time/instant.ts'
import { cachedCount } from './cached-counts.ts'
import { columnsOf } from './dataset-tables.ts'
import { type LazyStatement, lazy, lazyBy } from './statement.ts'

/**
 * The source of reads about datasets: the current state, or the state as of a moment. Stores take
 * it instead of a database, and create the same statements for both.
 */
export interface DatasetReads {
  readonly db: Database
  /** Unix ms; undefined: now. */
  readonly asOf: number | undefined
  /** A statement over the tables of datasets, which are all named. */
  statement<Row = unknown, Bindings extends SQLQueryBindings[] = SQLQueryBindings[]>(
    sql: string,
    ...datasets: readonly Pick<Declared, 'revisions'>[]
  ): LazyStatement<Row, Bindings>
  /** How many rows such a statement finds, which returns it as `n`. */
  count<Bindings extends SQLQueryBindings[]>(
    sql: string,
    ...datasets: readonly Pick<Declared, 'revisions'>[]
  ): (...bindings: Bindings) => number
  /** Since when the datasets that were read are known; undefined where none was read as of a moment. */
  sinceAt(): number | undefined
}

export const readsNow = (db: Database): DatasetReads => ({
  db,
  asOf: undefined,
  statement: sql => lazy(db, sql),
  count: sql => cachedCount(db, sql),
  sinceAt: () => undefined,
})

/**
 * Reads what was known at a moment. For a moment before the first recording of a dataset, these are
 * the rows that were recorded first and whose own time is not later, as for prices.
 */
export function readsAsOf(db: Database, asOf: number): DatasetReads {
  const read = new Set<string>()
  const views = new Map<string, string>()
  const viewIn = (revisions: Revisions): string => {
    const { table } = revisions
    return views.getOrInsertComputed(table, () => viewAt(db, revisions, asOf))
  }
  /** A name of WITH hides the table of the same name. */
  const pastSql = (sql: string, tables: readonly Revisions[]): string =>
    tables.length === 0 ? sql : `WITH ${tables.map(viewIn).join(', ')} ${sql}`
  const tablesOf = (datasets: readonly Pick<Declared, 'revisions'>[]) =>
    datasets.flatMap(({ revisions }) => revisions ?? [])
  const noteRead = (tables: readonly Revisions[]) => {
    for (const { table } of tables) read.add(table)
  }
  return {
    db,
    asOf,
    statement<Row, Bindings extends SQLQueryBindings[]>(
      sql: string,
      ...datasets: readonly Pick<Declared, 'revisions'>[]
    ): LazyStatement<Row, Bindings> {
      const tables = tablesOf(datasets)
      let past: Statement<Row, SQLQueryBindings[]> | undefined
      return lazyBy(() => {
        noteRead(tables)
        // The statement is for one moment, so the connection does not cache it.
        past ??= db.prepare<Row, SQLQueryBindings[]>(pastSql(sql, tables))
        return past
      })
    },
    count(sql, ...datasets) {
      const tables = tablesOf(datasets)
      return (...bindings) => {
        noteRead(tables)
        return cachedCount(db, pastSql(sql, tables))(...bindings)
      }
    },
    sinceAt: () => sinceAt(db, read),
  }
}

function sinceAt(db: Database, tables: ReadonlySet<string>): number | undefined {
  if (tables.size === 0) return undefined
  const { at } = db
    .query<{ at: number | null }, [string]>(
      'SELECT max(since_at) AS at FROM dataset_coverage WHERE subject IN (SELECT value FROM json_each(?))',
    )
    .get(JSON.stringify([...tables]))!
  return at ?? undefined
}

/** A table as it was known at a moment, as a member of WITH. */
function viewAt(db: Database, revisions: Revisions, asOf: number): string {
  const columns = columnsOf(db, revisions.table)
  const since = sinceAt(db, new Set([revisions.table]))
  return since === undefined || since <= asOf
    ? knownView(revisions.table, columns, asOf)
    : firstView(revisions, columns, asOf)
}

function knownView(table: string, columns: readonly string[], asOf: number): string {
  const fields = columns.map(column => `json_extract(fields, '$.${column}') AS ${column}`)
  return `${table} AS NOT MATERIALIZED (
    SELECT ${columns.join(', ')} FROM main.${table} WHERE recorded_at <= ${asOf}
    UNION ALL SELECT ${fields.join(', ')} FROM main.dataset_revisions
    WHERE subject = '${table}' AND recorded_at <= ${asOf} AND superseded_at > ${asOf})`
}

/** The first recorded rows whose own time is the moment or earlier. */
function firstView(
  { table, key: keyColumns, time }: Revisions,
  columns: readonly string[],
  asOf: number,
): string {
  const until = time.endsWith('_at') ? `${asOf}` : `'${isoDay(asOf)}'`
  const key = `json_array(${keyColumns.map(name => `t.${name}`).join(', ')})`
  const ofTable = `subject = '${table}' AND key = ${key}`
  const fields = columns.map(
    name => `iif(r.fields IS NULL, t.${name}, json_extract(r.fields, '$.${name}')) AS ${name}`,
  )
  return `${table} AS NOT MATERIALIZED (
    SELECT ${fields.join(', ')} FROM main.${table} t
    LEFT JOIN main.dataset_revisions r ON r.subject = '${table}' AND r.key = ${key} AND r.recorded_at =
      (SELECT min(recorded_at) FROM main.dataset_revisions WHERE ${ofTable} AND superseded_at > recorded_at)
    WHERE t.${time} <= ${until})`
}
