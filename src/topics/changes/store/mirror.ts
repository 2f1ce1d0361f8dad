import { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

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

/** A SQLite file with the prices of an instance and all that they ever were. */
export function openMirror(path: string) {
  const db = new Database(path, { create: true, strict: true })
  // First: what was left by a killed run is taken in next, and a reader of the file may hold it up.
  db.run('PRAGMA busy_timeout = 10000')
  db.run('PRAGMA journal_mode = WAL')
  db.run(`CREATE TABLE IF NOT EXISTS prices (code TEXT NOT NULL, observed_at TEXT NOT NULL,
    price REAL NOT NULL, currency TEXT, unit TEXT NOT NULL, source TEXT NOT NULL,
    recorded_at TEXT NOT NULL, PRIMARY KEY (code, observed_at)) WITHOUT ROWID`)
  db.run(`CREATE TABLE IF NOT EXISTS price_vintages (cursor TEXT PRIMARY KEY, code TEXT NOT NULL,
    observed_at TEXT NOT NULL, price REAL, recorded_at TEXT NOT NULL) WITHOUT ROWID`)
  db.run(`CREATE INDEX IF NOT EXISTS price_vintages_by_key
    ON price_vintages (code, observed_at, recorded_at, cursor)`)
  db.run(`CREATE TABLE IF NOT EXISTS sync_state (id INTEGER PRIMARY KEY CHECK (id = 1),
    address TEXT NOT NULL, cursor TEXT NOT NULL, synced_at TEXT NOT NULL)`)
  // Years of which files are not written yet.
  db.run('CREATE TABLE IF NOT EXISTS changed_years (year TEXT PRIMARY KEY) WITHOUT ROWID')
  // Keys and rows are JSON objects in the columns of the imports; a row of null is a deletion.
  db.run(`CREATE TABLE IF NOT EXISTS dataset_rows (dataset TEXT NOT NULL, key TEXT NOT NULL,
    row TEXT NOT NULL, source TEXT, recorded_at TEXT NOT NULL,
    PRIMARY KEY (dataset, key)) WITHOUT ROWID`)
  db.run(`CREATE TABLE IF NOT EXISTS dataset_vintages (cursor TEXT PRIMARY KEY,
    dataset TEXT NOT NULL, key TEXT NOT NULL, row TEXT, recorded_at TEXT NOT NULL) WITHOUT ROWID`)
  db.run(`CREATE INDEX IF NOT EXISTS dataset_vintages_by_key
    ON dataset_vintages (dataset, key, recorded_at, cursor)`)
  db.run('CREATE TABLE IF NOT EXISTS changed_datasets (dataset TEXT PRIMARY KEY) WITHOUT ROWID')
  // The options with which it is filled: other records before its cursor would be missing.
  db.run('CREATE TABLE IF NOT EXISTS sync_selection (selection TEXT NOT NULL)')
  const sql = statements(db)
  const selection = sql<{ selection: string }, []>`SELECT selection FROM sync_selection`
  const setSelection = sql`INSERT INTO sync_selection VALUES (?)`
  const state = sql<MirrorState, []>`SELECT address, cursor FROM sync_state`
  const setState = sql`INSERT OR REPLACE INTO sync_state VALUES (1, ?, ?, ?)`
  const forgetCode = sql`DELETE FROM price_vintages WHERE code = ?`
  const forgetKey = sql`DELETE FROM price_vintages WHERE code = ? AND observed_at = ?`
  const dropCode = sql`DELETE FROM prices WHERE code = ?`
  const dropKey = sql`DELETE FROM prices WHERE code = ? AND observed_at = ?`
  const addVintage = sql`INSERT OR REPLACE INTO price_vintages VALUES (?, ?, ?, ?, ?)`
  const newer = sql<{ 1: 1 }, string[]>`
    SELECT 1 FROM price_vintages WHERE code = ? AND observed_at = ? AND (recorded_at, cursor) > (?, ?) LIMIT 1`
  const setPrice = sql`INSERT OR REPLACE INTO prices VALUES (?, ?, ?, ?, ?, ?, ?)`
  const changed = sql`INSERT OR IGNORE INTO changed_years VALUES (substr(?, 1, 4))`
  const changedCode = sql`INSERT OR IGNORE INTO changed_years
    SELECT DISTINCT substr(observed_at, 1, 4) FROM price_vintages WHERE code = ?`
  const changedYears = sql<{ year: string }, []>`SELECT year FROM changed_years ORDER BY year`
  const written = sql`DELETE FROM changed_years WHERE year = ?`
  const addRowVintage = sql`INSERT OR REPLACE INTO dataset_vintages VALUES (?, ?, ?, ?, ?)`
  const newerRow = sql<{ 1: 1 }, string[]>`
    SELECT 1 FROM dataset_vintages WHERE dataset = ? AND key = ? AND (recorded_at, cursor) > (?, ?) LIMIT 1`
  const setRow = sql`INSERT OR REPLACE INTO dataset_rows VALUES (?, ?, ?, ?, ?)`
  const dropRow = sql`DELETE FROM dataset_rows WHERE dataset = ? AND key = ?`
  const changedDataset = sql`INSERT OR IGNORE INTO changed_datasets VALUES (?)`
  const changedDatasets = sql<{ dataset: string }, []>`SELECT dataset FROM changed_datasets`
  const writtenDataset = sql`DELETE FROM changed_datasets WHERE dataset = ?`
  const applyRow = (record: MirroredRow) => {
    const { cursor, dataset, source, recorded_at: recordedAt } = record
    const key = JSON.stringify(record.key)
    const row = record.row && JSON.stringify(record.row)
    addRowVintage.run(cursor, dataset, key, row, recordedAt)
    changedDataset.run(dataset)
    if (newerRow.get(dataset, key, recordedAt, cursor)) return
    if (row === null) dropRow.run(dataset, key)
    else setRow.run(dataset, key, row, source, recordedAt)
  }
  const apply = (record: MirroredRecord) => {
    if ('key' in record) return applyRow(record)
    const { cursor, kind, code, observed_at: at, value, recorded_at: recordedAt } = record
    if (at === null) changedCode.run(code)
    else changed.run(at)
    if (at === null) {
      forgetCode.run(code)
      dropCode.run(code)
      return
    }
    if (kind === 'deleted' && record.retroactive) {
      forgetKey.run(code, at)
      dropKey.run(code, at)
      return
    }
    addVintage.run(cursor, code, at, value, recordedAt)
    if (newer.get(code, at, recordedAt, cursor)) return
    if (value === null) dropKey.run(code, at)
    else setPrice.run(code, at, value, record.currency, record.unit, record.source, recordedAt)
  }
  return {
    state: (): MirrorState | undefined => state.get(),
    /** Whether it has been filled with this selection, or with none yet. */
    selects(text: string): boolean {
      const chosen = selection.get()?.selection
      if (chosen === undefined) setSelection.run(text)
      return (chosen ?? text) === text
    },
    /** Takes in a page and where it ended, in one transaction. */
    take(records: readonly MirroredRecord[], { address, cursor }: MirrorState, syncedAt: string) {
      transact(db, () => {
        for (const record of records) apply(record)
        setState.run(address, cursor, syncedAt)
      })
    },
    clear() {
      transact(db, () => {
        db.run(`INSERT OR IGNORE INTO changed_years
          SELECT DISTINCT substr(observed_at, 1, 4) FROM price_vintages`)
        db.run(
          'INSERT OR IGNORE INTO changed_datasets SELECT DISTINCT dataset FROM dataset_vintages',
        )
        for (const table of clearedTables) db.run(`DELETE FROM ${table}`)
      })
    },
    changedYears: () => changedYears.all().map(({ year }) => year),
    changedDatasets: () => changedDatasets.all().map(({ dataset }) => dataset),
    /** The files of a year or of a dataset are as the tables. */
    written(name: string) {
      written.run(name)
      writtenDataset.run(name)
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
