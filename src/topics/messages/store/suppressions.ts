import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

export interface Suppression {
  /** In lower case. */
  address: string
  reason: string
  createdAt: number
}

export type SuppressionStore = ReturnType<typeof createSuppressionStore>

export function createSuppressionStore(db: Database) {
  const sql = statements(db)
  const columns = 'address, reason, created_at AS createdAt'
  const find = sql<Suppression, [string]>`
    SELECT ${columns} FROM mail_suppressions WHERE address = ?`
  const add = sql`
    INSERT INTO mail_suppressions (address, reason, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
  const remove = sql`DELETE FROM mail_suppressions WHERE address = ?`
  const page = sql<Suppression, [number, number]>`
    SELECT ${columns} FROM mail_suppressions ORDER BY created_at DESC, address LIMIT ? OFFSET ?`
  const count = sql<{ n: number }, []>`SELECT count(*) AS n FROM mail_suppressions`
  return {
    find: (address: string) => find.get(address),
    /** The first reason stays. */
    add: ({ address, reason, createdAt }: Suppression) => void add.run(address, reason, createdAt),
    /** Whether it was there. */
    remove: (address: string) => remove.run(address).changes > 0,
    /** Newest first. */
    page: (limit: number, offset: number) => page.all(limit, offset),
    count: () => count.get()!.n,
  }
}
