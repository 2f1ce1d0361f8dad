import type { Database } from 'bun:sqlite'
import { lazy } from '../statement.ts'

export interface UsageWarningStore {
  /**
   * Notes that the owner of a key is told of a share of the window that starts at `startsAt`; false
   * when that was done before.
   */
  note(keyId: string, startsAt: number, percent: number): boolean
}

export function createUsageWarningStore(db: Database): UsageWarningStore {
  const note = lazy(
    db,
    'INSERT INTO usage_warnings (key_id, starts_at, percent) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  // Only the running window of a key can still be warned of.
  const forget = lazy(db, 'DELETE FROM usage_warnings WHERE key_id = ? AND starts_at < ?')
  return {
    note(keyId, startsAt, percent) {
      forget.run(keyId, startsAt)
      return note.run(keyId, startsAt, percent).changes === 1
    },
  }
}
