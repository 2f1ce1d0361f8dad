import type { Database } from 'bun:sqlite'
import type { DatasetTable as DeclaredTable, Revisions } from '../datasets/dataset.ts'
import { declaredDatasets } from './datasets.ts'

/** A table that files, pushes and feeds bring rows of, in addition to prices. */
export interface DatasetTable extends DeclaredTable {
  /** The dataset whose rows they are; others may change them as well. */
  dataset: string
}

/**
 * In the order in which rows are put back: rows with references come before the rows they refer to.
 * Counts, indexes and caches of them follow; read times of permit stations are kept.
 */
export const datasetTables: readonly DatasetTable[] = declaredDatasets
  .toReversed()
  .flatMap(({ name, tables }) => tables.map(table => ({ ...table, dataset: name })))

/** The tables whose changes are in the feed, by name; each has a column `recorded_at`. */
export const recordTables: ReadonlyMap<string, DatasetTable> = new Map(
  declaredDatasets.flatMap(({ name, recordTable }) =>
    recordTable ? [[recordTable.name, { ...recordTable, dataset: name }] as const] : [],
  ),
)

/** Tables that are read as of a moment, by name. */
export const versionedTables: ReadonlyMap<string, Revisions> = new Map(
  declaredDatasets.flatMap(({ revisions }) =>
    revisions ? [[revisions.table, revisions] as const] : [],
  ),
)

export const columnsOf = (db: Database, table: string): string[] =>
  db
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(column => column.name)

export const keySql = ({ key }: DatasetTable, row: string): string =>
  `json_array(${key.map(column => `${row}.${column}`).join(', ')})`

/** SQL for a row as a JSON object of its columns. */
export const rowSql = (columns: readonly string[], row: string): string =>
  `json_object(${columns.map(column => `'${column}', ${row}.${column}`).join(', ')})`
