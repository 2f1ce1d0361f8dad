import { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'

/** A record of the feed, as it is sent. */
export type MirroredRecord = MirroredPrice | MirroredRow

interface MirroredRow {
  cursor: string
  dataset: string
  key: object
  row: object | null
  source: string | null
  recorded_at: string
}

interface MirroredPrice {
  cursor: string
  kind: 'added' | 'revised' | 'deleted'
  code: string
  observed_at: string | null
  value: number | null
  unit: string
  currency: string | null
  source: string
  recorded_at: string
  retroactive: boolean
}

/** Where a mirror stands. */
export interface MirrorState {
  address: string
  cursor: string
}

/** A row of a table. */
export type MirrorRow = Readonly<Record<string, string | number | null>>

const tables = ['prices', 'price_vintages', 'dataset_rows', 'dataset_vintages'] as const
export type MirrorTable = (typeof tables)[number]
/** The tables that are emptied to start over. */
export const clearedTables = [...tables, 'sync_state', 'sync_selection'] as const

export type Mirror = ReturnType<typeof openMirror>

/**
 * The tables of a mirror, in SQL of SQLite and DuckDB. Keys and rows of datasets are JSON objects in
 * the columns of the imports; a row of null is a deletion. The selection is the options with which a
 * mirror is filled: other records before its cursor would be missing.
 */
export const mirrorTables = ({ instant, keyed }: { instant: string; keyed: string }) => `
CREATE TABLE IF NOT EXISTS prices (code TEXT NOT NULL, observed_at ${instant} NOT NULL,
  price DOUBLE NOT NULL, currency TEXT, unit TEXT NOT NULL, source TEXT NOT NULL,
  recorded_at ${instant} NOT NULL, PRIMARY KEY (code, observed_at)) ${keyed};
CREATE TABLE IF NOT EXISTS price_vintages (cursor TEXT PRIMARY KEY, code TEXT NOT NULL,
  observed_at ${instant} NOT NULL, price DOUBLE, recorded_at ${instant} NOT NULL) ${keyed};
CREATE TABLE IF NOT EXISTS dataset_rows (dataset TEXT NOT NULL, key TEXT NOT NULL,
  "row" TEXT NOT NULL, source TEXT, recorded_at ${instant} NOT NULL,
  PRIMARY KEY (dataset, key)) ${keyed};
CREATE TABLE IF NOT EXISTS dataset_vintages (cursor TEXT PRIMARY KEY, dataset TEXT NOT NULL,
  key TEXT NOT NULL, "row" TEXT, recorded_at ${instant} NOT NULL) ${keyed};
CREATE TABLE IF NOT EXISTS sync_state (address TEXT NOT NULL, cursor TEXT NOT NULL, synced_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sync_selection (selection TEXT NOT NULL);
`

/** The columns of the table `page`, in their order. */
export const pageColumns =
  'cursor, code, observed_at, dataset, key, "row", price, currency, unit, source, recorded_at, forgets'

/** A record as a row of the table `page`. */
export function pageRow(record: MirroredRecord): (string | number | null)[] {
  const { cursor, dataset = null, source, recorded_at: at } = record as MirroredRow
  if ('key' in record) {
    const row = record.row && JSON.stringify(record.row)
    const key = JSON.stringify(record.key)
    return [cursor, null, null, dataset, key, row, null, null, null, source, at, 0]
  }
  const { code, observed_at: observedAt, value, currency, unit, kind, retroactive } = record
  const forgets = Number(kind === 'deleted' && retroactive)
  return [cursor, code, observedAt, null, null, null, value, currency, unit, source, at, forgets]
}

/** Brings the newest versions of the keys of a page into a table, in SQL of both. */
const present = (table: string, of: string, key: string, value: string, columns: string) => `
CREATE TEMP TABLE newest AS SELECT ${key}, cursor, ${value} IS NOT NULL AS stands
  FROM (SELECT v.*, row_number() OVER (
      PARTITION BY ${key} ORDER BY recorded_at DESC, cursor DESC) AS place
    FROM ${of} v WHERE (${key}) IN (SELECT ${key} FROM kept)) AS versions
  WHERE place = 1;
DELETE FROM ${table} WHERE (${key}) IN (${
  table === 'prices'
    ? `SELECT ${key} FROM prices WHERE code IN (SELECT code FROM lost WHERE observed_at IS NULL)
  UNION SELECT ${key} FROM lost WHERE observed_at IS NOT NULL
  UNION `
    : ''
}SELECT ${key} FROM newest WHERE NOT stands
  EXCEPT SELECT ${key} FROM newest WHERE stands);
INSERT OR REPLACE INTO ${table} SELECT ${columns} FROM kept
  WHERE cursor IN (SELECT cursor FROM newest WHERE stands);
DROP TABLE newest;
`

/**
 * Takes in the table `page`, in SQL of both: `kept` is what stays of it after all that it deletes. A
 * key that stays is replaced, because a transaction of DuckDB cannot delete and insert one.
 */
export const applyPage = `
CREATE TEMP TABLE lost AS SELECT code, observed_at, max(cursor) AS cursor
  FROM page WHERE forgets GROUP BY code, observed_at;
CREATE TEMP TABLE kept AS SELECT p.* FROM page p
  LEFT JOIN lost c ON c.code = p.code AND c.observed_at IS NULL
  LEFT JOIN lost k ON k.code = p.code AND k.observed_at = p.observed_at
  WHERE NOT p.forgets AND coalesce(p.cursor > c.cursor, true) AND coalesce(p.cursor > k.cursor, true);
DELETE FROM price_vintages WHERE code IN (SELECT code FROM lost WHERE observed_at IS NULL);
DELETE FROM price_vintages WHERE (code, observed_at) IN (
  SELECT code, observed_at FROM lost WHERE observed_at IS NOT NULL);
INSERT OR REPLACE INTO price_vintages
  SELECT cursor, code, observed_at, price, recorded_at FROM kept WHERE code IS NOT NULL;
INSERT OR REPLACE INTO dataset_vintages
  SELECT cursor, dataset, key, "row", recorded_at FROM kept WHERE code IS NULL;
${present('prices', 'price_vintages', 'code, observed_at', 'price', 'code, observed_at, price, currency, unit, source, recorded_at')}
${present('dataset_rows', 'dataset_vintages', 'dataset, key', '"row"', 'dataset, key, "row", source, recorded_at')}
DROP TABLE lost;
DROP TABLE kept;
`

/** Notes the years and datasets of a page, before it is taken in: their files are not written yet. */
const noteFiles = `
INSERT OR IGNORE INTO changed_years
  SELECT substr(observed_at, 1, 4) FROM page WHERE observed_at IS NOT NULL
  UNION SELECT substr(observed_at, 1, 4) FROM price_vintages
    WHERE code IN (SELECT code FROM page WHERE forgets AND observed_at IS NULL);
INSERT OR IGNORE INTO changed_datasets SELECT dataset FROM page WHERE code IS NULL;
`

/** A SQLite file with the prices of an instance and all that they ever were. */
export function openMirror(path: string) {
  const db = new Database(path, { create: true, strict: true })
  // First: what was left by a killed run is taken in next, and a reader of the file may hold it up.
  db.run('PRAGMA busy_timeout = 10000')
  db.run('PRAGMA journal_mode = WAL')
  db.run(`${mirrorTables({ instant: 'TEXT', keyed: 'WITHOUT ROWID' })}
    CREATE INDEX IF NOT EXISTS price_vintages_by_key
      ON price_vintages (code, observed_at, recorded_at, cursor);
    CREATE INDEX IF NOT EXISTS dataset_vintages_by_key
      ON dataset_vintages (dataset, key, recorded_at, cursor);
    CREATE TABLE IF NOT EXISTS changed_years (year TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS changed_datasets (dataset TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE page (${pageColumns});`)
  const put = lazy(db, `INSERT INTO page VALUES (?${', ?'.repeat(11)})`)
  const namesIn = (table: string) =>
    db
      .query<Record<string, string>, []>(`SELECT * FROM ${table} ORDER BY 1`)
      .all()
      .flatMap(row => Object.values(row))
  return {
    state: (): MirrorState | undefined =>
      db.query<MirrorState, []>('SELECT address, cursor FROM sync_state').get() ?? undefined,
    /** Whether it has been filled with this selection, or with none yet. */
    selects(text: string): boolean {
      const [chosen] = namesIn('sync_selection')
      if (chosen === undefined) db.run('INSERT INTO sync_selection VALUES (?)', [text])
      return (chosen ?? text) === text
    },
    /** Takes in a page and where it ended, in one transaction. */
    take(records: readonly MirroredRecord[], { address, cursor }: MirrorState, syncedAt: string) {
      transact(db, () => {
        for (const record of records) put.run(...pageRow(record))
        if (records.length > 0) db.run(`${noteFiles}${applyPage} DELETE FROM page;`)
        db.run('DELETE FROM sync_state')
        db.run('INSERT INTO sync_state (address, cursor, synced_at) VALUES (?, ?, ?)', [
          address,
          cursor,
          syncedAt,
        ])
      })
    },
    clear() {
      transact(db, () => {
        db.run(`INSERT OR IGNORE INTO changed_years
            SELECT DISTINCT substr(observed_at, 1, 4) FROM price_vintages;
          INSERT OR IGNORE INTO changed_datasets SELECT DISTINCT dataset FROM dataset_vintages;
          ${clearedTables.map(table => `DELETE FROM ${table};`).join(' ')}`)
      })
    },
    changedYears: () => namesIn('changed_years'),
    changedDatasets: () => namesIn('changed_datasets'),
    /** The files of a year or of a dataset are as the tables. */
    written(name: string) {
      db.run('DELETE FROM changed_years WHERE year = ?', [name])
      db.run('DELETE FROM changed_datasets WHERE dataset = ?', [name])
    },
    /** The rows of a dataset, by key and time. */
    datasetRows: (table: MirrorTable, dataset: string): Iterable<MirrorRow> =>
      db
        .query<MirrorRow, [string]>(
          `SELECT * FROM ${table} WHERE dataset = ? ORDER BY key, recorded_at`,
        )
        .iterate(dataset),
    /** The rows of a table in a year, by code and time. */
    rows: (table: 'prices' | 'price_vintages', year: string): Iterable<MirrorRow> =>
      db
        .query<MirrorRow, [string, string]>(
          `SELECT * FROM ${table} WHERE observed_at >= ? AND observed_at < ?
           ORDER BY code, observed_at, recorded_at`,
        )
        .iterate(year, String(Number(year) + 1)),
    close: () => db.close(),
  }
}
