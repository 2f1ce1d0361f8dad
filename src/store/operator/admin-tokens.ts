import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import { lazy } from '../statement.ts'

/** The operator's token, as a hash. */
export interface AdminTokenStore {
  /** Hashes of the tokens that are in force. */
  active(): Uint8Array[]
  /** Puts a new token in force and ends all others. */
  replace(hash: Uint8Array, hint: string, at: number): void
}

export function createAdminTokenStore(db: Database): AdminTokenStore {
  const active = lazy<{ token_hash: Uint8Array }, []>(
    db,
    'SELECT token_hash FROM admin_tokens WHERE revoked_at IS NULL',
  )
  const revoke = lazy(db, 'UPDATE admin_tokens SET revoked_at = ? WHERE revoked_at IS NULL')
  const add = lazy(
    db,
    'INSERT INTO admin_tokens (token_hash, token_hint, created_at) VALUES (?, ?, ?)',
  )
  return {
    active: () => active.all().map(row => row.token_hash),
    replace(hash, hint, at) {
      transact(db, () => {
        revoke.run(at)
        add.run(hash, hint, at)
      })
    },
  }
}
