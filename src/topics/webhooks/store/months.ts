import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** How many events were made for an account in the month that starts at `startsAt`. */
export interface MonthCount {
  accountId: string
  startsAt: number
  events: number
}

export type WebhookMonthStore = ReturnType<typeof createWebhookMonthStore>

export function createWebhookMonthStore(db: Database) {
  const sql = statements(db)
  const count = sql<{ events: number }, [string, number]>`
    SELECT events FROM webhook_months WHERE account_id = ? AND starts_at = ?`
  const put = sql`
    INSERT INTO webhook_months (account_id, starts_at, events) VALUES ($accountId, $startsAt, $events)
    ON CONFLICT DO UPDATE SET events = excluded.events`
  return {
    count: (accountId: string, startsAt: number) => count.get(accountId, startsAt)?.events ?? 0,
    /** All in one transaction: each transaction waits for the disk. */
    write: (monthCounts: readonly MonthCount[]) =>
      transact(db, () => {
        for (const monthCount of monthCounts) put.run({ ...monthCount })
      }),
  }
}
