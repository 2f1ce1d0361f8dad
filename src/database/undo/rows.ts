import type { Database } from 'bun:sqlite'
import { isOverwritten, type Writer } from '../../topics/prices/store/later-writers.ts'
import { rowNotes } from '../dataset-log.ts'
import { datasetTables } from '../dataset-tables.ts'
import { statements } from '../statement.ts'
import { followersOf, type Row } from './followers.ts'
import {
  isStamp,
  laterRows,
  type NotedRow,
  nameOf,
  nameOfRow,
  type RowName,
  rowPutter,
  rowReader,
  tableNamed,
} from './table-rows.ts'
import { createUndoneRowStore } from './undone-rows.ts'

/** A number of a row, by its column. */
export interface RowNumber {
  row: RowName
  column: string
  before: number
  now: number
}

/** The changes of a batch to rows of datasets. */
export type BatchRowStore = ReturnType<typeof createBatchRowStore>

export function createBatchRowStore(db: Database) {
  const sql = statements(db)
  const noted = sql<NotedRow, [number]>`SELECT subject, key, before FROM batch_rows WHERE id IN (
       SELECT min(id) FROM batch_rows WHERE batch_id = ? GROUP BY subject, key) ORDER BY subject, key`
  const chemicals = sql<{ name: string }, [string]>`
    SELECT 'frac_chemicals ' || json_array(c.disclosure_id, c.substance_id, c.purpose) AS name
    FROM frac_disclosures d JOIN frac_chemicals c ON c.disclosure_id = d.id WHERE d.reference = ?`
  const later = laterRows(db)
  const noteRows = rowNotes(db)

  const touchedNames = (batchId: number, rows: readonly NotedRow[]): Set<string> => {
    const writers = new Map(rows.map(row => [nameOf(row), [] as Writer[]]))
    for (const { batchId: id, name, undoesId } of later.iterate(batchId)) {
      const rowWriters = writers.get(name)
      // A batch may have noted a row more than once.
      if (rowWriters && rowWriters.at(-1)?.id !== id)
        rowWriters.push({ id, undoesId: undoesId ?? undefined })
    }
    const names = new Set<string>()
    for (const [name, laterWriters] of writers) if (isOverwritten(laterWriters)) names.add(name)
    const leaving = new Set(rows.filter(row => row.before === null).map(nameOf))
    for (const row of rows) {
      if (row.subject !== 'frac_disclosures' || row.before !== null) continue
      const [reference] = JSON.parse(row.key) as [string]
      const isNeeded = chemicals
        .all(reference)
        .some(({ name }) => !leaving.has(name) || names.has(name))
      if (isNeeded) names.add(nameOf(row))
    }
    return names
  }

  return {
    ...createUndoneRowStore(db),
    /** The numbers of revised rows: before and after the batch. */
    *numbers(batchId: number): Iterable<RowNumber> {
      for (const [subject, rows] of Map.groupBy(noted.all(batchId), row => row.subject)) {
        const rowNow = rowReader(db, tableNamed(subject))
        for (const { key, before } of rows) {
          const now = before === null ? undefined : rowNow(key)
          if (!now) continue
          const was = JSON.parse(before!) as Row
          for (const [column, value] of Object.entries(now)) {
            const earlier = was[column]
            if (typeof value !== 'number' || typeof earlier !== 'number') continue
            if (value === earlier || isStamp(column)) continue
            yield { row: nameOfRow(subject, key), column, before: earlier, now: value }
          }
        }
      }
    },
    /** Rows of a batch that cannot be put back: others wrote there later, or refer to them. */
    touched(batchId: number) {
      const rows = noted.all(batchId)
      const names = touchedNames(batchId, rows)
      return rows
        .filter(row => names.has(nameOf(row)))
        .filter(({ subject }) => !tableNamed(subject).isNumbered)
        .map(({ subject, key }) => nameOfRow(subject, key))
    },
    /**
     * Restores the rows before a batch, as known from `at` on: `as_of` still returns the versions
     * in between. Rows that are `touched` are left alone. Counts those of the batch's dataset;
     * null: of every one. Call it in a transaction whose changes are noted for another batch.
     */
    putBack(batchId: number, dataset: string | null, at: number) {
      const rows = noted.all(batchId)
      const names = touchedNames(batchId, rows)
      const bySubject = Map.groupBy(rows, row => row.subject)
      const followers = followersOf(db)
      const done = { restored: 0, removed: 0 }
      // A row may be deleted before the rows that refer to it, which are deleted as well.
      db.run('PRAGMA defer_foreign_keys = ON')
      for (const table of datasetTables) {
        const tableRows = (bySubject.get(table.name) ?? []).filter(row => !names.has(nameOf(row)))
        if (tableRows.length === 0) continue
        const put = rowPutter(db, table)
        const counts = !table.isNumbered && (dataset ?? table.dataset) === table.dataset
        for (const { key, before } of tableRows) {
          const outcome = put(key, before, at, followers[table.name])
          if (outcome && counts) done[outcome] += 1
        }
      }
      for (const follower of Object.values(followers)) follower.settle()
      if (rows.length > 0) noteRows(at)
      return done
    },
  }
}
