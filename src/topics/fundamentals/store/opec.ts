import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { lazy } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'

/** Crude oil that a country produced in a month. */
export interface OpecProduction {
  country: string
  /** `YYYY-MM`. */
  month: string
  /** Barrels a day. */
  bpd: number
  source: string
  /** Overrides that of the call, for history whose publication times are known. */
  recordedAt?: number
}

export interface OpecRow extends OpecProduction {
  id: number
  recordedAt: number
  /** What the country produced in the month before. */
  bpdBefore: number | undefined
}

export interface OpecFilter {
  country: string | undefined
  /** Months of `[fromMonth, toMonth)`, `YYYY-MM`. */
  fromMonth: string
  toMonth: string
}

export interface OpecStore {
  /**
   * One transaction. Months are numbered in the order of time and within a month in the order
   * given; a number is given once and never changes, so months that come in later, also older ones,
   * get the next ones. The same production from the same source is unchanged; anything else for a
   * known month of a country replaces it under its number.
   */
  write(rows: readonly OpecProduction[], recordedAt: number): WriteCounts
  /** Newest month first, within a month by number. */
  page(filter: OpecFilter, limit: number, offset: number): OpecRow[]
  count(filter: OpecFilter): number
  byId(id: number): OpecRow | undefined
  /** Every country of a month. */
  ofMonth(month: string): OpecRow[]
  newestMonth(): string | undefined
  months(): string[]
  /** The stored spelling of a country that is named in any letter case. */
  countryNamed(text: string): string | undefined
}

interface Row extends Omit<OpecRow, 'bpdBefore'> {
  bpdBefore: number | null
}

const columns = `o.id, o.country, o.month, o.bpd, o.source, o.recorded_at AS recordedAt,
  (SELECT b.bpd FROM opec_productions b WHERE b.country = o.country AND b.month = strftime('%Y-%m', o.month || '-01', '-1 month')) AS bpdBefore`
const matching = '(?1 IS NULL OR country = ?1) AND month >= ?2 AND month < ?3'

const rowOf = (row: Row): OpecRow => ({ ...row, bpdBefore: row.bpdBefore ?? undefined })

export function createOpecStore(db: Database): OpecStore {
  const stored = lazy<{ id: number; bpd: number; source: string }, [string, string]>(
    db,
    'SELECT id, bpd, source FROM opec_productions WHERE country = ? AND month = ?',
  )
  const insert = lazy(
    db,
    'INSERT INTO opec_productions (country, month, bpd, source, recorded_at) VALUES (?, ?, ?, ?, ?)',
  )
  const update = lazy(
    db,
    'UPDATE opec_productions SET bpd = ?, source = ?, recorded_at = ? WHERE id = ?',
  )
  const page = lazy<Row, [string | null, string, string, number, number]>(
    db,
    `SELECT ${columns} FROM opec_productions o WHERE ${matching} ORDER BY month DESC, id LIMIT ?4 OFFSET ?5`,
  )
  const count = lazy<{ n: number }, [string | null, string, string]>(
    db,
    `SELECT count(*) AS n FROM opec_productions WHERE ${matching}`,
  )
  const byId = lazy<Row, [number]>(db, `SELECT ${columns} FROM opec_productions o WHERE id = ?`)
  const ofMonth = lazy<Row, [string]>(
    db,
    `SELECT ${columns} FROM opec_productions o WHERE month = ? ORDER BY id`,
  )
  const newest = lazy<{ month: string | null }, []>(
    db,
    'SELECT max(month) AS month FROM opec_productions',
  )
  const months = lazy<{ month: string }, []>(
    db,
    'SELECT DISTINCT month FROM opec_productions ORDER BY month',
  )
  const countryByName = lazy<{ country: string }, [string]>(
    db,
    'SELECT country FROM opec_productions WHERE country = ? COLLATE NOCASE LIMIT 1',
  )
  return {
    write: (rows, recordedAt) =>
      transact(db, () => {
        const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
        // Sorting is stable: within a month the order is that of the rows.
        for (const row of rows.toSorted((a, b) =>
          a.month === b.month ? 0 : a.month < b.month ? -1 : 1,
        )) {
          const old = stored.get(row.country, row.month)
          if (!old)
            insert.run(row.country, row.month, row.bpd, row.source, row.recordedAt ?? recordedAt)
          else if (old.bpd !== row.bpd || old.source !== row.source)
            update.run(row.bpd, row.source, row.recordedAt ?? recordedAt, old.id)
          counts[
            !old
              ? 'inserted'
              : old.bpd === row.bpd && old.source === row.source
                ? 'unchanged'
                : 'revised'
          ] += 1
        }
        return counts
      }),
    page: ({ country, fromMonth, toMonth }, limit, offset) =>
      page.all(country ?? null, fromMonth, toMonth, limit, offset).map(rowOf),
    count: ({ country, fromMonth, toMonth }) => count.get(country ?? null, fromMonth, toMonth)!.n,
    byId(id) {
      const row = byId.get(id)
      return row ? rowOf(row) : undefined
    },
    ofMonth: month => ofMonth.all(month).map(rowOf),
    newestMonth: () => newest.get()?.month ?? undefined,
    months: () => months.all().map(row => row.month),
    countryNamed: text => countryByName.get(text)?.country,
  }
}
