import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { transact } from '../../database/database.ts'
import { keepRevisions } from '../../database/revisions.ts'
import { type LazyStatement, lazy } from '../../database/statement.ts'
import { setTriggers } from '../../database/triggers.ts'
import { noteBatchRows } from '../../database/undo-triggers.ts'
import { boundOf, type Cell, type Delta, type RangeDelta, type TableDelta } from './delta.ts'
import { barsOfRange, spanHours } from './delta-reader.ts'
import { createReplicationState } from './state.ts'
import { rangedTables, tableOf, textIndexes } from './tables.ts'

const derivingTriggers = ['keep_', 'undo_'] as const

/**
 * Rows that triggers derive from others come with the stream. On a replica these triggers would
 * derive them again, from rows in another order.
 */
function deriveNothing(db: Database): void {
  for (const prefix of derivingTriggers) setTriggers(db, prefix, [])
}

/**
 * Recreates the triggers that the applier removed from a replica, before another client writes to
 * it.
 */
export function deriveAgain(db: Database): void {
  keepRevisions(db)
  noteBatchRows(db)
}

/**
 * Brings a replica to the state of a delta, in one transaction with its new sequence number. The
 * connection must not check references: between two parts they may be dangling.
 */
export function createApplier(db: Database): (delta: Delta) => void {
  const statements = new Map<string, LazyStatement<unknown, SQLQueryBindings[]>>()
  const run = (sql: string, cells: readonly Cell[]) => {
    const statement = statements.get(sql) ?? lazy(db, sql)
    statements.set(sql, statement)
    statement.run(...cells.map(boundOf))
  }
  deriveNothing(db)
  const state = createReplicationState(db)
  const rangedColumns = new Map(rangedTables.map(name => [name, tableOf(db, name).columns]))
  const put = (table: string, names: readonly string[], rows: readonly Cell[][]) => {
    const sql = `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    for (const row of rows) run(sql, row)
  }
  /** The index keeps no texts, so a deletion repeats those of the row that is there. */
  const unindex = (table: string, id: readonly Cell[]) => {
    const { index, columns } = textIndexes[table]!
    const list = columns.join(', ')
    run(
      `INSERT INTO ${index} (${index}, rowid, ${list}) SELECT 'delete', id, ${list} FROM ${table} WHERE id = ?`,
      id,
    )
  }
  const applyTable = ({ table, columns: names, rows, key, gone }: TableDelta) => {
    const text = textIndexes[table]
    const idAt = names.indexOf('id')
    if (text) for (const cells of [...gone, ...rows.map(row => [row[idAt]!])]) unindex(table, cells)
    const where = key.map(column => `${column} = ?`).join(' AND ')
    for (const cells of gone) run(`DELETE FROM ${table} WHERE ${where}`, cells)
    put(table, names, rows)
    if (!text) return
    const into = `INSERT INTO ${text.index} (rowid, ${text.columns.join(', ')})`
    const indexed = ['id', ...text.columns].map(name => names.indexOf(name))
    for (const row of rows)
      run(
        `${into} VALUES (${indexed.map(() => '?').join(', ')})`,
        indexed.map(i => row[i]!),
      )
  }
  const applyRange = (range: RangeDelta) => {
    const { seriesId, from, to } = range
    for (const table of ['observations', 'observation_revisions'] as const)
      run(`DELETE FROM ${table} WHERE series_id = ? AND observed_at >= ? AND observed_at <= ?`, [
        seriesId,
        from,
        to,
      ])
    const { first, last } = barsOfRange(range)
    for (const span of spanHours)
      run(
        'DELETE FROM bars WHERE series_id = ? AND span = ? AND starts_at >= ? AND starts_at <= ?',
        [seriesId, span, first, last],
      )
    for (const table of rangedTables) put(table, rangedColumns.get(table)!, range[table])
  }
  return delta =>
    transact(db, () => {
      for (const table of delta.tables) applyTable(table)
      for (const range of delta.ranges) applyRange(range)
      for (const [name, last] of Object.entries(delta.counters)) {
        run('UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1 AND seq < ?2', [name, last])
        run(
          'INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)',
          [name, last],
        )
      }
      if (delta.isLast) state.set('applied', String(delta.upTo))
    })
}
