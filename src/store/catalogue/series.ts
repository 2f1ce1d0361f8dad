import type { Database } from 'bun:sqlite'
import type { Attribution, Cadence } from '../../market/catalogue/catalogue.ts'
import { transact } from '../database.ts'

/** One row of the catalogue. */
export interface Series {
  id: number
  code: string
  name: string
  category: string
  currency: string | null
  unit: string
  decimals: number
  cadence: Cadence
  source: string
  description: string
  unavailableReason: string | null
  level: number
  volatility: number
  fixture: boolean
  /** The futures family that it is a contract of. */
  contractOf: string | null
  aliases: string[]
  /** Who published its newest value, where this copy has read it from there. */
  publisher?: Attribution
}

export type NewSeries = Omit<Series, 'id' | 'fixture' | 'contractOf' | 'aliases' | 'publisher'>

/** A contract to add: everything but its name and description is its family's. */
export interface NewContract {
  family: string
  code: string
  name: string
  description: string
}

/** First and last observation of a series, Unix ms. */
export interface Extent {
  firstAt: number
  lastAt: number
}

/** A row of the table; SQLite has no booleans, and aliases have a table of their own. */
type SeriesRow = Omit<Series, 'fixture' | 'aliases'> & { fixture: 0 | 1 }

const columns =
  'id, code, name, category, currency, unit, decimals, cadence, source, description, unavailable_reason AS unavailableReason, level, volatility, fixture, family_code AS contractOf'

export interface SeriesStore {
  /** The whole catalogue by code. */
  all(): Series[]
  /** Adds or updates catalogue rows and replaces the aliases, in one transaction. */
  put(rows: readonly NewSeries[], aliases: readonly { alias: string; code: string }[]): void
  /** Adds the contracts that are not there yet and whose families are, in one transaction. */
  addContracts(contracts: readonly NewContract[]): void
  markFixture(ids: readonly number[]): void
  /** By id, of the series that have observations. */
  extents(): Map<number, Extent>
}

export function createSeriesStore(db: Database): SeriesStore {
  const all = db.query<SeriesRow, []>(`SELECT ${columns} FROM series ORDER BY code`)
  const aliases = db.query<{ alias: string; code: string }, []>(
    'SELECT alias, code FROM aliases ORDER BY alias',
  )
  const put = db.query(
    `INSERT INTO series (code, name, category, currency, unit, decimals, cadence, source, description, unavailable_reason, level, volatility)
     VALUES ($code, $name, $category, $currency, $unit, $decimals, $cadence, $source, $description, $unavailableReason, $level, $volatility)
     ON CONFLICT (code) DO UPDATE SET name = excluded.name, category = excluded.category, currency = excluded.currency, unit = excluded.unit,
       decimals = excluded.decimals, cadence = excluded.cadence, source = excluded.source, description = excluded.description,
       unavailable_reason = excluded.unavailable_reason, level = excluded.level, volatility = excluded.volatility`,
  )
  const addContract = db.query(
    `INSERT INTO series (code, name, category, currency, unit, decimals, cadence, source, description, level, volatility, family_code)
     SELECT $code, $name, category, currency, unit, decimals, cadence, source, $description, level, volatility, code FROM series
     WHERE code = $family ON CONFLICT DO NOTHING`,
  )
  const clearAliases = db.query('DELETE FROM aliases')
  const putAlias = db.query('INSERT INTO aliases (alias, code) VALUES (?, ?)')
  const mark = db.query('UPDATE series SET fixture = 1 WHERE id = ? AND fixture = 0')
  // Two seeks on the primary key instead of one scan: min() and max() in one statement would read
  // every row of the series. Each end is one step down the tree; a GROUP BY would read every
  // observation.
  const extents = db.query<{ id: number; firstAt: number | null; lastAt: number | null }, []>(
    `SELECT id, (SELECT min(observed_at) FROM observations WHERE series_id = series.id) AS firstAt,
       (SELECT max(observed_at) FROM observations WHERE series_id = series.id) AS lastAt FROM series`,
  )
  return {
    all() {
      const byCode = Map.groupBy(aliases.all(), row => row.code)
      return all.all().map(row => ({
        ...row,
        fixture: row.fixture === 1,
        aliases: (byCode.get(row.code) ?? []).map(({ alias }) => alias),
      }))
    },
    put(rows, names) {
      transact(db, () => {
        for (const row of rows) put.run({ ...row })
        clearAliases.run()
        for (const { alias, code } of names) putAlias.run(alias, code)
      })
    },
    addContracts(contracts) {
      transact(db, () => {
        for (const contract of contracts) addContract.run({ ...contract })
      })
    },
    markFixture(ids) {
      transact(db, () => {
        for (const id of ids) mark.run(id)
      })
    },
    extents: () =>
      new Map(
        extents
          .all()
          .flatMap(({ id, firstAt, lastAt }) =>
            firstAt === null || lastAt === null ? [] : [[id, { firstAt, lastAt }]],
          ),
      ),
  }
}
