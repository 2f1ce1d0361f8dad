import type { Database } from 'bun:sqlite'
import { recordTables } from './dataset-tables.ts'
import { lazy } from './statement.ts'

const tables = [...recordTables.keys()]

/**
 * Notes rows that were recorded after the last noted ones of their table: as written when they were
 * recorded, or in the transaction under way, whose instant is `writtenAt`.
 */
export function noteMissedRows(db: Database, writtenAt: number | null = null): void {
  for (const table of tables) {
    const newer = `> coalesce((SELECT max(recorded_at) FROM dataset_changes WHERE subject = '${table}'), -9e15)`
    const earlier = (column: string) =>
      `SELECT ${column} FROM dataset_revisions WHERE subject = '${table}' AND ${column} ${newer}`
    db.query(
      `INSERT OR IGNORE INTO dataset_changes (written_at, subject, recorded_at)
       SELECT coalesce(?, at), '${table}', at FROM (
         SELECT recorded_at AS at FROM ${table} WHERE recorded_at ${newer}
         UNION ${earlier('recorded_at')} UNION ${earlier('superseded_at')})`,
    ).run(writtenAt)
  }
}

/**
 * Notes in the transaction under way, whose instant is `writtenAt`, that rows were written or removed
 * that are recorded at these instants; by default at its own.
 */
export type NoteRows = (writtenAt: number, recordedAts?: Iterable<number>) => void

export function rowNotes(db: Database): NoteRows {
  const arms = tables.map(
    table => `SELECT '${table}' AS subject
      WHERE EXISTS (SELECT 1 FROM ${table} WHERE recorded_at = ?2)
        OR EXISTS (SELECT 1 FROM dataset_revisions WHERE subject = '${table}' AND recorded_at = ?2)
        OR EXISTS (SELECT 1 FROM dataset_revisions WHERE subject = '${table}' AND superseded_at = ?2)`,
  )
  const note = lazy(
    db,
    `INSERT OR IGNORE INTO dataset_changes (written_at, subject, recorded_at, batch_id)
     SELECT ?1, subject, ?2, (SELECT max(batch_id) FROM batch_under_way)
     FROM (${arms.join(' UNION ALL ')})`,
  )
  return (writtenAt, recordedAts = [writtenAt]) => {
    for (const recordedAt of recordedAts) note.run(writtenAt, recordedAt)
  }
}
