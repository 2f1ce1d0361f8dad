import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'
import type { AdminRole } from '../../../plans/roles/admin-roles.ts'

export interface AdminToken {
  id: string
  /** Null for the token of the first start or of a rotation. */
  name: string | null
  role: AdminRole
  hash: Uint8Array
  hint: string
  createdAt: number
  revokedAt: number | null
}

/** The operator's tokens, as hashes. */
export type AdminTokenStore = ReturnType<typeof createAdminTokenStore>

export function createAdminTokenStore(db: Database) {
  const sql = statements(db)
  const revokeAll = sql`UPDATE admin_tokens SET revoked_at = ? WHERE revoked_at IS NULL`
  const revoke = sql`UPDATE admin_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`
  const add = sql`
    INSERT INTO admin_tokens (token_hash, token_hint, created_at, id, name, role) VALUES (?, ?, ?, ?, ?, ?)`
  const put = (token: AdminToken) =>
    void add.run(token.hash, token.hint, token.createdAt, token.id, token.name, token.role)
  return {
    /** All there ever were, the newest first. */
    all: sql<AdminToken, []>`
      SELECT coalesce(id, '') AS id, name, role, token_hash AS hash, token_hint AS hint, created_at AS createdAt, revoked_at AS revokedAt
      FROM admin_tokens ORDER BY created_at DESC, id`.all,
    add: put,
    revoke: (id: string, at: number) => void revoke.run(at, id),
    /** Puts a new token in force and ends all others. */
    replace: (token: AdminToken, at: number) =>
      transact(db, () => {
        revokeAll.run(at)
        put(token)
      }),
  }
}
