import type { Database } from 'bun:sqlite'
import { rowNotes } from '../../../database/dataset-log.ts'
import { columnsOf, versionedTables } from '../../../database/dataset-tables.ts'
import { declaredDatasets } from '../../../database/datasets.ts'
import { lateRowSql } from '../../../database/revisions.ts'
import { type LazyStatement, statements } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'

/** A column of the table of a dataset. */
export interface RowColumn {
  name: string
  kind: 'TEXT' | 'INTEGER' | 'REAL'
  isNeeded: boolean
}

type Cells = Readonly<Record<string, string | number | null>>

/**
 * A row as a dataset once had it, in the columns of its table: with `series`, a code, instead of
 * the number of a series, and with when it ceased to stand.
 */
export type EarlierRow = Cells & Readonly<Record<'recorded_at' | 'superseded_at', number>>

export const seriesColumn = 'series'
export const supersededColumn = 'superseded_at'

const keptTables = new Map(
  declaredDatasets.flatMap(({ name, revisions }) =>
    revisions ? [[name, revisions.table] as const] : [],
  ),
)

/** Import and export of earlier versions of datasets' rows. */
export type EarlierRowStore = ReturnType<typeof createEarlierRowStore>

export function createEarlierRowStore(db: Database) {
  const writers = new Map<string, (row: EarlierRow) => 'inserted' | 'revised' | 'unchanged'>()
  const noteRows = rowNotes(db)
  const writerOf = (table: string) => {
    const writer = writers.get(table) ?? rowWriter(db, table)
    writers.set(table, writer)
    return writer
  }
  return {
    /** Datasets that keep any. */
    datasets: [...keptTables.keys()],
    /** Undefined for a dataset that keeps none. */
    columns(dataset: string): RowColumn[] | undefined {
      const table = keptTables.get(dataset)
      return table === undefined ? undefined : tableColumns(db, table).map(outward)
    },
    /**
     * Row by row oldest first, in an order that is the same on every instance; without generated
     * data.
     */
    rows(dataset: string): Iterable<EarlierRow> {
      const table = keptTables.get(dataset)!
      const columns = columnsOf(db, table)
      const cell = (column: string) =>
        column === 'series_id'
          ? `(SELECT code FROM series WHERE id = fields ->> '$.series_id') AS ${seriesColumn}`
          : `fields ->> '$.${column}' AS ${column}`
      const key = versionedTables
        .get(table)!
        .key.map(name => (name === 'series_id' ? seriesColumn : name))
      return db
        .query<EarlierRow, [string]>(
          `SELECT ${columns.map(cell).join(', ')}, superseded_at FROM dataset_revisions
           WHERE subject = ? AND superseded_at > dataset_revisions.recorded_at
             AND coalesce(fields ->> '$.fixture', 0) = 0
           ORDER BY ${key.join(', ')}, dataset_revisions.recorded_at`,
        )
        .iterate(table)
    },
    /**
     * Records that rows stood from one moment to another, instead of whatever is kept of that time;
     * none that would be newer than the row that stands now. Call it in a transaction, with the rows
     * that stand and the series of all recorded already.
     */
    record(dataset: string, rows: readonly EarlierRow[], writtenAt: number): WriteCounts {
      const write = writerOf(keptTables.get(dataset)!)
      const counts = { inserted: 0, revised: 0, unchanged: 0 }
      for (const row of rows) counts[write(row)] += 1
      if (counts.inserted + counts.revised > 0)
        noteRows(writtenAt, new Set(rows.flatMap(row => [row.recorded_at, row[supersededColumn]])))
      return counts
    },
  }
}

const tableColumns = (db: Database, table: string): RowColumn[] =>
  db
    .query<{ name: string; kind: RowColumn['kind']; isNeeded: number }, [string]>(
      `SELECT name, type AS kind, "notnull" OR pk > 0 AS isNeeded FROM pragma_table_info(?)`,
    )
    .all(table)
    .map(column => ({ ...column, isNeeded: column.isNeeded === 1 }))

const outward = (column: RowColumn): RowColumn =>
  column.name === 'series_id' ? { name: seriesColumn, kind: 'TEXT', isNeeded: true } : column

function rowWriter(db: Database, table: string) {
  const sql = statements(db)
  const columns = tableColumns(db, table)
  const key = versionedTables.get(table)!.key
  const matches = key.map(column => `t.${column} = ?1 ->> '$.${column}'`).join(' AND ')
  // Row numbers are local to an instance: a current row has the same number in its past.
  const numbered = columns.some(({ name }) => name === 'id')
  const current = sql<{ recordedAt: number; id: number | null }, [string]>`
    SELECT t.recorded_at AS recordedAt, ${numbered ? 't.id' : 'NULL'} AS id
    FROM ${table} t WHERE ${matches}`
  const split = sql<{ key: string; fields: string }, [string]>`
    SELECT json_array(${key.map(column => `?1 ->> '$.${column}'`).join(', ')}) AS key,
      json_object(${columns
        .map(({ name, kind }) => `'${name}', CAST(?1 ->> '$.${name}' AS ${kind})`)
        .join(', ')}) AS fields`
  const seriesId = sql<{ id: number }, [string]>`SELECT id FROM series WHERE code = ?`
  const put = revisionWriter(db, table)
  return (row: EarlierRow) => {
    const { [seriesColumn]: code, [supersededColumn]: until, ...cells } = row
    const inward = JSON.stringify(
      code === undefined ? cells : { ...cells, series_id: seriesId.get(String(code))!.id },
    )
    const now = current.get(inward)
    if (now && now.recordedAt <= row.recorded_at) return 'unchanged'
    const withId =
      now?.id == null ? inward : JSON.stringify({ ...(JSON.parse(inward) as object), id: now.id })
    const { key, fields } = split.get(withId)!
    const isFollowed = now !== undefined && now.recordedAt <= until
    return put(key, row.recorded_at, isFollowed ? now.recordedAt : until, fields, isFollowed)
  }
}

/** Writes what stood of a key from one moment to another. */
function revisionWriter(db: Database, table: string) {
  const sql = statements(db)
  const isSameRow = `subject = '${table}' AND key = ?1`
  type Times = [string, number, number]
  const same: LazyStatement<unknown, [...Times, string]> = sql`SELECT 1 FROM dataset_revisions
     WHERE ${isSameRow} AND recorded_at = ?2 AND superseded_at = ?3 AND fields = ?4`
  // Versions that stood for no time hold their places in the feed of changes: a client may be within
  // the rows of their instant.
  const hold: LazyStatement<unknown, Times> = sql`
    INSERT OR IGNORE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
    SELECT subject, key, superseded_at, superseded_at, fields FROM dataset_revisions
    WHERE ${isSameRow} AND recorded_at < ?3 AND superseded_at > ?2 AND superseded_at <> ?3`
  const clear: LazyStatement<unknown, Times> = sql`
    UPDATE dataset_revisions SET superseded_at = recorded_at
    WHERE ${isSameRow} AND recorded_at >= ?2 AND recorded_at < ?3 AND superseded_at > recorded_at`
  const shorten: LazyStatement<unknown, [string, number]> = sql`
    UPDATE dataset_revisions SET superseded_at = ?2
    WHERE ${isSameRow} AND recorded_at < ?2 AND superseded_at > ?2`
  const add: LazyStatement<unknown, [...Times, string]> = sql`
    INSERT OR REPLACE INTO dataset_revisions (subject, key, recorded_at, superseded_at, fields)
    VALUES ('${table}', ?1, ?2, ?3, ?4)`
  const cover: LazyStatement<unknown, [number]> = sql`
    INSERT INTO dataset_coverage (subject, since_at) VALUES ('${table}', ?1)
    ON CONFLICT (subject) DO UPDATE SET since_at = min(since_at, excluded.since_at)`
  const at = (condition = '') =>
    `EXISTS (SELECT 1 FROM dataset_revisions WHERE ${isSameRow} AND ?2 IN (recorded_at, superseded_at) ${condition})`
  const begins: LazyStatement<unknown, [string, number]> =
    sql`${lateRowSql(table, '?2', '?1', at())}`
  const ends: LazyStatement<unknown, [string, number]> = sql`
    ${lateRowSql(table, '?2', '?1', at())} AND NOT ${at('AND superseded_at > recorded_at')}`
  return (key: string, from: number, until: number, fields: string, isFollowed: boolean) => {
    if (same.get(key, from, until, fields)) return 'unchanged'
    begins.run(key, from)
    if (!isFollowed) ends.run(key, until)
    hold.run(key, from, until)
    const { changes } = clear.run(key, from, until)
    shorten.run(key, from)
    add.run(key, from, until, fields)
    cover.run(from)
    return changes > 0 ? 'revised' : 'inserted'
  }
}
