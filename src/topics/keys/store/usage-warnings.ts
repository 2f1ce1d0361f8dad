import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

export type UsageWarningStore = ReturnType<typeof createUsageWarningStore>

export function createUsageWarningStore(db: Database) {
  const sql = statements(db)
  const note = sql`
    INSERT INTO usage_warnings (key_id, starts_at, percent) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
  const spent = sql<{ keyId: string }, [number]>`
    SELECT DISTINCT key_id AS keyId FROM usage_warnings WHERE percent = 100 ORDER BY key_id LIMIT ?`
  // Only the running window of a key can still be warned of.
  const forget = sql`DELETE FROM usage_warnings WHERE key_id = ? AND starts_at < ?`
  return {
    /**
     * Notes that the owner of a key is notified of a share of the window that starts at `startsAt`;
     * false when that was done before.
     */
    note(keyId: string, startsAt: number, percent: number) {
      forget.run(keyId, startsAt)
      return note.run(keyId, startsAt, percent).changes === 1
    },
    /**
     * Keys whose owner was notified that a window was used up, at most `limit`; the window may be
     * over.
     */
    spent: (limit: number) => spent.all(limit).map(row => row.keyId),
  }
}
