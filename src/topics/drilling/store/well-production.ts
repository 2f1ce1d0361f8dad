import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { manyRows } from '../../../database/many-rows.ts'
import { statements } from '../../../database/statement.ts'
import type { WriteCounts } from '../../../database/write-counts.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import type { WellReport } from '../dataset/wells.ts'

/** The production of one well in a month; null: not reported. */
export type WellMonth = Omit<WellReport, 'operator' | 'wellName' | 'county'>

export type WellMonthRow = Omit<WellMonth, 'state'> & { recordedAt: number }

/** The reports of a state's wells for a month. */
export interface WellCoverage {
  state: string
  month: string
  wells: number
  /** The source of the rows that were written last. */
  source: string
}

export interface TopWell {
  apiNumber: string
  oilBbl: number
  gasMcf: number
  /** Months with any production. */
  months: number
  source: string
}

const columns = `api_number AS apiNumber, month, oil_bbl AS oilBbl, gas_mcf AS gasMcf, water_bbl AS waterBbl,
  days_producing AS daysProducing, source, recorded_at AS recordedAt`

/** Wells of each year that are checked first; as many times more where they do not settle it. */
const [looksFirst, looksMore] = [64, 4]

export function createWellProductionStore(db: Database) {
  const sql = statements(db)
  const stored = sql<WellMonthRow, [string, string]>`
    SELECT ${columns} FROM well_production WHERE api_number = ? AND month = ?`
  const hasAny = sql`SELECT 1 FROM well_production WHERE api_number = ? LIMIT 1`
  const put = manyRows(
    db,
    'INSERT INTO well_production (api_number, month, oil_bbl, gas_mcf, water_bbl, days_producing, source, recorded_at)',
    '(?, ?, ?, ?, ?, ?, ?, ?)',
    `ON CONFLICT DO UPDATE SET oil_bbl = excluded.oil_bbl, gas_mcf = excluded.gas_mcf,
       water_bbl = excluded.water_bbl, days_producing = excluded.days_producing, source = excluded.source,
       recorded_at = excluded.recorded_at`,
  )
  const sumYear = sql`
    INSERT OR REPLACE INTO well_production_years (api_number, year, state_code, oil_bbl)
    SELECT api_number, ?2, ?3, total(oil_bbl) FROM well_production WHERE api_number = ?1 AND month BETWEEN ?2 || '-01' AND ?2 || '-12'`
  const countMonth = sql`
    INSERT INTO well_production_months (state_code, month, wells, source) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET wells = wells + excluded.wells, source = excluded.source`
  const total = sql<{ n: number }, []>`
    SELECT coalesce(sum(wells), 0) AS n FROM well_production_months`

  /** Rows as they stand, those that wait to be written too. */
  const createWriter = (recordedAt: number) => {
    const waiting = new Map<string, WellMonth>()
    const isNew = new Map<string, boolean>()
    const storedRow = ({ apiNumber, month }: WellMonth) => {
      if (!isNew.has(apiNumber)) isNew.set(apiNumber, hasAny.get(apiNumber) === undefined)
      return isNew.get(apiNumber) ? undefined : stored.get(apiNumber, month)
    }
    return {
      add(row: WellMonth): keyof WriteCounts {
        const key = row.apiNumber + row.month
        const old = waiting.get(key) ?? storedRow(row)
        if (old && isSame(old, row)) return 'unchanged'
        waiting.set(key, row)
        return old ? 'revised' : 'inserted'
      },
      write: () =>
        put(
          [...waiting.values()].map(row => [
            row.apiNumber,
            row.month,
            row.oilBbl,
            row.gasMcf,
            row.waterBbl,
            row.daysProducing,
            row.source,
            recordedAt,
          ]),
        ),
    }
  }

  return {
    /**
     * One transaction. The same month of a well again is unchanged; anything else for a known month
     * replaces it. No volume is negative.
     */
    write: (rows: readonly WellMonth[], recordedAt: number): WriteCounts =>
      transact(db, () => {
        const counts: WriteCounts = { inserted: 0, revised: 0, unchanged: 0 }
        const years = new Map<string, [apiNumber: string, year: string, state: string]>()
        const months = new Map<string, WellCoverage>()
        const writer = createWriter(recordedAt)
        for (const row of rows) {
          const outcome = writer.add(row)
          counts[outcome] += 1
          if (outcome === 'unchanged') continue
          const { apiNumber, state, month, source } = row
          const year = month.slice(0, 4)
          years.set(apiNumber + year, [apiNumber, year, state])
          const wells = (months.get(state + month)?.wells ?? 0) + Number(outcome === 'inserted')
          months.set(state + month, { state, month, wells, source })
        }
        writer.write()
        for (const touched of years.values()) sumYear.run(...touched)
        for (const { state, month, wells, source } of months.values())
          countMonth.run(state, month, wells, source)
        return counts
      }),
    /** Oldest first. */
    ofWell: sql<WellMonthRow, [apiNumber: string]>`
      SELECT ${columns} FROM well_production WHERE api_number = ? ORDER BY month`.all,
    /** The wells of a state with most oil in the months of `[fromMonth, toMonth)`, most first. */
    top: topWells(db),
    /** The newest month of each state, by code. */
    newest: sql<WellCoverage, []>`
      SELECT state_code AS state, max(month) AS month, wells, source FROM well_production_months GROUP BY state_code ORDER BY state_code`
      .all,
    /** Rows in all. */
    total: () => total.get()!.n,
  }
}

/**
 * A well cannot have more in the months than in the years that they are in. So the best of each
 * year are checked, deeper and deeper, until the last of those found has more than any well that
 * has not been seen can have: R. Fagin's threshold algorithm.
 */
function topWells(db: Database) {
  const sql = statements(db)
  const bestOfYear = sql<{ apiNumber: string; oilBbl: number }, [string, string, number]>`
    SELECT api_number AS apiNumber, oil_bbl AS oilBbl FROM well_production_years WHERE state_code = ? AND year = ?
    ORDER BY oil_bbl DESC, api_number LIMIT ?`
  const within = sql<TopWell, [string, string, string]>`
    SELECT api_number AS apiNumber, total(oil_bbl) AS oilBbl, total(gas_mcf) AS gasMcf, max(source) AS source,
      count(CASE WHEN oil_bbl > 0 OR gas_mcf > 0 THEN 1 END) AS months
    FROM well_production WHERE api_number IN (SELECT value FROM json_each(?1)) AND month >= ?2 AND month < ?3 GROUP BY api_number`
  return (state: string, fromMonth: string, toMonth: string, limit: number): TopWell[] => {
    const years = yearsOf(fromMonth, toMonth)
    const [seen, candidates] = [new Set<string>(), [] as TopWell[]]
    for (let depth = Math.max(looksFirst, limit); ; depth *= looksMore) {
      const lists = years.map(year => bestOfYear.all(state, year, depth))
      const news = new Set(lists.flat().map(well => well.apiNumber)).difference(seen)
      for (const apiNumber of news) seen.add(apiNumber)
      candidates.push(...within.all(JSON.stringify([...news]), fromMonth, toMonth))
      const best = candidates.sort(byOil).slice(0, limit)
      const unseenMax = lists.reduce(
        (sum, list) => sum + (list.length < depth ? 0 : list.at(-1)!.oilBbl),
        0,
      )
      const isSettled = best.length === limit && best.at(-1)!.oilBbl > unseenMax
      if (isSettled || lists.every(list => list.length < depth)) return best
    }
  }
}

const isSame = (a: Omit<WellMonth, 'state'>, b: WellMonth): boolean =>
  a.oilBbl === b.oilBbl &&
  a.gasMcf === b.gasMcf &&
  a.waterBbl === b.waterBbl &&
  a.daysProducing === b.daysProducing &&
  a.source === b.source

const byOil = (a: TopWell, b: TopWell): number =>
  b.oilBbl - a.oilBbl || (a.apiNumber < b.apiNumber ? -1 : 1)

/** The years that months of `[fromMonth, toMonth)` are in. */
function yearsOf(fromMonth: string, toMonth: string): string[] {
  const [first, last] = [Number(fromMonth.slice(0, 4)), Number(monthAfter(toMonth, -1).slice(0, 4))]
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => String(first + i))
}
