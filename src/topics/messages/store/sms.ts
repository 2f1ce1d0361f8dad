import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export interface SmsSettings {
  enabled: boolean
  /**
   * Local wall time `HH:MM`, the half-open range [from, to), over midnight where `from` is the
   * later one; null: never quiet.
   */
  quiet: { from: string; to: string } | null
  /** IANA name; days are counted in it, too. */
  timeZone: string
  messagesPerDayMax: number
  alertTypes: readonly string[]
}

export type SmsPurpose = 'alert' | 'verification' | 'test'

export interface SmsRecord {
  /** The outbox's. */
  id: string
  accountId: string
  purpose: SmsPurpose
  number: string
  postedAt: number
}

export type SmsStore = ReturnType<typeof createSmsStore>

type Row = Omit<SmsSettings, 'quiet'> & {
  accountId: string
  quietFrom: string | null
  quietTo: string | null
}

const settingsOf = ({ accountId: _, quietFrom, quietTo, ...row }: Row): SmsSettings => ({
  ...row,
  quiet: quietFrom !== null && quietTo !== null ? { from: quietFrom, to: quietTo } : null,
})

export function createSmsStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<Row>(db, 'sms_settings', {
    columns:
      'account_id, enabled, quiet_from, quiet_to, time_zone, messages_per_day_max, alert_types',
    flags: ['enabled'],
    json: ['alertTypes'],
  })
  const settings = table.where<[string]>('WHERE account_id = ?')
  const putSettings = table.upsert()
  const record = sql`
    INSERT INTO sms_messages (id, account_id, purpose, phone_number, posted_at) VALUES (?, ?, ?, ?, ?)`
  const fail = sql`UPDATE sms_messages SET failed = 1 WHERE id = ?`
  const countSince = sql<{ n: number }, [string, number]>`
    SELECT count(*) AS n FROM sms_messages WHERE account_id = ? AND posted_at >= ? AND purpose <> 'verification' AND failed = 0`
  // Failed ones too: invented numbers must not give free attempts.
  const codeBefore = sql<{ at: number }, [string | null, string | null, number, number]>`
    SELECT posted_at AS at FROM sms_messages
    WHERE purpose = 'verification' AND (?1 IS NULL OR account_id = ?1) AND (?2 IS NULL OR phone_number = ?2) AND posted_at >= ?3
    ORDER BY posted_at DESC LIMIT 1 OFFSET ?4`
  const forget = sql`
    DELETE FROM sms_messages WHERE id IN (SELECT id FROM sms_messages WHERE posted_at < ? LIMIT ?)`
  return {
    settings(accountId: string) {
      const row = settings.get(accountId)
      return row ? settingsOf(row) : undefined
    },
    putSettings: (accountId: string, { quiet, ...row }: SmsSettings) =>
      void putSettings({
        ...row,
        accountId,
        quietFrom: quiet?.from ?? null,
        quietTo: quiet?.to ?? null,
      }),
    record: (m: SmsRecord) => void record.run(m.id, m.accountId, m.purpose, m.number, m.postedAt),
    /** It was not sent in the end, and counts no more. */
    fail: (id: string) => void fail.run(id),
    /** Messages of an account since a moment, codes for verification left out. */
    countSince: (accountId: string, from: number) => countSince.get(accountId, from)!.n,
    /**
     * The time of the code before the last `count` ones since a moment, of those that an account
     * requested or that a number was sent; without either, of all.
     */
    codeBefore: (
      { accountId, number }: { accountId?: string; number?: string },
      from: number,
      count: number,
    ) => codeBefore.get(accountId ?? null, number ?? null, from, count)?.at,
    /** Drops at most `rowsMax` records older than a moment; how many there were. */
    forget: (before: number, rowsMax: number) => forget.run(before, rowsMax).changes,
  }
}
