import type { Database } from 'bun:sqlite'
import {
  columnsOf,
  type DatasetTable,
  datasetTables,
  recordTables,
  rowSql,
} from '../dataset-tables.ts'
import { keepRemoved } from '../revisions.ts'
import { lazy, statements } from '../statement.ts'
import type { Follower, Row } from './followers.ts'

/** A row that a batch has changed, as it was before; null: there was none. */
export interface NotedRow {
  subject: string
  key: string
  before: string | null
}

/** A row of a dataset: its table and its key, by column. */
export interface RowName {
  table: string
  key: Row
}

/** Which batches after one wrote rows, by the names of the rows. */
export const laterRows = (db: Database) =>
  lazy<{ batchId: number; name: string; undoesId: number | null }, [number]>(
    db,
    `SELECT r.batch_id AS batchId, r.subject || ' ' || r.key AS name, b.undoes_id AS undoesId
     FROM batch_rows r JOIN batches b ON b.id = r.batch_id WHERE r.batch_id > ? ORDER BY r.batch_id`,
  )

export const nameOf = ({ subject, key }: Pick<NotedRow, 'subject' | 'key'>) => `${subject} ${key}`

export const tableNamed = (name: string): DatasetTable =>
  datasetTables.find(table => table.name === name)!

export function nameOfRow(subject: string, key: string): RowName {
  const values = JSON.parse(key) as Row[string][]
  return {
    table: subject,
    key: Object.fromEntries(tableNamed(subject).key.map((column, i) => [column, values[i]!])),
  }
}

/** Whether a column holds a time or a row number, which are not measurements. */
export const isStamp = (column: string): boolean => /(^id|_id|_at)$/.test(column)

const matchesBy = ({ key }: DatasetTable, parameter: string): string =>
  key.map((column, i) => `${column} = json_extract(${parameter}, '$[${i}]')`).join(' AND ')

export function rowReader(db: Database, table: DatasetTable): (key: string) => Row | undefined {
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
export function rowPutter(db: Database, table: DatasetTable) {
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
export const hasSameValues = (before: Row, now: Row): boolean =>
  Object.keys(before).every(
    column =>
      ['id', 'recorded_at', 'fetched_at'].includes(column) || before[column] === now[column],
  )

/** Whether two rows are equal, whenever they were recorded. */
const isSameRow = (a: Row, b: Row): boolean =>
  Object.keys(a).every(column => column === 'recorded_at' || a[column] === b[column])
