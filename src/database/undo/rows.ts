import type { Database } from 'bun:sqlite'
import { isOverwritten, type Writer } from '../../topics/prices/store/later-writers.ts'
import { rowNotes } from '../dataset-log.ts'
import {
  columnsOf,
  type DatasetTable,
  datasetTables,
  recordTables,
  rowSql,
} from '../dataset-tables.ts'
import { keepRemoved } from '../revisions.ts'
import { lazy, statements } from '../statement.ts'
import { type Follower, followersOf, type Row } from './followers.ts'

/** A row of a dataset: its table and its key, by column. */
export interface RowName {
  table: string
  key: Row
}

/** A number of a row, by its column. */
export interface RowNumber {
  row: RowName
  column: string
  before: number
  now: number
}

/** The changes of a batch to rows of datasets. */
export type BatchRowStore = ReturnType<typeof createBatchRowStore>

/** Rows that undos restored and no one has written since, by table and key. */
export type UndoneRows = Map<string, Row[]>

interface NotedRow {
  subject: string
  key: string
  before: string | null
}

export function createBatchRowStore(db: Database) {
  const sql = statements(db)
  const noted = sql<NotedRow, [number]>`SELECT subject, key, before FROM batch_rows WHERE id IN (
       SELECT min(id) FROM batch_rows WHERE batch_id = ? GROUP BY subject, key) ORDER BY subject, key`
  const later = sql<{ batchId: number; name: string; undoesId: number | null }, [number]>`
    SELECT r.batch_id AS batchId, r.subject || ' ' || r.key AS name, b.undoes_id AS undoesId
    FROM batch_rows r JOIN batches b ON b.id = r.batch_id WHERE r.batch_id > ? ORDER BY r.batch_id`
  const chemicals = sql<{ name: string }, [string]>`
    SELECT 'frac_chemicals ' || json_array(c.disclosure_id, c.substance_id, c.purpose) AS name
    FROM frac_disclosures d JOIN frac_chemicals c ON c.disclosure_id = d.id WHERE d.reference = ?`

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
  const noteRows = rowNotes(db)
  const putters = new Map<string, ReturnType<typeof rowPutter>>()
  const readers = new Map<string, ReturnType<typeof rowReader>>()
  const readerOf = (name: string) =>
    readers.getOrInsertComputed(name, () => rowReader(db, tableNamed(name)))

  const nameOf = ({ subject, key }: NotedRow) => `${subject} ${key}`

  /** Whether a written row equals one that an undo removed. */
  const isUndone = (undone: UndoneRows, rows: readonly NotedRow[]): boolean => {
    const ofRecord = rows.filter(({ subject }) => !tableNamed(subject).isNumbered)
    // A row that was removed and is written again gets another number.
    const numbersBefore = new Map<string, string>()
    const isSame = (row: NotedRow, key: string) => {
      const is = readerOf(row.subject)(row.key)
      const was = is && undone.get(`${row.subject} ${key}`)?.find(before => isAgain(before, is))
      if (!is || !was) return false
      if ('id' in was) numbersBefore.set(JSON.stringify([is.id]), JSON.stringify([was.id]))
      return true
    }
    return (
      ofRecord.length > 0 &&
      ofRecord.every(row => isSame(row, row.key)) &&
      rows
        .filter(row => !ofRecord.includes(row))
        .every(row => isSame(row, numbersBefore.get(row.key) ?? row.key))
    )
  }

  const touchedNames = (batchId: number, rows: readonly NotedRow[]): Set<string> => {
    const writers = new Map(rows.map(row => [nameOf(row), [] as Writer[]]))
    for (const { batchId: id, name, undoesId } of later.iterate(batchId)) {
      const own = writers.get(name)
      // A batch may have noted a row more than once.
      if (own && own.at(-1)?.id !== id) own.push({ id, undoesId: undoesId ?? undefined })
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
      const own = rows.filter(row => tableNamed(row.subject).dataset === dataset)
      if (!isUndone(undone, own)) {
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
        const own = (bySubject.get(table.name) ?? []).filter(row => !names.has(nameOf(row)))
        if (own.length === 0) continue
        const put = rowPutter(db, table)
        const counts = !table.isNumbered && (dataset ?? table.dataset) === table.dataset
        for (const { key, before } of own) {
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

const tableNamed = (name: string): DatasetTable => datasetTables.find(table => table.name === name)!

function nameOfRow(subject: string, key: string): RowName {
  const values = JSON.parse(key) as Row[string][]
  return {
    table: subject,
    key: Object.fromEntries(tableNamed(subject).key.map((column, i) => [column, values[i]!])),
  }
}

/** Whether a column holds a time or a row number, which are not measurements. */
const isStamp = (column: string): boolean => /(^id|_id|_at)$/.test(column)

const matchesBy = ({ key }: DatasetTable, parameter: string): string =>
  key.map((column, i) => `${column} = json_extract(${parameter}, '$[${i}]')`).join(' AND ')

/** Reads a row of a table as it is, by its key. */
function rowReader(db: Database, table: DatasetTable): (key: string) => Row | undefined {
  const { name } = table
  const current = lazy<{ row: string }, [string]>(
    db,
    `SELECT ${rowSql(columnsOf(db, name), 't')} AS row FROM ${name} t WHERE ${matchesBy(table, '?1')}`,
  )
  return key => {
    const stored = current.get(key)
    return stored ? (JSON.parse(stored.row) as Row) : undefined
  }
}

/** Restores rows of one table; returns the results, undefined: nothing changed. */
function rowPutter(db: Database, table: DatasetTable) {
  const sql = statements(db)
  const { name } = table
  const columns = columnsOf(db, name)
  const matches = matchesBy(table, '?1')
  const rowNow = rowReader(db, table)
  const isStamped = columns.includes('recorded_at')
  const cellOf = (column: string, recordedAt = '?2') =>
    column === 'recorded_at' ? recordedAt : `json_extract(?1, '$.${column}')`
  const insert = (names: readonly string[]) =>
    sql`
      INSERT INTO ${name} (${names.join(', ')}) SELECT ${names.map(column => cellOf(column)).join(', ')}`
  const add = insert(columns)
  const addUnderNext = insert(columns.filter(column => column !== 'id'))
  // Never earlier than the row that it replaces, or it would count as an old row that arrives late.
  const assignments = columns.map(column => `${column} = ${cellOf(column, 'max(?3, recorded_at)')}`)
  const set = sql`UPDATE ${name} SET ${assignments.join(', ')} WHERE ${matchesBy(table, '?2')}`
  const drop = sql`DELETE FROM ${name} WHERE ${matches}`
  const keep = recordTables.has(name) ? keepRemoved(db, name, matches) : undefined
  const numberTaken = columns.includes('id')
    ? sql`SELECT 1 FROM ${name} WHERE id = json_extract(?, '$.id')`
    : undefined
  return (
    key: string,
    before: string | null,
    at: number,
    follower: Follower | undefined,
  ): 'restored' | 'removed' | undefined => {
    const was = rowNow(key)
    const stamp = isStamped ? [at] : []
    if (before === null) {
      if (!was) return undefined
      keep?.(key, at)
      drop.run(key)
      follower?.moved(was, undefined)
      return 'removed'
    }
    if (was && isSameRow(was, JSON.parse(before) as Row)) return undefined
    if (was) set.run(before, key, ...stamp)
    else if (!table.isNumbered && numberTaken?.get(before)) addUnderNext.run(before, ...stamp)
    else add.run(before, ...stamp)
    follower?.moved(was, rowNow(key))
    return 'restored'
  }
}

/** Whether two rows are equal apart from their ids and the times of recording and reading. */
const isAgain = (before: Row, now: Row): boolean =>
  Object.keys(before).every(
    column =>
      ['id', 'recorded_at', 'fetched_at'].includes(column) || before[column] === now[column],
  )

/** Whether two rows are equal, whenever they were recorded. */
const isSameRow = (a: Row, b: Row): boolean =>
  Object.keys(a).every(column => column === 'recorded_at' || a[column] === b[column])
