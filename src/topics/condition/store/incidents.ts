import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** A time in which a part of the service was not as it should be. */
export interface Incident {
  id: number
  part: string
  /** Worst state of the incident. */
  status: 'degraded' | 'down'
  message: string | null
  /** Unix ms. */
  beganAt: number
  endedAt: number | null
}

export type IncidentStore = ReturnType<typeof createIncidentStore>

const columns = 'id, part, status, message, began_at AS beganAt, ended_at AS endedAt'

export function createIncidentStore(db: Database) {
  const sql = statements(db)
  const begin = sql`
    INSERT INTO incidents (part, status, message, began_at, ended_at) VALUES (?, ?, ?, ?, ?)`
  const change = sql`UPDATE incidents SET status = ?, message = ?, ended_at = ? WHERE id = ?`
  const forget = sql`DELETE FROM incidents WHERE ended_at < ?`
  return {
    open: sql<Incident, []>`SELECT ${columns} FROM incidents WHERE ended_at IS NULL`.all,
    /** Incidents that had not ended before `since`, the newest first. */
    since: sql<Incident, [moment: number]>`
      SELECT ${columns} FROM incidents WHERE ended_at IS NULL OR ended_at >= ? ORDER BY began_at DESC, id DESC`
      .all,
    begin: ({ part, status, message, beganAt, endedAt }: Omit<Incident, 'id'>) =>
      void begin.run(part, status, message, beganAt, endedAt),
    change: (
      id: number,
      { status, message, endedAt }: Pick<Incident, 'status' | 'message' | 'endedAt'>,
    ) => void change.run(status, message, endedAt, id),
    forget: (before: number) => void forget.run(before),
  }
}
