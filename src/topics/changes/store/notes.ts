import type { Database } from 'bun:sqlite'
import { lazy } from '../../../database/statement.ts'
import { rangesOf } from '../../../lib/time/ranges.ts'

/** When the values of a note were recorded, both ends inclusive. */
export interface Recorded {
  from: number
  to: number
}

/**
 * Notes in the transaction under way, whose instant is `writtenAt`, which times of a series have
 * values that were recorded or removed, given oldest first.
 */
export type NoteChanges = (
  writtenAt: number,
  seriesId: number,
  moments: readonly number[],
  recorded: Recorded,
) => void

export function changeNotes(db: Database): NoteChanges {
  // A range that grows within its transaction stays one row.
  const note = lazy(
    db,
    `INSERT INTO price_changes (written_at, series_id, first_at, last_at, recorded_from, recorded_to)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at),
       recorded_to = max(recorded_to, excluded.recorded_to)`,
  )
  return (writtenAt, seriesId, moments, recorded) => {
    for (const { from, to } of rangesOf(moments))
      note.run(writtenAt, seriesId, from, to, recorded.from, recorded.to)
  }
}
