import type { Database } from 'bun:sqlite'

/** A table that replicas have too. */
export interface ReplicatedTable {
  name: string
  /** In the order of the table. */
  columns: readonly string[]
  /** The columns of the primary key, in its order. */
  key: readonly string[]
  /** Those of the key that may be bytes, and those that are text. */
  binaryKey: ReadonlySet<string>
  textKey: ReadonlySet<string>
}

/** Tables that are this instance's own, with why no one else has them. */
export const localTables: Readonly<Record<string, string>> = {
  batch_under_way: 'of one transaction, and empty after it',
  changes: 'the log itself',
  publications: 'position up to which this instance has published',
  replication_state: 'role of this instance in the cluster',
}

/**
 * Tables whose changes the observation store reports range by range: a trigger for each of a
 * million rows would cost more than the row.
 */
export const rangedTables = ['observations', 'observation_revisions', 'bars'] as const

/** Places, which are written with the rows that have the same id, and are read with them. */
export const placeIndexes: Readonly<Record<string, string>> = {
  diesel_stations: 'diesel_station_places',
  well_permits: 'well_permit_places',
}

/** Full texts of the rows of a table, which each replica indexes itself. */
export const textIndexes: Readonly<Record<string, { index: string; columns: readonly string[] }>> =
  {
    permit_well_names: { index: 'permit_well_name_text', columns: ['name'] },
    frac_disclosures: {
      index: 'frac_disclosure_text',
      columns: ['operator', 'well_name', 'county'],
    },
  }

/** Tables of one row, which needs no key to be found. */
const singleRows = ['audit_anchor']

/** Every table that is replicated row by row. Throws for one without a key: it cannot be. */
export function replicatedTables(db: Database): ReplicatedTable[] {
  return db
    .query<{ name: string }, []>(
      `SELECT name FROM pragma_table_list
       WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY name`,
    )
    .all()
    .map(row => row.name)
    .filter(name => !Object.hasOwn(localTables, name) && !isRanged(name))
    .map(name => tableOf(db, name))
}

const isRanged = (name: string) => (rangedTables as readonly string[]).includes(name)

interface ColumnRow {
  name: string
  type: string
  pk: number
}

/** The columns and the key of a table; throws for a table whose rows have no key. */
export function tableOf(db: Database, name: string): ReplicatedTable {
  const columns = db
    .query<ColumnRow, [string]>('SELECT name, type, pk FROM pragma_table_info(?)')
    .all(name)
  const primary = columns.filter(column => column.pk > 0).sort((a, b) => a.pk - b.pk)
  if (singleRows.includes(name)) {
    const names = ['rowid', ...columns.map(column => column.name)]
    return { name, columns: names, key: ['rowid'], binaryKey: new Set(), textKey: new Set() }
  }
  const key = primary.length > 0 ? primary.map(column => column.name) : uniqueColumns(db, name)
  const keyColumnsOf = (...types: string[]) =>
    new Set(
      columns
        .filter(column => key.includes(column.name) && types.includes(column.type))
        .map(column => column.name),
    )
  const isPlaces = Object.values(placeIndexes).includes(name)
  if (key.length === 0 && !isPlaces)
    throw new Error(`${name} has no key, so it cannot be replicated`)
  return {
    name,
    columns: columns.map(column => column.name),
    key,
    binaryKey: keyColumnsOf('BLOB', ''),
    textKey: keyColumnsOf('TEXT'),
  }
}

/** The columns of the unique constraint of a table without a primary key. */
const uniqueColumns = (db: Database, table: string): string[] =>
  db
    .query<{ name: string }, [string]>(
      `SELECT c.name FROM pragma_index_info(
         (SELECT name FROM pragma_index_list(?) WHERE origin = 'u' ORDER BY seq LIMIT 1)) c ORDER BY c.seqno`,
    )
    .all(table)
    .map(column => column.name)
