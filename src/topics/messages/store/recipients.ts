import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** The consent of an address to e-mails of an account. */
export interface Consent {
  /** When consent was last requested; null: never. */
  askedAt: number | null
  confirmedAt: number | null
  declinedAt: number | null
}

/** E-mails of one account on one day. */
export interface DayCount {
  mailMessages: number
  /** Addresses outside the account. */
  strangers: number
}

/** Consent of addresses to e-mails of accounts, and how many e-mails each got on a day (UTC). */
export type RecipientStore = ReturnType<typeof createRecipientStore>

export function createRecipientStore(db: Database) {
  const sql = statements(db)
  const put = sql`
    INSERT INTO mail_recipients (account_id, address, asked_at, confirmed_at, declined_at)
    VALUES ($accountId, $address, $askedAt, $confirmedAt, $declinedAt)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at, confirmed_at = excluded.confirmed_at,
      declined_at = excluded.declined_at`
  const day = sql<DayCount, [string, string]>`
    SELECT ifnull(sum(letters), 0) AS mailMessages, ifnull(sum(stranger), 0) AS strangers
    FROM mail_days WHERE sent_on = ? AND account_id = ?`
  const mailMessages = sql<{ mailMessages: number }, [string, string, string]>`
    SELECT letters AS mailMessages FROM mail_days WHERE sent_on = ? AND account_id = ? AND address = ?`
  const add = sql`
    INSERT INTO mail_days (sent_on, account_id, address, stranger, letters) VALUES (?, ?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET letters = letters + 1`
  const forget = sql`DELETE FROM mail_days WHERE sent_on < ?`
  return {
    consent: sql<Consent, [accountId: string, address: string]>`
      SELECT asked_at AS askedAt, confirmed_at AS confirmedAt, declined_at AS declinedAt
      FROM mail_recipients WHERE account_id = ? AND address = ?`.get,
    put: (accountId: string, address: string, { askedAt, confirmedAt, declinedAt }: Consent) =>
      void put.run({ accountId, address, askedAt, confirmedAt, declinedAt }),
    day: (accountId: string, on: string) => day.get(on, accountId)!,
    mailMessages: (accountId: string, on: string, address: string) =>
      mailMessages.get(on, accountId, address)?.mailMessages ?? 0,
    add: (accountId: string, on: string, address: string, isUnverifiedRecipient: boolean) =>
      void add.run(on, accountId, address, isUnverifiedRecipient ? 1 : 0),
    /** Forgets the counts of days before one. */
    forget: (before: string) => void forget.run(before),
  }
}
