import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** The secret that signs events of an account to target URLs outside of its endpoints. */
export interface AccountSecret {
  accountId: string
  /** Sealed by the vault. */
  secret: Uint8Array
  createdAt: number
}

export type AccountSecretStore = ReturnType<typeof createAccountSecretStore>

export function createAccountSecretStore(db: Database) {
  const sql = statements(db)
  const ofAccount = sql<AccountSecret, [string]>`
    SELECT account_id AS accountId, secret, created_at AS createdAt FROM webhook_account_secrets WHERE account_id = ?`
  const put = sql`
    INSERT INTO webhook_account_secrets (account_id, secret, created_at) VALUES ($accountId, $secret, $createdAt)
    ON CONFLICT DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`
  return {
    of: (accountId: string) => ofAccount.get(accountId),
    /** Replaces the previous secret. */
    put: (secret: AccountSecret) => void put.run({ ...secret }),
  }
}
