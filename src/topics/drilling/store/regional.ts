import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { keptCount } from '../../../database/kept-counts.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf, type WriteCounts } from '../../../database/write-counts.ts'
import { dayAfter } from '../../prices/math/window.ts'

/** What every count of a region has. */
export interface Regional {
  region: string
  countedOn: string
  source: string
}

/**
 * A row on its way in; `recordedAt` overrides that of the call, for history whose publication times
 * are known.
 */
export type Recorded<T> = T & { recordedAt?: number }
export type Stored<T> = T & { recordedAt: number }

/**
 * A row with its place among all rows of a list, from 1 in chronological order, and what its
 * measure rose by since the count before of its region.
 */
export type Numbered<T> = Stored<T> & { id: number; change: number | undefined }

export interface RegionalFilter {
  /** Undefined: every region of the list. */
  regions?: readonly string[] | undefined
  fromOn: string
  /** Exclusive. */
  toOn: string
}

/**
 * Counts by region and day. `list` names the regions that a list is of: its numbers run over these
 * only, so that a number does not depend on the filter that a row was found by.
 */
export interface RegionalStore<T extends Regional> {
  /**
   * One transaction. The same row again is unchanged; anything else for a known region and day
   * replaces it.
   */
  write(rows: readonly Recorded<T>[], recordedAt: number): WriteCounts
  /** Newest first. */
  page(
    list: readonly string[],
    filter: RegionalFilter,
    limit: number,
    offset: number,
  ): Numbered<T>[]
  count(list: readonly string[], filter: RegionalFilter): number
  numbered(list: readonly string[], id: number): Numbered<T> | undefined
  /** Of one region, oldest first. */
  between(region: string, fromOn: string, toOn: string): Stored<T>[]
  /** Every region of a day. */
  on(day: string): Stored<T>[]
  /** The last day before `before` that any of the regions has a count of. */
  newestOn(list: readonly string[], before?: string): string | undefined
  firstOn(region: string): string | undefined
  /** The newest of a region before a day. */
  before(region: string, day: string): Stored<T> | undefined
}

export interface RegionalTable<T extends Regional> {
  table: string
  /** Column of each field, `recordedAt` left out. */
  columns: ColumnMap<T>
  /** The column that `change` is of; undefined where nothing is compared. */
  measure: string | undefined
}

const endOfDays = '9999-12-31'

export function createRegionalStore<T extends Regional>(
  db: Database,
  { table, columns, measure }: RegionalTable<T>,
): RegionalStore<T> {
  type Row = Stored<T> & { change: number | null }
  const names = `${selected(columns)}, recorded_at AS recordedAt`
  const change = measure
    ? `row.${measure} - (SELECT ${measure} FROM ${table} AS earlier WHERE earlier.region = row.region AND earlier.counted_on < row.counted_on
       ORDER BY earlier.counted_on DESC LIMIT 1)`
    : 'NULL'
  const listed = 'region IN (SELECT value FROM json_each(?1))'
  const inside = `${listed} AND counted_on >= ?2 AND counted_on < ?3`
  // Lists walk the index over days and stop at their limit: by the regions, which the plus hides,
  // everything would be read and sorted.
  const byDay = (condition: string) => `+${condition}`
  const page = lazy<Row, SQLQueryBindings[]>(
    db,
    `SELECT ${names}, ${change} AS change FROM ${table} AS row WHERE ${byDay(inside)} ORDER BY counted_on DESC, region DESC LIMIT ?4 OFFSET ?5`,
  )
  const nth = lazy<Row, SQLQueryBindings[]>(
    db,
    `SELECT ${names}, ${change} AS change FROM ${table} AS row WHERE ${byDay(listed)} ORDER BY counted_on, region LIMIT 1 OFFSET ?2`,
  )
  const count = keptCount(db, `SELECT count(*) AS n FROM ${table} WHERE ${inside}`)
  const places = lazy<{ region: string; day: string }, SQLQueryBindings[]>(
    db,
    `SELECT region, counted_on AS day FROM ${table} WHERE ${byDay(inside)} ORDER BY counted_on, region`,
  )
  const between = lazy<Stored<T>, SQLQueryBindings[]>(
    db,
    `SELECT ${names} FROM ${table} WHERE region = ? AND counted_on >= ? AND counted_on < ? ORDER BY counted_on`,
  )
  const on = lazy<Stored<T>, SQLQueryBindings[]>(
    db,
    `SELECT ${names} FROM ${table} WHERE counted_on = ? ORDER BY region`,
  )
  const newest = lazy<{ day: string }, SQLQueryBindings[]>(
    db,
    `SELECT counted_on AS day FROM ${table} WHERE ${byDay(listed)} AND counted_on < ?2 ORDER BY counted_on DESC LIMIT 1`,
  )
  const first = lazy<{ day: string | null }, SQLQueryBindings[]>(
    db,
    `SELECT min(counted_on) AS day FROM ${table} WHERE region = ?`,
  )
  const before = lazy<Stored<T>, SQLQueryBindings[]>(
    db,
    `SELECT ${names} FROM ${table} WHERE region = ? AND counted_on < ? ORDER BY counted_on DESC LIMIT 1`,
  )
  const put = upsert<T>(db, table, columns, ['region', 'countedOn'])

  const only = (list: readonly string[], regions: readonly string[] | undefined): string =>
    JSON.stringify(regions ? list.filter(region => regions.includes(region)) : list)

  /**
   * Numbers rows that are newest first: what lies before the oldest of them is counted once, the
   * rest is walked.
   */
  const numbered = (list: readonly string[], rows: readonly Row[]): Numbered<T>[] => {
    if (rows.length === 0) return []
    const [oldestOn, newestOn] = [rows.at(-1)!.countedOn, rows[0]!.countedOn]
    const all = JSON.stringify(list)
    const skipped = count(all, '', oldestOn)
    const walked = places.all(all, oldestOn, dayAfter(newestOn, 1))
    const ids = new Map(walked.map((place, i) => [`${place.day} ${place.region}`, skipped + i + 1]))
    return rows.map(({ change, ...row }) => ({
      ...(row as Stored<T>),
      id: ids.get(`${row.countedOn} ${row.region}`)!,
      change: change ?? undefined,
    }))
  }

  return {
    write: (rows, recordedAt) =>
      transact(db, () => countsOf(rows.map(row => put(row, row.recordedAt ?? recordedAt)))),
    page: (list, { regions, fromOn, toOn }, limit, offset) =>
      numbered(list, page.all(only(list, regions), fromOn, toOn, limit, offset)),
    count: (list, { regions, fromOn, toOn }) => count(only(list, regions), fromOn, toOn),
    numbered(list, id) {
      const row = id < 1 ? undefined : nth.get(JSON.stringify(list), id - 1)
      return row ? { ...(row as Stored<T>), id, change: row.change ?? undefined } : undefined
    },
    between: (region, fromOn, toOn) => between.all(region, fromOn, toOn),
    on: day => on.all(day),
    newestOn: (list, day = endOfDays) => newest.get(JSON.stringify(list), day)?.day,
    firstOn: region => first.get(region)?.day ?? undefined,
    before: (region, day) => before.get(region, day) ?? undefined,
  }
}
