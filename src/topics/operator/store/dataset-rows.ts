import type { Database } from 'bun:sqlite'
import { columnsOf } from '../../../database/dataset-tables.ts'
import { datasetNamed } from '../../../database/datasets.ts'
import { parquetFile } from '../../../lib/tables/parquet.ts'
import type { Kinds } from '../../../lib/tables/table.ts'

/** A row of a dataset by the columns of its import; times in Unix ms under names in `_at`. */
export type DatasetRow = Readonly<Record<string, string | number | null>>

/**
 * Reads the rows of a dataset, in the columns and the units that its import takes. Where answers
 * show numbers, the order is theirs: rows that come in again get the same ones.
 */
function queryOf(dataset: string): string {
  const { columns, from, order } = datasetNamed(dataset).exported
  return `SELECT ${columns.map(([name, sql]) => `${sql} AS "${name}"`).join(', ')}
    FROM ${from} ORDER BY ${order}`
}

/**
 * Every row of a dataset, one after the other; the database must not be written to during the
 * iteration.
 */
export const datasetRows = (db: Database, dataset: string): Iterable<DatasetRow> =>
  db.query<DatasetRow, []>(queryOf(dataset)).iterate()

/** The name of a column in a file that says since when a row is known: that is its `valid_from`. */
const besideVintage = (name: string) =>
  name === 'valid_from' || name === 'valid_to' ? `${name}_on` : name

/**
 * The rows that a dataset has or ever had, each with when it was known: a name of WITH hides the
 * table of the same name.
 */
function vintagesQueryOf(db: Database, dataset: string): string {
  const { exported, recordTable } = datasetNamed(dataset)
  const { name: table } = recordTable!
  const columns = columnsOf(db, table)
  const fields = columns.map(column => `fields ->> '$.${column}' AS ${column}`)
  const selected = exported.columns.map(([name, sql]) =>
    name === 'recorded_at'
      ? `${sql} AS valid_from, ${sql.replace('recorded_at', 'superseded_at')} AS valid_to`
      : `${sql} AS "${besideVintage(name)}"`,
  )
  return `WITH ${table} AS NOT MATERIALIZED (
      SELECT ${columns.join(', ')}, NULL AS superseded_at FROM main.${table}
      UNION ALL SELECT ${fields.join(', ')}, superseded_at FROM dataset_revisions
      WHERE subject = '${table}' AND superseded_at > recorded_at)
    SELECT ${selected.join(', ')} FROM ${exported.from} ORDER BY ${exported.order}, valid_from`
}

/** The year of a row of those: of the first date in its key, else of when it was recorded. */
function yearSql(dataset: string): string {
  const cells = datasetNamed(dataset)
    .key.map(besideVintage)
    .map(
      name => `iif("${name}" GLOB '[12][0-9][0-9][0-9]-[01][0-9]*', substr("${name}", 1, 4), NULL)`,
    )
  return `coalesce(${cells.join(', ')}, strftime('%Y', valid_from / 1000, 'unixepoch'))`
}

/** The years of the rows that a dataset has or ever had. */
export const datasetYears = (db: Database, dataset: string): string[] =>
  db
    .query<{ year: string }, []>(
      `SELECT DISTINCT ${yearSql(dataset)} AS year FROM (${vintagesQueryOf(db, dataset)}) ORDER BY 1`,
    )
    .all()
    .map(({ year }) => year)

/** The kinds of its columns in a Parquet file; expressions are texts where any value is one. */
function kindsOf(db: Database, dataset: string, sql: string, columns: readonly string[]): Kinds {
  const rows = db.prepare(queryOf(dataset))
  rows.get()
  const hasText = (column: string) =>
    db.prepare(`SELECT 1 FROM (${sql}) WHERE typeof("${column}") = 'text'`).get() !== null
  const kindOf = (column: string, declared: string | null | undefined) => {
    if (column.endsWith('_at')) return 'instant' as const
    return (declared === null ? hasText(column) : declared === 'TEXT') ? 'text' : 'number'
  }
  return Object.fromEntries(
    columns.map((column, i) => [column, kindOf(column, rows.declaredTypes[i])]),
  )
}

/**
 * The rows of a dataset that `includes` as a Parquet file, and how many they are. Those of a `year`
 * are with all that it had, and have `valid_from` and `valid_to` instead of `recorded_at`.
 */
export function datasetFile(
  db: Database,
  dataset: string,
  year: string | undefined,
  includes: (row: DatasetRow, recordedAt: number) => boolean,
): { rows: number; bytes: Uint8Array<ArrayBuffer>[] } {
  const isHistory = year !== undefined
  const all = isHistory ? vintagesQueryOf(db, dataset) : queryOf(dataset)
  const sql = isHistory ? `SELECT * FROM (${all}) WHERE ${yearSql(dataset)} = ?` : all
  const exported = datasetNamed(dataset).exported.columns.map(([name]) => name)
  const columns = isHistory ? exported.map(besideVintage) : exported
  const { recorded_at: instant, ...kinds } = kindsOf(db, dataset, all, columns)
  const times: Kinds = isHistory
    ? { valid_from: 'instant', valid_to: 'instant' }
    : { recorded_at: instant! }
  let rows = 0
  function* included(): Generator<DatasetRow> {
    for (const row of db.query<DatasetRow, string[]>(sql).iterate(...(isHistory ? [year] : []))) {
      if (!includes(row, Number(row.valid_from ?? row.recorded_at))) continue
      rows += 1
      yield row
    }
  }
  const bytes = [...parquetFile(dataset, { ...kinds, ...times }, included())]
  return { rows, bytes }
}

/** Rows of a dataset that follow each other in time, such as the counts of a region. */
export type DatasetLines = ReturnType<typeof datasetLines>

export interface LineOfRows {
  dataset: string
  /** The values that its rows have in these columns. */
  line: Readonly<Record<string, string>>
  /** The column that they are in the order of. */
  time: string
}

export function datasetLines(db: Database) {
  // Names of columns are those of the queries above; only values come from elsewhere.
  const sqlOf = ({ dataset, line, time }: LineOfRows, condition: string) =>
    `SELECT * FROM (${queryOf(dataset)}) WHERE ${Object.keys(line)
      .map((column, i) => `${column} = ?${i + 1} AND `)
      .join('')}${time} ${condition}`
  const ask = (line: LineOfRows, condition: string, ...bounds: (string | number)[]) =>
    db
      .query<DatasetRow, (string | number)[]>(sqlOf(line, condition))
      .all(...Object.values(line.line), ...bounds)
  return {
    /** The newest rows before a moment, oldest first. */
    before: (line: LineOfRows, until: string | number, limit: number) =>
      ask(line, `< ? ORDER BY ${line.time} DESC LIMIT ?`, until, limit).reverse(),
    /** From one moment to another, both inclusive, oldest first. */
    between: (line: LineOfRows, from: string | number, to: string | number) =>
      ask(line, `BETWEEN ? AND ? ORDER BY ${line.time}`, from, to),
  }
}
