import type { Database } from 'bun:sqlite'

/** Days of a series that reads leave out, both ends inclusive. */
export interface Quarantine {
  id: number
  seriesId: number
  fromOn: string
  toOn: string
  reason: string
  createdAt: number
}

export interface QuarantineStore {
  all(): Quarantine[]
  add(range: Omit<Quarantine, 'id'>): Quarantine
  /** False when there was no such range. */
  remove(id: number): boolean
}

interface Row {
  id: number
  series_id: number
  from_on: string
  to_on: string
  reason: string
  created_at: number
}

const quarantineOf = (row: Row): Quarantine => ({
  id: row.id,
  seriesId: row.series_id,
  fromOn: row.from_on,
  toOn: row.to_on,
  reason: row.reason,
  createdAt: row.created_at,
})

export function createQuarantineStore(db: Database): QuarantineStore {
  const all = db.query<Row, []>('SELECT * FROM quarantine ORDER BY series_id, from_on, id')
  const add = db.query<Row, [number, string, string, string, number]>(
    'INSERT INTO quarantine (series_id, from_on, to_on, reason, created_at) VALUES (?, ?, ?, ?, ?) RETURNING *',
  )
  const remove = db.query('DELETE FROM quarantine WHERE id = ?')
  return {
    all: () => all.all().map(quarantineOf),
    add: range =>
      quarantineOf(
        add.get(range.seriesId, range.fromOn, range.toOn, range.reason, range.createdAt)!,
      ),
    remove: id => remove.run(id).changes > 0,
  }
}
