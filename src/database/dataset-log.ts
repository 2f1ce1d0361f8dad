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
      WHERE NOT EXISTS (SELECT 1 FROM dataset_changes WHERE subject = '${table}' AND recorded_at = ?2)
        AND (EXISTS (SELECT 1 FROM ${table} WHERE recorded_at = ?2)
          OR EXISTS (SELECT 1 FROM dataset_revisions WHERE subject = '${table}' AND recorded_at = ?2)
          OR EXISTS (SELECT 1 FROM dataset_revisions WHERE subject = '${table}' AND superseded_at = ?2))`,
  )
  const into = 'INSERT OR IGNORE INTO dataset_changes (written_at, subject, recorded_at, batch_id)'
  const batch = '(SELECT max(batch_id) FROM batch_under_way)'
  const note = lazy(
    db,
    `${into} SELECT ?1, subject, ?2, ${batch} FROM (${arms.join(' UNION ALL ')})`,
  )
  // Rows that the first transaction of their instant wrote in more than one step.
  const clearOwn = lazy(
    db,
    `DELETE FROM late_rows WHERE written_at = 0 AND ? = (SELECT min(written_at) FROM dataset_changes c
       WHERE c.subject = late_rows.subject AND c.recorded_at = late_rows.recorded_at)`,
  )
  const late = lazy(
    db,
    `${into} SELECT DISTINCT ?, subject, recorded_at, ${batch} FROM late_rows WHERE written_at = 0`,
  )
  const stamp = lazy(db, 'UPDATE OR IGNORE late_rows SET written_at = ? WHERE written_at = 0')
  const clear = lazy(db, 'DELETE FROM late_rows WHERE written_at = 0')
  return (writtenAt, recordedAts = [writtenAt]) => {
    clearOwn.run(writtenAt)
    late.run(writtenAt)
    stamp.run(writtenAt)
    clear.run()
    for (const recordedAt of recordedAts) note.run(writtenAt, recordedAt)
  }
}
