import type { Database } from 'bun:sqlite'
import {
  placeIndexes,
  rangedTables,
  replicatedTables,
} from '../../../src/store/replication/tables.ts'

/** How many rows each table has that copies share, and a hash of them in their order. */
export function contentOf(db: Database): Map<string, string> {
  const inOrder = [
    ...replicatedTables(db).map(table => [table.name, '1, 2'] as const),
    ...rangedTables.map(name => [name, '1, 2, 3'] as const),
    ...Object.values(placeIndexes).map(name => [name, '1'] as const),
  ]
  return new Map(
    inOrder.map(([name, order]) => {
      const hash = new Bun.CryptoHasher('sha256')
      const rows = db.query(`SELECT * FROM ${name} ORDER BY ${order}`).values()
      for (const row of rows) hash.update(JSON.stringify(row))
      return [name, `${rows.length} rows ${hash.digest('hex')}`]
    }),
  )
}
