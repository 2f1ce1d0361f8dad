import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'
import { lazy } from '../../database/statement.ts'
import { dayMs, startOfDay } from '../../lib/time/instant.ts'
import { createChangeLog, type LoggedChange } from './change-log.ts'
import {
  boundOf,
  type Cell,
  cellOf,
  type Delta,
  keyCells,
  type RangeDelta,
  type StoredValue,
  type TableDelta,
} from './delta.ts'
import {
  placeIndexes,
  type ReplicatedTable,
  rangedTables,
  replicatedTables,
  tableOf,
} from './tables.ts'

/** Changes read at once; their rows are held in memory until they are published. */
const changesMax = 2000
/** Observations in one part of a delta. */
const pointsMax = 2000
/** Characters of rows in one part: the stream takes a million bytes at most. */
const charactersMax = 250_000

/** Lengths of stored bars. */
export const spanHours = [1, 24] as const

/** Rows as they are stored; each statement is this module's own, because its integers are exact. */
type Rows = (...bindings: SQLQueryBindings[]) => StoredValue[][]

function exactRows(db: Database, sql: string): Rows {
  let prepared: Statement<unknown, SQLQueryBindings[]> | undefined
  return (...bindings) => {
    prepared ??= db.prepare<unknown, SQLQueryBindings[]>(sql).safeIntegers(true)
    return prepared.values(...bindings) as StoredValue[][]
  }
}

interface Range {
  seriesId: number
  from: number
  to: number
}

/**
 * Reads the log after a sequence number, as parts to publish in order. A small number of changes
 * comes in one part, which is one moment of the database.
 */
export function createDeltaReader(
  db: Database,
  now: () => number,
): { first(): number; last(): number; after(sequence: number): Generator<Delta> } {
  const log = createChangeLog(db)
  const tables = new Map(replicatedTables(db).map(table => [table.name, rowsWithPlaces(db, table)]))
  const ranges = rangeReader(db)
  const counters = lazy<{ name: string; seq: number }, []>(
    db,
    "SELECT name, seq FROM sqlite_sequence WHERE name <> 'changes'",
  )
  const readAll = db.transaction((sequence: number) => {
    const changes = log.after(sequence, changesMax)
    const byTable = Map.groupBy(changes, change => change.subject)
    const ranged = byTable.get('observations') ?? []
    byTable.delete('observations')
    const deltas = [...byTable]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, logged]) => tables.get(name)!(keysOf(logged)))
    const wanted = joined(ranged)
    const points: RangeDelta[] = []
    let room = pointsMax
    let rest: Range[] = []
    for (const [i, range] of wanted.entries()) {
      const part = ranges(range, room)
      points.push(part.delta)
      room -= part.delta.observations.length
      if (part.rest || (room <= 0 && i + 1 < wanted.length)) {
        rest = [...(part.rest ? [part.rest] : []), ...wanted.slice(i + 1)]
        break
      }
    }
    const rowCounters = Object.fromEntries(counters.all().map(({ name, seq }) => [name, seq]))
    return { upTo: changes.at(-1)?.sequence, deltas, points, rest, counters: rowCounters }
  })

  return {
    first: log.first,
    last: log.last,
    *after(sequence) {
      const { upTo, deltas, points, rest, counters: given } = readAll.deferred(sequence)
      if (upTo === undefined) return
      const part = (
        isLast: boolean,
        tableDeltas: TableDelta[],
        rangeDeltas: RangeDelta[],
      ): Delta => ({
        after: sequence,
        upTo,
        isLast,
        readAt: now(),
        tables: tableDeltas,
        ranges: rangeDeltas,
        counters: given,
      })
      const bundles = bundled(deltas)
      const [last = [], ...before] = bundles.reverse()
      for (const bundle of before.reverse()) yield part(false, bundle, [])
      yield part(rest.length === 0, last, points)
      // The rest is read one piece at a time, in its state at that moment.
      while (rest.length > 0) {
        const [next, ...others] = rest as [Range, ...Range[]]
        const piece = ranges(next, pointsMax)
        rest.splice(0, rest.length, ...(piece.rest ? [piece.rest] : []), ...others)
        yield part(rest.length === 0, [], [piece.delta])
      }
    },
  }
}

const keysOf = (changes: readonly LoggedChange[]): Cell[][] =>
  [...new Set(changes.map(change => change.key))].map(keyCells)

/** Ranges of the same series that overlap are one. */
function joined(changes: readonly LoggedChange[]): Range[] {
  const ranges = keysOf(changes)
    .map(([seriesId, from, to]) => ({ seriesId, from, to }) as Range)
    .sort((a, b) => a.seriesId - b.seriesId || a.from - b.from)
  const result: Range[] = []
  for (const range of ranges) {
    const before = result.at(-1)
    if (before?.seriesId === range.seriesId && range.from <= before.to)
      before.to = Math.max(before.to, range.to)
    else result.push(range)
  }
  return result
}

/** Splits the rows into parts that fit into one message each, in the order of the tables. */
function bundled(deltas: readonly TableDelta[]): TableDelta[][] {
  const bundles: TableDelta[][] = [[]]
  let size = 0
  for (const delta of deltas) {
    let part: TableDelta = { ...delta, rows: [], gone: delta.gone }
    bundles.at(-1)!.push(part)
    for (const row of delta.rows) {
      const characters = JSON.stringify(row).length
      if (size > 0 && size + characters > charactersMax) {
        part = { ...delta, rows: [], gone: [] }
        bundles.push([part])
        size = 0
      }
      part.rows.push(row)
      size += characters
    }
  }
  return bundles
}

/** Reads rows of a table, together with the rows of its place index. */
function rowsWithPlaces(
  db: Database,
  table: ReplicatedTable,
): (keys: readonly Cell[][]) => TableDelta[] {
  const rows = rowReader(db, table)
  const name = placeIndexes[table.name]
  if (name === undefined) return keys => [rows(keys)]
  const places = rowReader(db, { ...tableOf(db, name), key: ['id'] })
  return keys => [rows(keys), places(keys)]
}

function rowReader(db: Database, table: ReplicatedTable): (keys: readonly Cell[][]) => TableDelta {
  const { name, columns, key } = table
  const rowOf = exactRows(
    db,
    `SELECT ${columns.join(', ')} FROM ${name} WHERE ${key.map(column => `${column} = ?`).join(' AND ')}`,
  )
  return keys => {
    const delta: TableDelta = { table: name, columns, key, rows: [], gone: [] }
    for (const cells of keys) {
      const [values] = rowOf(...cells.map(boundOf))
      if (values) delta.rows.push(values.map(cellOf))
      else delta.gone.push(cells)
    }
    return delta
  }
}

/** Where bars begin that a range may have changed: a day's hours may come and go with it. */
export const barsOfRange = ({ from, to }: { from: number; to: number }) => ({
  first: startOfDay(from),
  last: startOfDay(to) + dayMs - 1,
})

function rangeReader(
  db: Database,
): (range: Range, limit: number) => { delta: RangeDelta; rest: Range | undefined } {
  const columns = new Map(rangedTables.map(name => [name, tableOf(db, name).columns]))
  const select = (name: (typeof rangedTables)[number], where: string): Rows =>
    exactRows(db, `SELECT ${columns.get(name)!.join(', ')} FROM ${name} WHERE ${where}`)
  const between = 'series_id = ? AND observed_at >= ? AND observed_at <= ?'
  const observations = select('observations', `${between} ORDER BY observed_at LIMIT ?`)
  const revisions = select('observation_revisions', `${between} ORDER BY observed_at, recorded_at`)
  const bars = select(
    'bars',
    'series_id = ? AND span = ? AND starts_at >= ? AND starts_at <= ? ORDER BY starts_at',
  )
  const momentAt = columns.get('observations')!.indexOf('observed_at')
  return ({ seriesId, from, to }, limit) => {
    const points = observations(seriesId, from, to, limit)
    const end = points.length < limit ? to : Number(points.at(-1)![momentAt])
    const { first, last } = barsOfRange({ from, to: end })
    const cells = (rows: StoredValue[][]) => rows.map(row => row.map(cellOf))
    const delta: RangeDelta = {
      seriesId,
      from,
      to: end,
      observations: cells(points),
      observation_revisions: cells(revisions(seriesId, from, end)),
      bars: spanHours.flatMap(span => cells(bars(seriesId, span, first, last))),
    }
    return { delta, rest: end < to ? { seriesId, from: end + 1, to } : undefined }
  }
}
