import type { Database } from 'bun:sqlite'
import { cellOf, type StoredValue } from '../../../src/replication/store/delta.ts'
import {
  placeIndexes,
  rangedTables,
  replicatedTables,
  tableOf,
} from '../../../src/replication/store/tables.ts'

/** Every row of a table in the order of its key, each value exactly. */
export const rowsOf = (db: Database, table: string, order = keyOf(db, table)): string[] =>
  (
    db
      .prepare(`SELECT * FROM ${table} ORDER BY ${order}`)
      .safeIntegers(true)
      .values() as StoredValue[][]
  ).map(row => JSON.stringify(row.map(cellOf)))

const keyOf = (db: Database, table: string): string => tableOf(db, table).key.join(', ')

/** Every row of every table that copies share. */
export const dumpOf = (db: Database): Record<string, string[]> =>
  Object.fromEntries([
    ...replicatedTables(db).map(({ name, key }) => [name, rowsOf(db, name, key.join(', '))]),
    ...rangedTables.map(name => [name, rowsOf(db, name, '1, 2, 3')]),
    ...Object.values(placeIndexes).map(name => [name, rowsOf(db, name, '1')]),
  ])

/** How many rows each table has that copies share, and a hash of them in their order. */
export const contentOf = (db: Database): Map<string, string> =>
  new Map(
    Object.entries(dumpOf(db)).map(([name, rows]) => [
      name,
      `${rows.length} rows ${new Bun.CryptoHasher('sha256').update(rows.join('\n')).digest('hex')}`,
    ]),
  )
