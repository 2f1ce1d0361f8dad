import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

export interface Suppression {
  /** In lower case. */
  address: string
  reason: string
  createdAt: number
}

export interface SuppressionStore {
  find(address: string): Suppression | undefined
  /** The first reason stays. */
  add(suppression: Suppression): void
  /** Whether it was there. */
  remove(address: string): boolean
  /** Newest first. */
  page(limit: number, offset: number): Suppression[]
  count(): number
}

export function createSuppressionStore(db: Database): SuppressionStore {
  const columns = 'address, reason, created_at AS createdAt'
  const find = lazy<Suppression, [string]>(
    db,
    `SELECT ${columns} FROM mail_suppressions WHERE address = ?`,
  )
  const add = lazy(
    db,
    'INSERT INTO mail_suppressions (address, reason, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = lazy(db, 'DELETE FROM mail_suppressions WHERE address = ?')
  const page = lazy<Suppression, [number, number]>(
    db,
    `SELECT ${columns} FROM mail_suppressions ORDER BY created_at DESC, address LIMIT ? OFFSET ?`,
  )
  const count = lazy<{ n: number }, []>(db, 'SELECT count(*) AS n FROM mail_suppressions')
  return {
    find: address => find.get(address) ?? undefined,
    add: ({ address, reason, createdAt }) => void add.run(address, reason, createdAt),
    remove: address => remove.run(address).changes > 0,
    page: (limit, offset) => page.all(limit, offset),
    count: () => count.get()!.n,
  }
}
