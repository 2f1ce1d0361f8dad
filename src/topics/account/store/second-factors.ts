import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** The secret that generates the codes of an account's second factor. */
export interface SecondFactorRow {
  accountId: string
  /** Sealed; see the service's `contextOf`. */
  secret: Uint8Array
  createdAt: number
  /** Null until its first code was given: signing in does not require one before. */
  confirmedAt: number | null
}

export type SecondFactorStore = ReturnType<typeof createSecondFactorStore>

export function createSecondFactorStore(db: Database) {
  const sql = statements(db)
  const put = sql`INSERT INTO second_factors (account_id, secret, created_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (account_id) DO UPDATE SET secret = ?2, created_at = ?3, last_step = 0
     WHERE confirmed_at IS NULL`
  const confirm = sql`UPDATE second_factors SET confirmed_at = ? WHERE account_id = ?`
  const useStep = sql`
    UPDATE second_factors SET last_step = ?1 WHERE account_id = ?2 AND last_step < ?1`
  const putCode = sql`INSERT INTO recovery_codes (code_hash, account_id) VALUES (?, ?)`
  const useCode = sql`
    UPDATE recovery_codes SET used_at = ? WHERE code_hash = ? AND account_id = ? AND used_at IS NULL`
  const left = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM recovery_codes WHERE account_id = ? AND used_at IS NULL`
  const dropCodes = sql`DELETE FROM recovery_codes WHERE account_id = ?`
  const drop = sql`DELETE FROM second_factors WHERE account_id = ?`
  return {
    of: sql<SecondFactorRow, [accountId: string]>`
      SELECT account_id AS accountId, secret, created_at AS createdAt, confirmed_at AS confirmedAt
      FROM second_factors WHERE account_id = ?`.get,
    /** Puts a secret that is not confirmed instead of one that is not either. */
    put: (accountId: string, secret: Uint8Array, at: number) => void put.run(accountId, secret, at),
    /** Confirms the secret and keeps the hashes of its recovery codes. */
    confirm: (accountId: string, codeHashes: readonly Uint8Array[], at: number) =>
      transact(db, () => {
        confirm.run(at, accountId)
        dropCodes.run(accountId)
        for (const hash of codeHashes) putCode.run(hash, accountId)
      }),
    /** Records the time step of a code; false if a code of this or a later step was used. */
    useStep: (accountId: string, step: number) => useStep.run(step, accountId).changes === 1,
    /** Uses a recovery code up; false where there is none such, or it was used. */
    useRecoveryCode: (accountId: string, codeHash: Uint8Array, at: number) =>
      useCode.run(at, codeHash, accountId).changes === 1,
    recoveryCodesLeft: (accountId: string) => left.get(accountId)?.n ?? 0,
    /** False where there was none. */
    remove: (accountId: string) =>
      transact(db, () => {
        dropCodes.run(accountId)
        return drop.run(accountId).changes === 1
      }),
  }
}
