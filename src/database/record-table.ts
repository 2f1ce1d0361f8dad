import type { Changes, Database, SQLQueryBindings } from 'bun:sqlite'
import { camelCase } from '../lib/text/name-case.ts'
import { selected } from './clause.ts'
import type { RecordQuery } from './dataset-store.ts'
import { lazy, statements } from './statement.ts'

interface Columns<R> {
  /**
   * The key first, as `name` or `name AS field`: the field of a record has the name of its column
   * in camel case.
   */
  columns: string
  /** Fields that are stored as 0 or 1. */
  flags?: readonly (keyof R & string)[]
  /** Fields that are stored as JSON, where they are not null. */
  json?: readonly (keyof R & string)[]
}

/** Statements about a table whose rows are records, made from the list of its columns. */
export function recordTable<R extends object>(
  db: Database,
  table: string,
  { columns, flags = [], json = [] }: Columns<R>,
) {
  const stored: Readonly<Record<string, string>> = Object.fromEntries(
    columns.split(',').map(column => {
      const [name, field] = column.trim().split(' AS ')
      return [field ?? camelCase(name!), name!]
    }),
  )
  const fields = Object.keys(stored)
  const [key] = fields
  const fieldsWithout = (left: readonly string[]) => fields.filter(field => !left.includes(field))
  const recordOf = (row: object): R => {
    const record = { ...row } as Record<string, unknown>
    for (const field of flags) record[field] = record[field] === 1
    for (const field of json) record[field] = JSON.parse(record[field] as string)
    return record as R
  }
  const cellsOf = (record: object, names: readonly string[]): SQLQueryBindings[] =>
    names.map(name => {
      const value = (record as Readonly<Record<string, unknown>>)[name]
      if ((json as readonly string[]).includes(name) && value !== null) return JSON.stringify(value)
      return typeof value === 'boolean' ? Number(value) : (value as SQLQueryBindings)
    })
  const insertion = (names: readonly string[]) =>
    `INSERT INTO ${table} (${names.map(name => stored[name]).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  return {
    /** Records; `tail` begins behind the name of the table. `extra` is a further column. */
    where<B extends SQLQueryBindings[], Extra = unknown>(
      tail: string,
      extra?: string,
    ): RecordQuery<R & Extra, B> {
      const list = extra === undefined ? selected(stored) : `${selected(stored)}, ${extra}`
      const statement = lazy<object, B>(db, `SELECT ${list} FROM ${table} ${tail}`)
      return {
        get(...bindings) {
          const row = statement.get(...bindings)
          return row && (recordOf(row) as R & Extra)
        },
        all: (...bindings) => statement.all(...bindings).map(row => recordOf(row) as R & Extra),
      }
    },
    /** Adds a record; the database gives the fields that are left out. */
    insert<Left extends keyof R & string = never>(
      ...left: readonly Left[]
    ): (record: Omit<R, Left>) => Changes {
      const names = fieldsWithout(left)
      const statement = lazy(db, insertion(names))
      return record => statement.run(...cellsOf(record, names))
    },
    /** Adds a record, or replaces all but the fixed fields of the one that has its key. */
    upsert(...fixed: readonly (keyof R & string)[]): (record: R) => Changes {
      const changes = fieldsWithout([key!, ...fixed]).map(name => stored[name]!)
      const statement = lazy(
        db,
        `${insertion(fields)} ON CONFLICT (${stored[key!]}) DO UPDATE SET
           ${changes.map(column => `${column} = excluded.${column}`).join(', ')}`,
      )
      return record => statement.run(...cellsOf(record, fields))
    },
    /** Replaces all but the fixed fields of the record that has its key and meets the condition. */
    update(condition: string, ...fixed: readonly (keyof R & string)[]): (record: R) => Changes {
      const names = fieldsWithout([key!, ...fixed])
      const statement = lazy(
        db,
        `UPDATE ${table} SET ${names.map(name => `${stored[name]} = ?`).join(', ')}
         WHERE ${stored[key!]} = ? AND ${condition}`,
      )
      return record => statement.run(...cellsOf(record, [...names, key!]))
    },
  }
}

/** The texts of a table of names and values. */
export function namedValues<Name extends string>(db: Database, table: string) {
  const sql = statements(db)
  const read = sql<{ value: string }, [string]>`SELECT value FROM ${table} WHERE name = ?`
  const put = sql`
    INSERT INTO ${table} (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  const drop = sql`DELETE FROM ${table} WHERE name = ?`
  return {
    get: (name: Name) => read.get(name)?.value,
    set: (name: Name, value: string) => void put.run(name, value),
    remove: (name: Name) => void drop.run(name),
  }
}
