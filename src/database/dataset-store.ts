import type { SQLQueryBindings } from 'bun:sqlite'
import type { Declared } from '../datasets/dataset.ts'
import { selected } from './clause.ts'
import { transact } from './database.ts'
import type { DatasetReads } from './dataset-reads.ts'
import { countsOf, type WriteCounts, type WriteOutcome } from './write-counts.ts'

type Bindings = SQLQueryBindings[]
type Cells = Record<string, string | number | boolean | null>

/** A record with when it was recorded, Unix ms. */
export type Stored<R> = R & { recordedAt: number }

/**
 * A record on its way in; `recordedAt` overrides that of the call, for history whose publication
 * times are known.
 */
export type Recorded<R> = R & { recordedAt?: number }

/** A prepared read of records; a field of `Extra` comes from `extra` of the statement. */
export interface RecordQuery<R, B extends Bindings> {
  get(...bindings: B): R | undefined
  all(...bindings: B): R[]
}

/** Statements about the table of a dataset, made from its declaration. */
export function datasetStore<R extends object>(reads: DatasetReads, declared: Declared) {
  const { stored, flags, keyFields, numberedBy } = declared
  const table = declared.tables[0]!.name
  const fields = Object.keys(stored)
  const columns = selected(stored, 't')
  const stamped = `${columns}, t.recorded_at AS recordedAt`
  const cellsOf = (record: object): Cells => record as Cells
  const recordOf = (row: object): object => {
    if (flags.length === 0) return row
    const record = { ...row } as Cells
    for (const flag of flags) record[flag] = record[flag] === 1
    return record
  }
  const select = (expression: string, tail: string) =>
    `SELECT ${expression} FROM ${table} t ${tail}`
  const names = fields.map(field => stored[field]!)
  const keyNames = keyFields.map(field => stored[field]!)
  const old = reads.statement<Cells>(
    select(columns, `WHERE ${keyNames.map(name => `${name} = ?`).join(' AND ')}`),
  )
  const insert = reads.statement(
    `INSERT INTO ${table} (${names.join(', ')}, recorded_at) VALUES (${names.map(() => '?').join(', ')}, ?)`,
  )
  // A separate UPDATE, because ON CONFLICT of an INSERT would override the OR REPLACE of the
  // triggers that keep revisions.
  const update = reads.statement(
    `UPDATE ${table} SET ${[...names, 'recorded_at'].map(name => `${name} = ?`).join(', ')}
     WHERE ${keyNames.map(name => `${name} = ?`).join(' AND ')}`,
  )
  const boundOf = (record: object) => {
    const cells = cellsOf(record)
    return (field: string) => {
      const cell = cells[field]!
      return typeof cell === 'boolean' ? Number(cell) : cell
    }
  }
  type Bound = ReturnType<typeof boundOf>
  const writeRow = (before: Cells | undefined | null, bound: Bound, recordedAt: number) => {
    const values = [...fields.map(bound), recordedAt]
    if (before) update.run(...values, ...keyFields.map(bound))
    else insert.run(...values)
    return before ? 'revised' : 'inserted'
  }
  const put = (record: R, recordedAt: number): WriteOutcome => {
    const bound = boundOf(record)
    const before = old.get(...keyFields.map(bound))
    if (before && fields.every(field => before[field] === bound(field))) return 'unchanged'
    return writeRow(before, bound, recordedAt)
  }
  /** Sorting is stable: rows of one time keep their order. */
  const inOrder = (records: readonly Recorded<R>[]): readonly Recorded<R>[] => {
    if (numberedBy === undefined) return records
    const timeOf = (record: R) => cellsOf(record)[numberedBy] as string
    return records.toSorted((a, b) =>
      timeOf(a) === timeOf(b) ? 0 : timeOf(a) < timeOf(b) ? -1 : 1,
    )
  }
  const query = <Row, B extends Bindings>(
    read: string,
    tail: string,
    extra?: string,
  ): RecordQuery<Row, B> => {
    const all = extra === undefined ? read : `${read}, ${extra}`
    const statement = reads.statement<object, B>(select(all, tail), declared)
    return {
      get(...bindings) {
        const row = statement.get(...bindings)
        return row ? (recordOf(row) as Row) : undefined
      },
      all: (...bindings) => statement.all(...bindings).map(row => recordOf(row) as Row),
    }
  }
  return {
    /** The columns of a record, under the names of its fields. */
    columns,
    /** Records; `tail` begins behind FROM, whose table is `t`. */
    records: <B extends Bindings>(tail: string): RecordQuery<R, B> => query(columns, tail),
    /** The same with when each was recorded. `extra` is further columns. */
    stored: <B extends Bindings, Extra = unknown>(
      tail: string,
      extra?: string,
    ): RecordQuery<Stored<R> & Extra, B> => query(stamped, tail, extra),
    /** How many rows meet a condition. */
    count: <B extends Bindings>(condition: string = 'TRUE'): ((...bindings: B) => number) =>
      reads.count(select('count(*) AS n', `WHERE ${condition}`), declared),
    /** One value of an expression; undefined where there is none. */
    value<V>(expression: string, tail: string = ''): (...bindings: Bindings) => V | undefined {
      const statement = reads.statement<{ value: V | null }>(
        select(`${expression} AS value`, tail),
        declared,
      )
      return (...bindings: Bindings) => statement.get(...bindings)?.value ?? undefined
    },
    values<V>(expression: string, tail: string = ''): (...bindings: Bindings) => V[] {
      const statement = reads.statement<{ value: V }>(
        select(`${expression} AS value`, tail),
        declared,
      )
      return (...bindings: Bindings) => statement.all(...bindings).map(row => row.value)
    },
    /**
     * Writes one record and returns what became of it: a record that is stored already, field for
     * field, is unchanged. Call it in a transaction.
     */
    put,
    /** Writes one record, instead of the one that has its key. */
    set(record: R, recordedAt: number) {
      const bound = boundOf(record)
      writeRow(old.get(...keyFields.map(bound)), bound, recordedAt)
    },
    /** One transaction. The same record again is unchanged; another of a known key replaces it. */
    write: (records: readonly Recorded<R>[], recordedAt: number): WriteCounts =>
      transact(reads.db, () =>
        countsOf(inOrder(records).map(record => put(record, record.recordedAt ?? recordedAt))),
      ),
  }
}
