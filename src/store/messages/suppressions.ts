import type { Database } from 'bun:sqlite'

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
  const find = db.query<Suppression, [string]>(
    `SELECT ${columns} FROM mail_suppressions WHERE address = ?`,
  )
  const add = db.query(
    'INSERT INTO mail_suppressions (address, reason, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const remove = db.query('DELETE FROM mail_suppressions WHERE address = ?')
  const page = db.query<Suppression, [number, number]>(
    `SELECT ${columns} FROM mail_suppressions ORDER BY created_at DESC, address LIMIT ? OFFSET ?`,
  )
  const count = db.query<{ n: number }, []>('SELECT count(*) AS n FROM mail_suppressions')
  return {
    find: address => find.get(address) ?? undefined,
    add: ({ address, reason, createdAt }) => void add.run(address, reason, createdAt),
    remove: address => remove.run(address).changes > 0,
    page: (limit, offset) => page.all(limit, offset),
    count: () => count.get()!.n,
  }
}
