import type { Database } from 'bun:sqlite'
import { columnsOf, recordTables, rowSql } from '../../../database/dataset-tables.ts'
import { declaredDatasets } from '../../../database/datasets.ts'
import { type LazyStatement, lazy } from '../../../database/statement.ts'
import type { Declared } from '../../../datasets/dataset.ts'
import type { LoggedRows } from './log.ts'

/** A row of a dataset by the columns of its import. */
export type DatasetRow = Readonly<Record<string, string | number | null>>

/** A row of a dataset that became known, or was removed, at an instant. */
export interface RowVersion {
  /** Its place among those of the instant. */
  number: number
  /** By the columns of its table: for a row that cannot be read in those of its import. */
  key: DatasetRow
  /** From then on there is no such row. */
  isRemoved: boolean
  /** Undefined: there is none from then on, or it is not exported. */
  row: DatasetRow | undefined
  /** It says what the one before it says, or stood for no time: it holds its place alone. */
  isSame: boolean
  /** A later transaction wrote it again, for the same instant. */
  isRewritten: boolean
  /** The row just before; undefined: there was none. */
  previous: DatasetRow | undefined
}

/** The datasets of the feed by their tables. */
export const datasetOfTable: ReadonlyMap<string, Declared> = new Map(
  declaredDatasets.flatMap(declared =>
    declared.recordTable ? [[declared.recordTable.name, declared] as const] : [],
  ),
)

/** Reads what a transaction wrote of a dataset for an instant, in an order that is always the same. */
export type RowVersionReader = ReturnType<typeof createRowVersionReader>

/** So many versions are read at a time. */
export const versionsEach = 250
/** How many places of a transaction are passed before others may run. */
const passedEach = 4 * versionsEach
/**
 * Where an instant has more earlier versions than this, its keys are read and ordered once: no index
 * has them in their order.
 */
const revisionsMax = 1_000
/** The number of a row that has none, in the order of rows. */
const beforeAll = -1
/** Transactions of which keys stay known, for clients that are in different ones. */
const knownMax = 100

/** The keys of a transaction as far as they were read. */
interface KnownKeys {
  /** The place of the last key of each read part; undefined: all keys are known. */
  ends: string[] | undefined
  all: readonly string[]
}

export function createRowVersionReader(db: Database) {
  const readers = new Map<string, ReturnType<typeof versionReader>>()
  const known = new Map<string, KnownKeys>()
  const readerOf = ({ table }: LoggedRows) =>
    readers.getOrInsertComputed(table, () => versionReader(db, table))
  const knownOf = (entry: LoggedRows): KnownKeys => {
    const { table, writtenAt, recordedAt } = entry
    const name = `${table} ${writtenAt} ${recordedAt}`
    const found = known.get(name)
    const { keys, hasMany } = readerOf(entry)
    // Rows become earlier versions when they are replaced.
    if (found && !(found.ends && hasMany(entry))) {
      // The transaction that was read longest ago is forgotten first.
      known.delete(name)
      known.set(name, found)
      return found
    }
    const made = hasMany(entry)
      ? { ends: undefined, all: keys(entry, undefined, -1).map(({ key }) => key) }
      : { ends: [], all: [] }
    known.delete(name)
    // Whole lists of keys are large: one stays known.
    for (const [other, { ends }] of known)
      if (known.size >= knownMax || (!made.ends && !ends)) known.delete(other)
    known.set(name, made)
    return made
  }
  return {
    /** Passes the versions before a number; false: others may run, and it is not done yet. */
    pass(entry: LoggedRows, from: number): boolean {
      const { ends } = knownOf(entry)
      if (!ends) return true
      const { keys } = readerOf(entry)
      const wanted = Math.floor(from / versionsEach)
      const last = Math.min(wanted, ends.length + passedEach / versionsEach)
      while (ends.length < last) {
        const part = keys(entry, ends.at(-1), versionsEach)
        if (part.length < versionsEach) return true
        ends.push(part.at(-1)!.place)
      }
      return ends.length >= wanted
    },
    /** The next versions from a number on, whose predecessors were passed; none at the end. */
    read(entry: LoggedRows, from: number): RowVersion[] {
      const { ends, all } = knownOf(entry)
      const { keys, versions } = readerOf(entry)
      if (!ends) return versions(entry, all.slice(from, from + versionsEach), from)
      const part = Math.floor(from / versionsEach)
      if (part > ends.length) return []
      const read = keys(entry, ends[part - 1], versionsEach)
      if (part === ends.length && read.length === versionsEach) ends.push(read.at(-1)!.place)
      const own = read.slice(from - part * versionsEach).map(({ key }) => key)
      return versions(entry, own, from)
    },
    /** Other rows may be of the same instants now. */
    forget: () => known.clear(),
  }
}

/** A key, and what places it among those of its transaction. */
interface OrderedKey {
  key: string
  place: string
}

interface StoredVersion {
  key: string
  row: string | null
  previous: string | null
  isSame: number
  isRewritten: number
}

function versionReader(db: Database, table: string) {
  const { key } = recordTables.get(table)!
  const columns = columnsOf(db, table)
  // The index of the instants has rows in this order. Earlier versions from another instance have no
  // number, and a number may have had other keys.
  const order = columns.includes('id') ? ['id', ...key.filter(name => name !== 'id')] : key
  const list = (names: readonly string[], of: (name: string, i: number) => string) =>
    names.map(of).join(', ')
  const all = (of: (name: string, i: number) => string) => key.map(of).join(' AND ')
  const keyNow = `json_array(${list(key, name => `t.${name}`)})`
  const isVoid = 'e.recorded_at = e.superseded_at'
  // By the primary key, the planner would read every earlier version of the table.
  const revisions = (index: 'by_recording' | 'by_end') =>
    `dataset_revisions e INDEXED BY dataset_revisions_${index} WHERE subject = '${table}'`
  const follows = `t.recorded_at = ?1 AND ${all(name => `t.${name} = e.fields ->> '$.${name}'`)}`
  const ofKey = (name: string, of: string) => `${name}.subject = '${table}' AND ${name}.key = ${of}`
  const late = (which: string) =>
    `EXISTS (SELECT 1 FROM late_rows l WHERE l.subject = '${table}' AND l.recorded_at = ?1 AND ${which})`
  const values = (fields: string) => `json_remove(${fields}, '$.recorded_at')`
  // The first transaction of an instant has all of its rows but those that others added to it.
  const isOf = (
    row: string,
  ) => `(NOT ${late('TRUE')} OR ${late(`l.key = ${row} AND l.written_at = ?2`)}
    OR (?2 = (SELECT min(written_at) FROM dataset_changes WHERE subject = '${table}' AND recorded_at = ?1)
      AND NOT ${late(`l.key = ${row} AND NOT l.is_rewrite`)}))`
  const place = (of: (name: string) => string) => `json_array(${order.map(of).join(', ')})`
  const stored = (name: string) => `t.${name}`
  const earlier = (name: string) =>
    name === 'id' ? `coalesce(fields ->> '$.id', ${beforeAll})` : `fields ->> '$.${name}'`
  const ordered = list(order, name => `${earlier(name)} AS ${name}`)
  // Each part is in this order, or is sorted by itself: they are merged up to the limit.
  const keysOf = (isAfter: (of: (name: string) => string) => string) =>
    lazy<OrderedKey, [number, number, string | null, number]>(
      db,
      `SELECT ${keyNow} AS key, ${place(stored)} AS place, ${order.join(', ')} FROM ${table} t
         WHERE recorded_at = ?1 AND ${isOf(keyNow)} AND ${isAfter(stored)}
       UNION ALL SELECT key, ${place(earlier)}, ${ordered} FROM ${revisions('by_recording')}
         AND recorded_at = ?1 AND ${isOf('e.key')} AND ${isAfter(earlier)}
         AND NOT (${isVoid} AND (EXISTS (SELECT 1 FROM ${table} t WHERE ${follows})
           OR EXISTS (SELECT 1 FROM dataset_revisions n
             WHERE ${ofKey('n', 'e.key')} AND n.superseded_at = ?1 AND n.recorded_at < ?1)))
       UNION ALL SELECT key, ${place(earlier)}, ${ordered} FROM ${revisions('by_end')}
         AND superseded_at = ?1 AND NOT (${isVoid}) AND ${isOf('e.key')} AND ${isAfter(earlier)}
         AND NOT EXISTS (SELECT 1 FROM ${table} t WHERE ${follows})
         AND NOT EXISTS (SELECT 1 FROM dataset_revisions n
           WHERE ${ofKey('n', 'e.key')} AND n.recorded_at = ?1 AND n.superseded_at > ?1)
       ORDER BY ${order.join(', ')} LIMIT ?4`,
    )
  const firstKeys = keysOf(() => '?3 IS NULL')
  const laterKeys = keysOf(
    of => `(${order.map(of).join(', ')}) > (${order.map((_, i) => `?3 ->> ${i}`).join(', ')})`,
  )
  const revised = lazy<{ n: number }, [number]>(
    db,
    `SELECT count(*) AS n FROM (
       SELECT 1 FROM (SELECT 1 FROM ${revisions('by_recording')} AND recorded_at = ?1 LIMIT ${revisionsMax})
       UNION ALL SELECT 1 FROM (SELECT 1 FROM ${revisions('by_end')} AND superseded_at = ?1 LIMIT ${revisionsMax}))`,
  )
  // A row that was written and removed for the same instant stands only where none was before it.
  const versions = lazy<StoredVersion, [number, number, string]>(
    db,
    `SELECT key, row, previous, ${late('l.key = v.key AND l.written_at > ?2')} AS isRewritten,
       isVoid OR coalesce(${values('row')} = ${values('previous')} AND NOT ${late('l.key = v.key')}, 0) AS isSame
     FROM (
       SELECT k.value AS key, p.fields AS previous,
         CASE WHEN t.recorded_at IS NOT NULL THEN ${rowSql(columns, 't')}
           WHEN p.key IS NULL OR NOT (${isVoid}) THEN e.fields END AS row,
         t.recorded_at IS NULL AND p.key IS NULL AND coalesce(${isVoid}, 0) AS isVoid
       FROM json_each(?3) k
       LEFT JOIN ${table} t ON t.recorded_at = ?1 AND ${all((name, i) => `t.${name} = k.value ->> ${i}`)}
       LEFT JOIN dataset_revisions e ON ${ofKey('e', 'k.value')} AND e.recorded_at = ?1
       LEFT JOIN dataset_revisions p
         ON ${ofKey('p', 'k.value')} AND p.superseded_at = ?1 AND p.recorded_at < ?1
       ORDER BY k.key) v`,
  )
  const render = rowRenderer(db, datasetOfTable.get(table)!, columns)
  return {
    /** The keys after a place, in their order; a limit of -1 is none. */
    keys: (
      { recordedAt, writtenAt }: LoggedRows,
      after: string | undefined,
      limit: number,
    ): OrderedKey[] =>
      after === undefined
        ? firstKeys.all(recordedAt, writtenAt, null, limit)
        : laterKeys.all(recordedAt, writtenAt, after, limit),
    hasMany: ({ recordedAt }: LoggedRows): boolean => revised.get(recordedAt)!.n >= revisionsMax,
    /** The versions of some rows, whose first has a number. */
    versions(
      { recordedAt, writtenAt }: LoggedRows,
      some: readonly string[],
      first: number,
    ): RowVersion[] {
      const found = versions.all(recordedAt, writtenAt, JSON.stringify(some))
      const rows = render(found.map(({ row }) => row))
      const previous = render(found.map(version => version.previous))
      return found.map((version, i) => {
        const values = JSON.parse(version.key) as (string | number)[]
        return {
          number: first + i,
          key: Object.fromEntries(key.map((name, n) => [name, values[n]!])),
          isRemoved: version.row === null,
          isSame: version.isSame === 1,
          isRewritten: version.isRewritten === 1,
          row: rows.get(i),
          previous: previous.get(i),
        }
      })
    },
  }
}

/** Stored rows in the columns of their import: a name of WITH hides the table of the same name. */
function rowRenderer(db: Database, declared: Declared, columns: readonly string[]) {
  const { columns: exported, from } = declared.exported
  const fields = exported.filter(([name]) => name !== 'recorded_at')
  const statement: LazyStatement<{ number: number; row: string }, [string]> = lazy(
    db,
    `WITH ${declared.recordTable!.name} AS MATERIALIZED (
       SELECT key AS row_number, ${columns.map(name => `value ->> '$.${name}' AS ${name}`).join(', ')}
       FROM json_each(?))
     SELECT row_number AS number, json_object(${fields.map(([name, sql]) => `'${name}', ${sql}`).join(', ')}) AS row
     FROM ${from}`,
  )
  return (rows: readonly (string | null)[]): ReadonlyMap<number, DatasetRow> => {
    const numbers = rows.flatMap((row, i) => (row === null ? [] : i))
    if (numbers.length === 0) return new Map()
    const stored = `[${rows.filter(row => row !== null).join(',')}]`
    return new Map(
      statement
        .all(stored)
        .map(({ number, row }) => [numbers[number]!, JSON.parse(row) as DatasetRow]),
    )
  }
}
