import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export interface Phone {
  accountId: string
  /** E.164. */
  number: string
  /** Two capitals. */
  country: string
  addedAt: number
  verifiedAt: number | null
  optedInAt: number | null
  codeHash: Uint8Array | null
  codeSentAt: number | null
  codeExpiresAt: number | null
  wrongTries: number
}

export type PhoneStore = ReturnType<typeof createPhoneStore>

export function createPhoneStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<Phone>(db, 'phones', {
    columns: `account_id, phone_number AS number, country, added_at, verified_at, opted_in_at,
      code_hash, code_sent_at, code_expires_at, wrong_tries`,
  })
  const put = table.upsert()
  const remove = sql`DELETE FROM phones WHERE account_id = ?`
  const optOut = sql`UPDATE phones SET opted_in_at = NULL WHERE phone_number = ?`
  return {
    of: table.where<[accountId: string]>('WHERE account_id = ?').get,
    /** Replaces the account's number with everything that belongs to it. */
    put: (phone: Phone): void => void put(phone),
    /** Whether there was one. */
    remove: (accountId: string) => remove.run(accountId).changes > 0,
    /** Withdraws the consent of all accounts with this number. */
    optOut: (number: string): void => void optOut.run(number),
  }
}
