import { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** A record of the feed, as it is sent. */
export interface MirroredRecord {
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

/** A row of a table, as both have it. */
export interface MirrorRow {
  code: string
  observed_at: string
  price: number | null
  recorded_at: string
}

export type Mirror = ReturnType<typeof openMirror>

/** A SQLite file with the prices of an instance and all that they ever were. */
export function openMirror(path: string) {
  const db = new Database(path, { create: true, strict: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA busy_timeout = 10000')
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
  const sql = statements(db)
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
  const apply = (record: MirroredRecord) => {
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
    state: (): MirrorState | undefined => state.get() ?? undefined,
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
        for (const table of ['prices', 'price_vintages', 'sync_state'])
          db.run(`DELETE FROM ${table}`)
      })
    },
    changedYears: () => changedYears.all().map(({ year }) => year),
    /** The files of a year are as the tables. */
    written: (year: string) => void written.run(year),
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
