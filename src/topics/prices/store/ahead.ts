import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** The earliest value of a series whose time has not come. */
export interface NextValue {
  seriesId: number
  dueAt: number
}

export type AheadStore = ReturnType<typeof createAheadStore>

export function createAheadStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO prices_ahead (series_id, due_at) VALUES (?, ?)
    ON CONFLICT (series_id) DO UPDATE SET due_at = min(due_at, excluded.due_at)`
  const remove = sql`DELETE FROM prices_ahead WHERE series_id = ?`
  const due = sql<NextValue, [number]>`
    SELECT series_id AS seriesId, due_at AS dueAt FROM prices_ahead WHERE due_at <= ? ORDER BY due_at, series_id`
  const next = sql<{ dueAt: number | null }, [number]>`
    SELECT min(due_at) AS dueAt FROM prices_ahead WHERE due_at > ?`
  return {
    add: ({ seriesId, dueAt }: NextValue) => void add.run(seriesId, dueAt),
    remove: (seriesId: number) => void remove.run(seriesId),
    /** Those whose time has come, in its order. */
    due: (now: number) => due.all(now),
    /** When the first comes after a moment. */
    nextAfter: (after: number) => next.get(after)?.dueAt ?? undefined,
  }
}
