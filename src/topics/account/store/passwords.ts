import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'

/** Passwords as their argon2id hashes. */
export interface PasswordStore {
  /** The hash of an account's password. */
  of(accountId: string): string | undefined
  /** Puts a hash in place of an earlier one. */
  put(accountId: string, hash: string, changedAt: number): void
}

export function createPasswordStore(db: Database): PasswordStore {
  const hashOf = lazy<{ hash: string }, [string]>(
    db,
    'SELECT hash FROM passwords WHERE account_id = ?',
  )
  const put = lazy(
    db,
    `INSERT INTO passwords (account_id, hash, changed_at) VALUES (?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at`,
  )
  return {
    of: accountId => hashOf.get(accountId)?.hash,
    put: (accountId, hash, changedAt) => void put.run(accountId, hash, changedAt),
  }
}
