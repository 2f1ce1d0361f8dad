import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openDatabase } from '../../../src/database/database.ts'
import { createApplier } from '../../../src/replication/store/applier.ts'
import { logChanges, rangeNotes } from '../../../src/replication/store/change-log.ts'
import { keyCells } from '../../../src/replication/store/delta.ts'
import { createDeltaReader } from '../../../src/replication/store/delta-reader.ts'
import { rangedTables, replicatedTables } from '../../../src/replication/store/tables.ts'
import { runs } from '../../support/full.ts'
import { databaseInMemory } from '../../support/instance/database.ts'
import { dumpOf, rowsOf } from '../../support/topics/replication.ts'

interface Column {
  name: string
  type: string
  notnull: number
}

/** A database whose commits are logged, and a copy that its deltas are applied to. */
function pair() {
  const db = databaseInMemory()
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-'))
  const path = join(dir, 'copy.db')
  db.query('VACUUM INTO ?').run(path)
  const copy = openDatabase(path)
  logChanges(db, true)
  // Any value of the type of a column, whatever the product would write there.
  for (const each of [db, copy]) {
    each.run('PRAGMA foreign_keys = OFF')
    each.run('PRAGMA ignore_check_constraints = ON')
    each.run('DROP TRIGGER audit_entries_stay')
    each.run('DROP TRIGGER audit_entries_last')
  }
  const reader = createDeltaReader(db, () => 0)
  const apply = createApplier(copy)
  let at = 0
  return {
    db,
    copy,
    replicate() {
      for (let before = -1; before !== at; ) {
        before = at
        for (const delta of reader.after(at)) {
          apply(JSON.parse(JSON.stringify(delta)))
          if (delta.isLast) at = delta.upTo
        }
      }
    },
    [Symbol.dispose]() {
      copy.close()
      db.close()
      rmSync(dir, { recursive: true })
    },
  }
}

const maxInteger = 2n ** 63n - 1n
const minInteger = -(2n ** 63n)
const integers = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.bigInt({ min: minInteger, max: maxInteger }),
  fc.constantFrom(2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, maxInteger, minInteger),
)
const reals = fc.oneof(
  fc.double({ noNaN: true }),
  fc.constantFrom(Infinity, -Infinity, 0, -0, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, 0.1),
)
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\u0000', 'a\u0000b', '🛢️ 𝔅rent', '{"hex":"00"}', '9e999', "'; --"),
)
const blobs = fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.constant(new Uint8Array()))

const arbitraryOf = ({ type, notnull }: Column): fc.Arbitrary<SQLQueryBindings> => {
  const byType: Record<string, fc.Arbitrary<SQLQueryBindings>> = {
    INTEGER: integers,
    INT: integers,
    REAL: reals,
    BLOB: blobs,
    TEXT: texts,
  }
  const values = byType[type]
  if (!values) throw new Error(`no values are known for columns of type ${type}`)
  return notnull ? values : fc.oneof({ weight: 4, arbitrary: values }, fc.constant(null))
}

const columnsOf = (db: Database, table: string): Column[] =>
  db
    .query<Column & { pk: number }, [string]>(
      'SELECT name, type, "notnull", pk FROM pragma_table_info(?)',
    )
    .all(table)
    .map(({ name, type, notnull, pk }) => ({ name, type, notnull: Number(notnull || pk > 0) }))

type Step =
  | { kind: 'insert'; values: SQLQueryBindings[] }
  | { kind: 'update'; column: string; value: SQLQueryBindings; row: number }
  | { kind: 'delete'; row: number }

function stepsOf(db: Database, table: string): fc.Arbitrary<Step[]> {
  const row = fc.nat({ max: 9 })
  const columns = columnsOf(db, table)
  const insert = fc.record({
    kind: fc.constant('insert' as const),
    values: fc.tuple(...columns.map(arbitraryOf)),
  })
  const update = fc.constantFrom(...columns).chain(column =>
    fc.record({
      kind: fc.constant('update' as const),
      column: fc.constant(column.name),
      value: arbitraryOf(column),
      row,
    }),
  )
  const remove = fc.record({ kind: fc.constant('delete' as const), row })
  return fc.array(fc.oneof<fc.Arbitrary<Step>[]>(insert, insert, insert, update, update, remove), {
    minLength: 2,
    maxLength: 8,
  })
}

/** A row that collides with another one changes nothing. */
function take(db: Database, table: string, key: readonly string[], step: Step): void {
  if (step.kind === 'insert') {
    const places = step.values.map(() => '?').join(', ')
    db.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${places})`).run(...step.values)
    return
  }
  const rows = db
    .prepare<unknown, []>(`SELECT ${key.join(', ')} FROM ${table} ORDER BY ${key.join(', ')}`)
    .safeIntegers(true)
    .values() as SQLQueryBindings[][]
  const chosen = rows[step.row % Math.max(1, rows.length)]
  if (!chosen) return
  const where = key.map(column => `${column} = ?`).join(' AND ')
  if (step.kind === 'delete') db.prepare(`DELETE FROM ${table} WHERE ${where}`).run(...chosen)
  else
    db.prepare(`UPDATE OR IGNORE ${table} SET ${step.column} = ? WHERE ${where}`).run(
      step.value,
      ...chosen,
    )
}

test('a replica has every value of every column of every table exactly as the primary has it', () => {
  using both = pair()
  for (const { name, key } of replicatedTables(both.db)) {
    fc.assert(
      fc.property(stepsOf(both.db, name), steps => {
        for (const step of steps) take(both.db, name, key, step)
        both.replicate()
        expect(rowsOf(both.copy, name)).toEqual(rowsOf(both.db, name))
      }),
      { numRuns: 8, endOnFailure: true },
    )
  }
  expect(dumpOf(both.copy)).toEqual(dumpOf(both.db))
}, 120_000)

test('a replica has every value of every observation, revision and bar exactly as the primary has it', () => {
  using both = pair()
  const { db } = both
  const note = rangeNotes(db)
  const dayMs = 86_400_000
  const moments = fc.integer({ min: -40, max: 40 }).map(days => days * (dayMs / 2))
  for (const name of rangedTables) {
    const columns = columnsOf(db, name)
    const momentName = name === 'bars' ? 'starts_at' : 'observed_at'
    const fixed: Record<string, fc.Arbitrary<SQLQueryBindings>> = {
      series_id: fc.constantFrom(1, 2),
      [momentName]: moments,
      span: fc.constantFrom(1, 24),
    }
    const row = fc.tuple(...columns.map(column => fixed[column.name] ?? arbitraryOf(column)))
    const momentAt = columns.findIndex(column => column.name === momentName)
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), fc.boolean(), (rows, takesOut) => {
        db.transaction(() => {
          const places = columns.map(() => '?').join(', ')
          for (const values of rows) {
            db.prepare(`INSERT OR IGNORE INTO ${name} VALUES (${places})`).run(...values)
            note(values[0] as number, () => [values[momentAt] as number])
          }
          const [first] = rows
          if (!takesOut || !first) return
          const where = `series_id = ? AND ${momentName} = ?`
          db.prepare(`DELETE FROM ${name} WHERE ${where}`).run(first[0]!, first[momentAt]!)
        })()
        both.replicate()
        expect(rowsOf(both.copy, name, '1, 2, 3')).toEqual(rowsOf(db, name, '1, 2, 3'))
      }),
      { numRuns: runs(60), endOnFailure: true },
    )
  }
}, 120_000)

test('a key that the log of an earlier version has as JSON instead of text is read as text', () => {
  expect(keyCells('["rig_counts",["US","2020-01-01"],5]')).toEqual([
    'rig_counts',
    '["US","2020-01-01"]',
    5,
  ])
  expect(keyCells('[9007199254740993,-9.0e+999,null,{"hex":"00"}]')).toEqual([
    { integer: '9007199254740993' },
    { real: '-Infinity' },
    null,
    { hex: '00' },
  ])
})
