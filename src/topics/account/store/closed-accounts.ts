import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'

export interface ClosedAccount {
  closedAt: number
  erasedAt: number | null
}

const credentials = [
  'passwords',
  'second_factors',
  'recovery_codes',
  'sign_in_links',
  'account_addresses',
  'oidc_identities',
] as const
/** Credentials other than API keys, by table. */
export type Credential = (typeof credentials)[number]

/** Closed accounts, and the deletion of their data. */
export type ClosedAccountStore = ReturnType<typeof createClosedAccountStore>

/** Rows deleted with an account, by its id. */
const forgotten = [
  'DELETE FROM mail_recipients WHERE account_id = ?',
  'DELETE FROM mail_days WHERE account_id = ?',
  'DELETE FROM phones WHERE account_id = ?',
  'DELETE FROM sms_settings WHERE account_id = ?',
  "UPDATE sms_messages SET phone_number = '' WHERE account_id = ?",
  'DELETE FROM notification_preferences WHERE account_id = ?',
  'DELETE FROM notifications WHERE account_id = ?',
  'DELETE FROM display_preferences WHERE account_id = ?',
  'DELETE FROM board_layouts WHERE account_id = ?',
  'DELETE FROM shared_layouts WHERE account_id = ?',
  'DELETE FROM idempotency WHERE owner IN (SELECT id FROM api_keys WHERE account_id = ?)',
  'DELETE FROM webhook_account_secrets WHERE account_id = ?',
  "UPDATE alerts SET name = '', webhook_url = NULL, metadata = NULL WHERE account_id = ?",
  'UPDATE watches SET name = NULL WHERE account_id = ?',
  "UPDATE data_sources SET name = '', scraper_config = NULL, credentials = NULL WHERE account_id = ?",
  `UPDATE outbox_bodies SET body = '{}' WHERE id IN (SELECT o.body_id FROM outbox o
     JOIN outbox_lanes l ON l.id = o.lane_id WHERE o.account_id = ? AND l.kind IN ('email', 'sms'))`,
  // Until version 0.2, the reasons of providers had the address in them,
  `UPDATE outbox SET last_error = NULL WHERE account_id = ? AND state <> 'skipped'
     AND lane_id IN (SELECT id FROM outbox_lanes WHERE kind IN ('email', 'sms'))`,
  // and so did the event id of a request for consent.
  "UPDATE outbox SET event_id = id WHERE account_id = ? AND event_id LIKE 'agree:%@%'",
]
/** The same by its address. */
const forgottenAddress = [
  'DELETE FROM inbox WHERE recipient = ?',
  'DELETE FROM mail_days WHERE address = ?',
  'DELETE FROM organization_invitations WHERE email = ?',
  "UPDATE organization_invitations SET invited_by = '' WHERE invited_by = ?",
  'DELETE FROM mail_suppressions WHERE address = ?',
  "UPDATE scheduled_delivery_runs SET recipient = '' WHERE recipient = ?",
]

export function createClosedAccountStore(db: Database) {
  const find = lazy<ClosedAccount, [string]>(
    db,
    'SELECT closed_at AS closedAt, erased_at AS erasedAt FROM closed_accounts WHERE account_id = ?',
  )
  const close = lazy(
    db,
    'INSERT INTO closed_accounts (account_id, closed_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const erased = lazy(db, 'UPDATE closed_accounts SET erased_at = ? WHERE account_id = ?')
  const ends = new Map(
    credentials.map(table => [table, lazy(db, `DELETE FROM ${table} WHERE account_id = ?`)]),
  )
  const unsent = lazy(
    db,
    `UPDATE outbox SET state = 'skipped', settled_at = ?1, last_error = 'the account was erased'
     WHERE account_id = ?2 AND state IN ('pending', 'retry')`,
  )
  const byAccount = forgotten.map(sql => lazy(db, sql))
  const byAddress = forgottenAddress.map(sql => lazy(db, sql))
  return {
    find: (accountId: string) => find.get(accountId),
    close: (accountId: string, at: number) => void close.run(accountId, at),
    /** Ends ways in that are not keys: all of them, or some. */
    endCredentials(accountId: string, ways: readonly Credential[] = credentials) {
      for (const way of ways) ends.get(way)!.run(accountId)
    },
    /**
     * Erases the user: addresses, numbers, e-mails, names and settings. Records for accounting
     * stay: subscriptions, invoices, purchases and usage counts. The address of the account itself
     * is in the account's row.
     */
    erase: (accountId: string, email: string, at: number) =>
      transact(db, () => {
        unsent.run(at, accountId)
        for (const statement of byAccount) statement.run(accountId)
        for (const statement of byAddress) statement.run(email)
        erased.run(at, accountId)
      }),
  }
}
