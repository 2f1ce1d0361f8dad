import type { Database } from 'bun:sqlite'
import { datasetTables } from '../dataset-tables.ts'
import { statements } from '../statement.ts'
import { followersOf, type Row } from './followers.ts'
import {
  hasSameValues,
  laterRows,
  type NotedRow,
  nameOf,
  rowPutter,
  rowReader,
  tableNamed,
} from './table-rows.ts'

/** Rows that undos restored and no one has written since, by table and key. */
export type UndoneRows = Map<string, Row[]>

export type UndoneRowStore = ReturnType<typeof createUndoneRowStore>

/** Rows that an undo removed and that are written again: they are taken back with the undo. */
export function createUndoneRowStore(db: Database) {
  const sql = statements(db)
  const later = laterRows(db)
  const ofUndos = sql<NotedRow & { batchId: number }, [string]>`
    SELECT r.batch_id AS batchId, r.subject, r.key, r.before FROM batches b
    JOIN batch_rows r ON r.batch_id = b.id
    WHERE b.kind = 'undo' AND b.forgotten = 0 AND (b.dataset = ? OR b.dataset IS NULL)
    ORDER BY r.id`
  const lastNoted = sql<{ id: number | null }, []>`SELECT max(id) AS id FROM batch_rows`
  const notedAfter = sql<NotedRow, [number]>`
    SELECT subject, key, before FROM batch_rows WHERE id IN (
      SELECT min(id) FROM batch_rows WHERE id > ? GROUP BY subject, key)`
  const forgetNoted = sql`DELETE FROM batch_rows WHERE id > ?`
  const forgetLate = sql`DELETE FROM late_rows WHERE written_at = 0`
  const putters = new Map<string, ReturnType<typeof rowPutter>>()
  const readers = new Map<string, ReturnType<typeof rowReader>>()
  const readerOf = (name: string) =>
    readers.getOrInsertComputed(name, () => rowReader(db, tableNamed(name)))

  /** Whether a written row equals one that an undo removed. */
  const isUndone = (undone: UndoneRows, rows: readonly NotedRow[]): boolean => {
    const recorded = rows.filter(({ subject }) => !tableNamed(subject).isNumbered)
    // A row that was removed and is written again gets another number.
    const numbersBefore = new Map<string, string>()
    const isSame = (row: NotedRow, key: string) => {
      const is = readerOf(row.subject)(row.key)
      const was =
        is &&
        undone.get(nameOf({ subject: row.subject, key }))?.find(before => hasSameValues(before, is))
      if (!is || !was) return false
      if ('id' in was) numbersBefore.set(JSON.stringify([is.id]), JSON.stringify([was.id]))
      return true
    }
    return (
      recorded.length > 0 &&
      recorded.every(row => isSame(row, row.key)) &&
      rows
        .filter(row => !recorded.includes(row))
        .every(row => isSame(row, numbersBefore.get(row.key) ?? row.key))
    )
  }

  return {
    /** Rows that undos of a dataset reverted, where the undo is still in force and on record. */
    undone(dataset: string) {
      const rows: UndoneRows = new Map()
      const undoOf = new Map<string, number>()
      for (const row of ofUndos.iterate(dataset)) {
        const name = nameOf(row)
        // An undo may have noted a row more than once: the first note has the version that it
        // reverted.
        if (undoOf.get(name) === row.batchId) continue
        undoOf.set(name, row.batchId)
        if (row.before === null) continue
        rows.set(name, [...(rows.get(name) ?? []), JSON.parse(row.before) as Row])
      }
      if (rows.size === 0) return rows
      const first = undoOf.values().reduce((least, id) => Math.min(least, id), Infinity)
      for (const { batchId, name } of later.iterate(first))
        if (batchId > (undoOf.get(name) ?? Infinity)) rows.delete(name)
      return rows
    },
    /** The id of the last recorded change of a row. */
    notedUpTo: () => lastNoted.get()?.id ?? 0,
    /**
     * Puts rows that were written after `notedAfter` back as they were before, where all of them
     * are again what an undo took back; otherwise they stay, and are not undone again. In the
     * transaction that wrote them.
     */
    putBackUndone(dataset: string, undone: UndoneRows, noted: number, at: number) {
      const rows = notedAfter.all(noted)
      // Rows in other tables that are derived from them are undone with them.
      const datasetRows = rows.filter(row => tableNamed(row.subject).dataset === dataset)
      if (!isUndone(undone, datasetRows)) {
        for (const row of rows) undone.delete(nameOf(row))
        return false
      }
      const followers = followersOf(db)
      db.run('PRAGMA defer_foreign_keys = ON')
      for (const table of datasetTables)
        for (const { key, before } of rows.filter(row => row.subject === table.name))
          putters.getOrInsertComputed(table.name, () => rowPutter(db, table))(
            key,
            before,
            at,
            followers[table.name],
          )
      for (const follower of Object.values(followers)) follower.settle()
      // Nothing has changed, so nothing prevents undoing the undo.
      forgetNoted.run(noted)
      forgetLate.run()
      return true
    },
  }
}
