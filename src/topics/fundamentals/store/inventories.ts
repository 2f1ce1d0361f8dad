import type { Database } from 'bun:sqlite'
import { cachedCount } from '../../../database/cached-counts.ts'
import { statements } from '../../../database/statement.ts'
import { dayMs } from '../../../lib/time/instant.ts'

/** The level of one day of a storage series, with its number in the inventories. */
export interface NumberedLevel {
  id: number
  seriesId: number
  /** Midnight UTC of the day, Unix ms. */
  startsAt: number
  level: number
  recordedAt: number
  /** The level of a week before: 7 to 13 days older. */
  weekBefore: number | undefined
}

/** How many days older the observation may be that a weekly change is measured against. */
export const weekBeforeDays = { least: 7, most: 13 } as const

/** Days that start in `[from, to)` of some series. */
export interface LevelFilter {
  seriesIds: readonly number[]
  from: number
  to: number
}

/**
 * The levels themselves are observations; only their numbers are kept here. Quarantined days keep
 * theirs and are not answered.
 */
export type InventoryStore = ReturnType<typeof createInventoryStore>

/** A day of a series, which starts at `startsAt` (Unix ms), and its number. */
export type LevelNumber = Pick<NumberedLevel, 'id' | 'seriesId' | 'startsAt'>

const clear = (row: string) =>
  `NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.series_id = ${row}.series_id
     AND date(${row}.starts_at / 1000, 'unixepoch') BETWEEN q.from_on AND q.to_on)`

const inRange = `r.series_id IN (SELECT value FROM json_each(?1)) AND r.starts_at >= ?2 AND r.starts_at < ?3 AND ${clear('r')}`

/**
 * Levels of numbered days `r`: the day's last observation, and the one that a week's change is
 * measured against.
 */
const levels = `SELECT r.id, r.series_id AS seriesId, r.starts_at AS startsAt, b.close AS level, b.recorded_at AS recordedAt,
    (SELECT p.close FROM bars p WHERE p.series_id = r.series_id AND p.span = 24
       AND p.starts_at BETWEEN r.starts_at - ${weekBeforeDays.most * dayMs} AND r.starts_at - ${weekBeforeDays.least * dayMs} AND ${clear('p')}
     ORDER BY p.starts_at DESC LIMIT 1) AS weekBefore`
const withBars =
  'JOIN bars b ON b.series_id = r.series_id AND b.span = 24 AND b.starts_at = r.starts_at'

type Row = Omit<NumberedLevel, 'weekBefore'> & { weekBefore: number | null }
const rowOf = (row: Row): NumberedLevel => ({ ...row, weekBefore: row.weekBefore ?? undefined })

export function createInventoryStore(db: Database) {
  const sql = statements(db)
  const number = sql<unknown, [string]>`INSERT INTO inventory_records (series_id, starts_at)
     SELECT b.series_id, b.starts_at FROM json_each(?1) AS place JOIN bars b ON b.series_id = place.value AND b.span = 24
     WHERE NOT EXISTS (SELECT 1 FROM inventory_records r WHERE r.series_id = b.series_id AND r.starts_at = b.starts_at)
     ORDER BY b.starts_at, place.key`
  // The rows of the page are chosen before anything is looked up for them.
  const page = sql<Row, [string, number, number, number, number]>`
    WITH page AS MATERIALIZED (SELECT id, series_id, starts_at FROM inventory_records r WHERE ${inRange}
      ORDER BY starts_at DESC, id LIMIT ?4 OFFSET ?5)
    ${levels} FROM page r ${withBars} ORDER BY r.starts_at DESC, r.id`
  const count = cachedCount<[string, number, number]>(
    db,
    `SELECT count(*) AS n FROM inventory_records r WHERE ${inRange}`,
  )
  const byId = sql<Row, [number]>`
    ${levels} FROM inventory_records r ${withBars} WHERE r.id = ? AND ${clear('r')}`
  const numberColumns = 'id, series_id AS seriesId, starts_at AS startsAt'
  const numbers = sql<LevelNumber, [string]>`
    SELECT ${numberColumns} FROM inventory_records WHERE series_id IN (SELECT value FROM json_each(?))`
  return {
    numbers: (seriesIds: readonly number[]) => numbers.all(JSON.stringify(seriesIds)),
    numbered: sql<LevelNumber, [id: number]>`
      SELECT ${numberColumns} FROM inventory_records WHERE id = ?`.get,
    /**
     * Numbers all unnumbered days of these series, oldest first and within a day in the order of
     * the series; returns how many. Call it in a transaction.
     */
    number: (seriesIds: readonly number[]) => number.run(JSON.stringify(seriesIds)).changes,
    /** Newest day first, within a day in the order of the numbers. */
    page: ({ seriesIds, from, to }: LevelFilter, limit: number, offset: number) =>
      page.all(JSON.stringify(seriesIds), from, to, limit, offset).map(rowOf),
    count: ({ seriesIds, from, to }: LevelFilter) => count(JSON.stringify(seriesIds), from, to),
    byId(id: number) {
      const row = byId.get(id)
      return row ? rowOf(row) : undefined
    },
  }
}
