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
  const add = sql`
    INSERT INTO mail_suppressions (address, reason, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
  const remove = sql`DELETE FROM mail_suppressions WHERE address = ?`
  const count = sql<{ n: number }, []>`SELECT count(*) AS n FROM mail_suppressions`
  return {
    find: sql<Suppression, [address: string]>`
      SELECT ${columns} FROM mail_suppressions WHERE address = ?`.get,
    /** The first reason stays. */
    add: ({ address, reason, createdAt }: Suppression) => void add.run(address, reason, createdAt),
    /** Whether it was there. */
    remove: (address: string) => remove.run(address).changes > 0,
    /** Newest first. */
    page: sql<Suppression, [limit: number, offset: number]>`
      SELECT ${columns} FROM mail_suppressions ORDER BY created_at DESC, address LIMIT ? OFFSET ?`
      .all,
    count: () => count.get()!.n,
  }
}
