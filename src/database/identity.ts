import { Database } from 'bun:sqlite'
import schema from '../../schema.sql' with { type: 'text' }
import { migrations, schemaVersion } from './migrations.ts'

/**
 * The application id in the header of our databases: "Well". Files from older versions have none.
 */
export const applicationId = 0x57_65_6c_6c

/** The version that wrote it first. */
const identifiedSince = 4

/** Tables that every version has had. */
const oldestTables = ['series', 'observations', 'accounts', 'api_keys', 'outbox', 'settings']

export type Identity = 'ours' | 'empty' | 'foreign'

/**
 * Recognises a database file by the application id in its header and, for files from before there
 * was one, by its tables. A file without tables is empty: a start that ends at once leaves one.
 */
export function identityOf(db: Database): Identity {
  const id = numberOf(db, 'application_id')
  const version = numberOf(db, 'user_version')
  // The usual case at a start, which then need not list the tables.
  if (id === applicationId && version > 0) return 'ours'
  const tables = tablesOf(db)
  if (tables.size === 0 && version === 0)
    return id === 0 || id === applicationId ? 'empty' : 'foreign'
  if (version === 0) return 'foreign'
  const isOld = id === 0 && version < identifiedSince
  return isOld && oldestTables.every(table => tables.has(table)) ? 'ours' : 'foreign'
}

/** Tables, and columns of the current version, that a database of ours lacks. Empty: none. */
export function missingParts(db: Database): string[] {
  const version = numberOf(db, 'user_version')
  const tables = tablesOf(db)
  const missing = [...tablesAt(version)]
    .filter(table => !tables.has(table))
    .map(table => `the table ${table} is missing`)
  if (missing.length > 0 || version !== schemaVersion) return missing
  const columns = columnsOf(db)
  return [...columnsOf(current())]
    .filter(column => !columns.has(column))
    .map(column => `the column ${column} is missing`)
}

/** Tables of a version: those of today, less those that a later migration made. */
function tablesAt(version: number): Set<string> {
  const later = migrations
    .filter(migration => migration.version > version)
    .flatMap(({ sql }) => [...sql.matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table!))
  return tablesOf(current()).difference(new Set(later))
}

function current(): Database {
  const db = new Database(':memory:')
  db.run(schema)
  return db
}

/** Whether a database has a table: older schemas lack those of later versions. */
export const hasTable = (db: Database, name: string): boolean =>
  db.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== null

const names = (db: Database, sql: string): Set<string> =>
  new Set(
    db
      .query<{ name: string }, []>(sql)
      .all()
      .map(({ name }) => name),
  )

const tablesOf = (db: Database) =>
  names(
    db,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  )

const columnsOf = (db: Database) =>
  names(
    db,
    `SELECT t.name || '.' || c.name AS name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  )

const numberOf = (db: Database, pragma: 'application_id' | 'user_version'): number =>
  Object.values(db.query(`PRAGMA ${pragma}`).get() as Record<string, number>)[0] ?? 0
