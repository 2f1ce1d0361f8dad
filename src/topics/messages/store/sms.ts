import type { Database } from 'bun:sqlite'
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

type Row = Omit<SmsSettings, 'enabled' | 'quiet' | 'alertTypes'> & {
  enabled: number
  quietFrom: string | null
  quietTo: string | null
  alertTypes: string
}

const columns = `enabled, quiet_from AS quietFrom, quiet_to AS quietTo, time_zone AS timeZone,
  messages_per_day_max AS messagesPerDayMax, alert_types AS alertTypes`

const settingsOf = ({ quietFrom, quietTo, ...row }: Row): SmsSettings => ({
  ...row,
  enabled: row.enabled === 1,
  quiet: quietFrom !== null && quietTo !== null ? { from: quietFrom, to: quietTo } : null,
  alertTypes: JSON.parse(row.alertTypes) as string[],
})

export function createSmsStore(db: Database) {
  const sql = statements(db)
  const settings = sql<Row, [string]>`SELECT ${columns} FROM sms_settings WHERE account_id = ?`
  const putSettings = sql`
    INSERT OR REPLACE INTO sms_settings (account_id, enabled, quiet_from, quiet_to, time_zone, messages_per_day_max, alert_types)
    VALUES (?, ?, ?, ?, ?, ?, ?)`
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
    putSettings: (accountId: string, s: SmsSettings) =>
      void putSettings.run(
        accountId,
        s.enabled ? 1 : 0,
        s.quiet?.from ?? null,
        s.quiet?.to ?? null,
        s.timeZone,
        s.messagesPerDayMax,
        JSON.stringify(s.alertTypes),
      ),
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
