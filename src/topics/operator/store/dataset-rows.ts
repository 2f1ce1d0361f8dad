import type { Database } from 'bun:sqlite'
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

/** The kinds of its columns in a Parquet file; expressions are texts where any value is one. */
function kindsOf(db: Database, dataset: string): Kinds {
  const { columns } = datasetNamed(dataset).exported
  const sql = queryOf(dataset)
  const rows = db.prepare(sql)
  rows.get()
  const hasText = (column: string) =>
    db.prepare(`SELECT 1 FROM (${sql}) WHERE typeof("${column}") = 'text'`).get() !== null
  const kindOf = (column: string, declared: string | null | undefined) => {
    if (column.endsWith('_at')) return 'instant' as const
    return (declared === null ? hasText(column) : declared === 'TEXT') ? 'text' : 'number'
  }
  return Object.fromEntries(
    columns.map(([column], i) => [column, kindOf(column, rows.declaredTypes[i])]),
  )
}

/** The rows of a dataset that `includes` as a Parquet file, and how many they are. */
export function datasetFile(
  db: Database,
  dataset: string,
  includes: (row: DatasetRow) => boolean,
): { rows: number; bytes: Uint8Array<ArrayBuffer>[] } {
  let rows = 0
  function* included(): Generator<DatasetRow> {
    for (const row of datasetRows(db, dataset)) {
      if (!includes(row)) continue
      rows += 1
      yield row
    }
  }
  const bytes = [...parquetFile(dataset, kindsOf(db, dataset), included())]
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
