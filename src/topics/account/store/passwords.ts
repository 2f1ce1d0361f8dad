import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** Passwords as their argon2id hashes. */
export type PasswordStore = ReturnType<typeof createPasswordStore>

export function createPasswordStore(db: Database) {
  const sql = statements(db)
  const hashOf = sql<{ hash: string }, [string]>`SELECT hash FROM passwords WHERE account_id = ?`
  const put = sql`INSERT INTO passwords (account_id, hash, changed_at) VALUES (?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at`
  return {
    /** The hash of an account's password. */
    of: (accountId: string) => hashOf.get(accountId)?.hash,
    /** Puts a hash instead of an earlier one. */
    put: (accountId: string, hash: string, changedAt: number) =>
      void put.run(accountId, hash, changedAt),
  }
}
