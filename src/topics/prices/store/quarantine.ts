import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** Days of a series that reads leave out, both ends inclusive. */
export interface Quarantine {
  id: number
  seriesId: number
  fromOn: string
  toOn: string
  reason: string
  createdAt: number
}

export type QuarantineStore = ReturnType<typeof createQuarantineStore>

const columns =
  'id, series_id AS seriesId, from_on AS fromOn, to_on AS toOn, reason, created_at AS createdAt'

export function createQuarantineStore(db: Database) {
  const sql = statements(db)
  const add = sql<Quarantine, [number, string, string, string, number]>`
    INSERT INTO quarantine (series_id, from_on, to_on, reason, created_at) VALUES (?, ?, ?, ?, ?) RETURNING ${columns}`
  const remove = sql`DELETE FROM quarantine WHERE id = ?`
  return {
    all: sql<Quarantine, []>`SELECT ${columns} FROM quarantine ORDER BY series_id, from_on, id`.all,
    add: (range: Omit<Quarantine, 'id'>) =>
      add.get(range.seriesId, range.fromOn, range.toOn, range.reason, range.createdAt)!,
    /** False when there was no such range. */
    remove: (id: number) => remove.run(id).changes > 0,
  }
}
