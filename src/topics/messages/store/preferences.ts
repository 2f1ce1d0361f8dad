import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** The notification settings of an account, by channel. */
export interface Preferences {
  email: { enabled: boolean; priceAlerts: boolean; weeklyDigest: boolean; productUpdates: boolean }
  sms: { enabled: boolean; priceAlerts: boolean }
  push: { enabled: boolean }
}

/** By default alerts and digests are sent, product updates are not. */
export const firstPreferences: Preferences = {
  email: { enabled: true, priceAlerts: true, weeklyDigest: true, productUpdates: false },
  sms: { enabled: true, priceAlerts: true },
  push: { enabled: false },
}

export type PreferenceStore = ReturnType<typeof createPreferenceStore>

interface Row {
  email_enabled: number
  email_price_alerts: number
  email_weekly_digest: number
  email_product_updates: number
  sms_enabled: number
  sms_price_alerts: number
  push_enabled: number
}

const preferencesOf = (row: Row): Preferences => ({
  email: {
    enabled: row.email_enabled === 1,
    priceAlerts: row.email_price_alerts === 1,
    weeklyDigest: row.email_weekly_digest === 1,
    productUpdates: row.email_product_updates === 1,
  },
  sms: { enabled: row.sms_enabled === 1, priceAlerts: row.sms_price_alerts === 1 },
  push: { enabled: row.push_enabled === 1 },
})

export function createPreferenceStore(db: Database) {
  const sql = statements(db)
  const ofAccount = sql<Row, [string]>`SELECT * FROM notification_preferences WHERE account_id = ?`
  const put = sql`
    INSERT OR REPLACE INTO notification_preferences (account_id, email_enabled, email_price_alerts, email_weekly_digest,
      email_product_updates, sms_enabled, sms_price_alerts, push_enabled)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
  return {
    /** The first ones until the account has changed some. */
    of(accountId: string) {
      const row = ofAccount.get(accountId)
      return row ? preferencesOf(row) : firstPreferences
    },
    put(accountId: string, { email, sms, push }: Preferences) {
      const flags = [
        email.enabled,
        email.priceAlerts,
        email.weeklyDigest,
        email.productUpdates,
        sms.enabled,
        sms.priceAlerts,
        push.enabled,
      ]
      put.run(accountId, ...flags.map(Number))
    },
  }
}
