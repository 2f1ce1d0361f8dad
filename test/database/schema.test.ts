import { describe, expect, test } from 'bun:test'
import { openDatabase } from '../../src/database/database.ts'

const db = openDatabase(':memory:')

interface Column {
  table: string
  name: string
  type: string
  key: number
}

const columns = db
  .query<Column, []>(
    `SELECT t.name AS "table", c.name, c.type, c.pk AS key
     FROM pragma_table_list t JOIN pragma_table_info(t.name) c
     WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`,
  )
  .all()

const references = db
  .query<{ table: string; from: string; to: string }, []>(
    `SELECT t.name AS "table", f."from", f."to"
     FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
  )
  .all()

const statements = new Map(
  db
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table'",
    )
    .all()
    .map(({ name, sql }) => [name, sql]),
)

describe('schema.sql', () => {
  test('names what refers to a row after the column that it refers to', () => {
    expect(references.length).toBeGreaterThan(50)
    for (const { table, from, to } of references)
      expect(from === to || from.endsWith(`_${to}`), `${table} ${from}`).toBe(true)
  })

  test('names every row number id, or number where the id is text', () => {
    const idTypes = new Map(
      columns.filter(({ name }) => name === 'id').map(({ table, type }) => [table, type]),
    )
    const rowNumbers = columns.filter(
      ({ table, type, key }) =>
        key === 1 &&
        type === 'INTEGER' &&
        columns.filter(column => column.table === table && column.key > 0).length === 1,
    )
    for (const { table, name } of rowNumbers) {
      if (references.some(reference => reference.table === table && reference.from === name))
        continue
      const expected = idTypes.get(table) === 'INTEGER' ? 'id' : 'number'
      expect({ table, name }).toEqual({ table, name: expected })
    }
  })

  test('checks what its comments call 1 or JSON', () => {
    const flag = /-- 1: [^\n]*\n(?:\s*--[^\n]*\n)*\s*(\w+) INTEGER NOT NULL[^\n]*/g
    const json = /-- JSON [^\n]*\n(?:\s*--[^\n]*\n)*\s*(\w+) TEXT[^\n]*/g
    const sql = [...statements.values()].join('\n')
    const columns = { flags: [...sql.matchAll(flag)], json: [...sql.matchAll(json)] }
    expect(columns.flags.length).toBeGreaterThan(8)
    expect(columns.json.length).toBeGreaterThan(8)
    for (const [line, name] of columns.flags) expect(line).toContain(`CHECK (${name} IN (0, 1))`)
    for (const [line, name] of columns.json) expect(line).toContain(`CHECK (json_valid(${name}))`)
    expect(() =>
      db.run("INSERT INTO sms_settings VALUES ('a', 2, NULL, NULL, 'UTC', 1, '[]')"),
    ).toThrow('enabled IN (0, 1)')
    expect(() =>
      db.run("INSERT INTO sms_settings VALUES ('a', 1, NULL, NULL, 'UTC', 1, 'none')"),
    ).toThrow('json_valid')
  })
})
