import type { Database } from 'bun:sqlite'
import { transact } from '../../database/database.ts'
import { lazy } from '../../database/statement.ts'
import { setTriggers, type Trigger } from '../../database/triggers.ts'
import { rangesOf } from '../../lib/time/ranges.ts'
import { type ReplicatedTable, replicatedTables } from './tables.ts'

const prefix = 'log_'
const operations = ['insert', 'update', 'delete'] as const

const triggerOf = (table: string, operation: string) => `${prefix}${table}_${operation}`

/** Whether the commits of a database are logged; read once per connection. */
const logged = new WeakMap<Database, boolean>()

/**
 * Logs every commit from here on, or none. Both are one transaction, and cost nothing where it is
 * so already.
 */
export function logChanges(db: Database, isWanted: boolean): void {
  const wanted = isWanted ? replicatedTables(db).flatMap(triggersOf) : []
  setTriggers(db, prefix, wanted, () => {
    // No one publishes what was not published, and who logs again begins with a new snapshot.
    if (!isWanted) db.run('DELETE FROM changes')
  })
  logged.set(db, isWanted)
}

/** Whether commits of this connection are logged. */
export function isLogged(db: Database): boolean {
  const cached = logged.get(db)
  if (cached !== undefined) return cached
  const isPresent =
    db.query("SELECT 1 FROM sqlite_schema WHERE name = 'log_series_insert'").get() !== null
  logged.set(db, isPresent)
  return isPresent
}

/**
 * A row that gets another key is two changes: the old key has no row any more. A change of nothing
 * is none.
 */
function triggersOf(table: ReplicatedTable): Trigger[] {
  const keyOf = (row: 'NEW' | 'OLD') =>
    `json_array(${table.key
      .map(column => {
        const value = `${row}.${column}`
        // A text that another trigger made as JSON would go into the array as JSON, not as text.
        if (table.textKey.has(column)) return `${value} || ''`
        return table.binaryKey.has(column)
          ? `iif(typeof(${value}) = 'blob', json_object('hex', hex(${value})), ${value})`
          : value
      })
      .join(', ')})`
  const put = (row: 'NEW' | 'OLD', where = '') =>
    `INSERT INTO changes (subject, key) SELECT '${table.name}', ${keyOf(row)}${where};`
  const moved = table.key.map(column => `NEW.${column} IS NOT OLD.${column}`).join(' OR ')
  const bodies = {
    insert: put('NEW'),
    update: `${put('NEW')} ${put('OLD', ` WHERE ${moved}`)}`,
    delete: put('OLD'),
  }
  return operations.map(operation => ({
    name: triggerOf(table.name, operation),
    sql: `CREATE TRIGGER ${triggerOf(table.name, operation)} AFTER ${operation.toUpperCase()} ON ${table.name} BEGIN ${bodies[operation]} END`,
  }))
}

/**
 * Notes in the transaction under way which moments of a series were written, given oldest first.
 * What lies between two of them is published with them, which is more than need be, and never
 * wrong.
 */
export function rangeNotes(
  db: Database,
): (seriesId: number, momentsOf: () => readonly number[]) => void {
  const note = lazy(
    db,
    "INSERT INTO changes (subject, key) VALUES ('observations', json_array(?, ?, ?))",
  )
  return (seriesId, momentsOf) => {
    if (!isLogged(db)) return
    for (const { from, to } of rangesOf(momentsOf())) note.run(seriesId, from, to)
  }
}

/** Continues the sequence after a change that another instance logged, with an empty log here. */
export function continueAt(db: Database, sequence: number): void {
  transact(db, () => {
    for (const table of ['changes', 'publications']) db.run(`DELETE FROM ${table}`)
    db.run("DELETE FROM sqlite_sequence WHERE name = 'changes'")
    db.query("INSERT INTO sqlite_sequence (name, seq) VALUES ('changes', ?)").run(sequence)
  })
}

export interface LoggedChange {
  sequence: number
  subject: string
  /** As JSON. */
  key: string
}

/** The logged changes, by sequence. */
export function createChangeLog(db: Database) {
  const last = lazy<{ sequence: number }, []>(
    db,
    "SELECT seq AS sequence FROM sqlite_sequence WHERE name = 'changes'",
  )
  const after = lazy<LoggedChange, number[]>(
    db,
    'SELECT id AS sequence, subject, key FROM changes WHERE id > ? ORDER BY id LIMIT ?',
  )
  const note = lazy(
    db,
    'INSERT INTO publications (number, published_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const oldEnough = lazy<{ sequence: number | null }, [number]>(
    db,
    'SELECT max(number) AS sequence FROM publications WHERE published_at < ?',
  )
  const forget = lazy(
    db,
    `DELETE FROM changes WHERE id IN
       (SELECT id FROM changes WHERE id <= ? ORDER BY id LIMIT ?)`,
  )
  const forgetPublications = lazy(db, 'DELETE FROM publications WHERE number < ?')
  const first = lazy<{ sequence: number | null }, []>(db, 'SELECT min(id) AS sequence FROM changes')
  const lastOf = () => last.get()?.sequence ?? 0
  return {
    /** The first that is still there, or the next one. */
    first: () => first.get()?.sequence ?? lastOf() + 1,
    /** The last sequence number that was given. */
    last: lastOf,
    after: (...args: [sequence: number, limit: number]): LoggedChange[] => after.all(...args),
    /** Everything up to a sequence is in the stream. */
    notePublished: (...args: [sequence: number, at: number]) => void note.run(...args),
    /** Deletes changes that were published before a moment, at most `limit`; how many it deleted. */
    forget(publishedBefore: number, limit: number) {
      const sequence = oldEnough.get(publishedBefore)?.sequence ?? null
      if (sequence === null) return 0
      const { changes } = forget.run(sequence, limit)
      if (changes === 0) forgetPublications.run(sequence)
      return changes
    },
  }
}
