import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'
import { namesIn } from '../../formulas/math/parse.ts'
import { type Attribution, sourceDescription } from '../math/catalogue.ts'
import { averagedCodeOf, shippedTermsOf } from '../math/delivery-codes.ts'
import { type SeriesBase, type SeriesTerms, type TermsInForce, withTerms } from '../math/terms.ts'

/** One row of the catalogue, by the terms of its operator where there are any. */
export interface Series extends TermsInForce, SeriesBase {
  id: number
  code: string
  volatility: number
  fixture: boolean
  /** The futures family that it is a contract of. */
  contractOf: string | null
  aliases: string[]
  /** The publisher of its newest value, where this instance has read the value from a feed. */
  publisher?: Attribution
  /** Whether it is a custom series; otherwise it is shipped. */
  own?: boolean
  /** The attributes that the operator set. */
  terms?: SeriesTerms
  /** When the terms were created and updated. */
  changedAt?: { created: number; updated: number }
  /** The shipped attributes that are not columns; the operator's attributes override them. */
  shippedTerms?: SeriesTerms
  /** The code of delivery periods whose daily means it has on days without a recorded value. */
  averageOf?: string
}

export type NewSeries = Omit<
  Series,
  | 'id'
  | 'fixture'
  | 'contractOf'
  | 'aliases'
  | 'publisher'
  | 'own'
  | 'terms'
  | 'changedAt'
  | 'shippedTerms'
  | 'averageOf'
  | keyof TermsInForce
>

/** New attributes of a code; the code may be missing where it is a custom series. */
export interface NewTerms {
  code: string
  own: boolean
  terms: SeriesTerms
}

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

/** A row of the table; SQLite has no booleans, and aliases have a separate table. */
type SeriesRow = NewSeries & { id: number; fixture: 0 | 1; contractOf: string | null }

const columns =
  'id, code, name, category, currency, unit, decimals, cadence, source, description, unavailable_reason AS unavailableReason, level, volatility, fixture, family_code AS contractOf'

export type SeriesStore = ReturnType<typeof createSeriesStore>

export function createSeriesStore(db: Database) {
  const sql = statements(db)
  const all = sql<SeriesRow, []>`SELECT ${columns} FROM series ORDER BY code`
  const aliases = sql<{ alias: string; code: string }, []>`
    SELECT alias, code FROM aliases ORDER BY alias`
  const put = sql`
    INSERT INTO series (code, name, category, currency, unit, decimals, cadence, source, description, unavailable_reason, level, volatility)
    VALUES ($code, $name, $category, $currency, $unit, $decimals, $cadence, $source, $description, $unavailableReason, $level, $volatility)
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, category = excluded.category, currency = excluded.currency, unit = excluded.unit,
      decimals = excluded.decimals, cadence = excluded.cadence, source = excluded.source, description = excluded.description,
      unavailable_reason = excluded.unavailable_reason, level = excluded.level, volatility = excluded.volatility`
  const addContract = sql`
    INSERT INTO series (code, name, category, currency, unit, decimals, cadence, source, description, level, volatility, family_code)
    SELECT $code, $name, category, currency, unit, decimals, cadence, source, $description, level, volatility, code FROM series
    WHERE code = $family ON CONFLICT DO NOTHING`
  const clearAliases = sql`DELETE FROM aliases`
  const putAlias = sql`INSERT INTO aliases (alias, code) VALUES (?, ?)`
  const allTerms = sql<TermsRow, []>`
    SELECT series_id AS id, own, terms, created_at AS created, updated_at AS updated
    FROM series_terms`
  // The attributes of a custom series are stored in its terms; the row has placeholders.
  const addOwn = sql`
    INSERT INTO series (code, name, category, unit, decimals, cadence, source, description, level, volatility)
    VALUES (?1, ?1, 'own', 'unit', 2, 'daily', 'operator', '', 0, 0) ON CONFLICT DO NOTHING`
  const putTerms = sql`INSERT INTO series_terms (series_id, own, terms, created_at, updated_at)
     SELECT id, ?1, ?2, ?3, ?3 FROM series WHERE code = ?4
     ON CONFLICT (series_id) DO UPDATE SET terms = excluded.terms, updated_at = excluded.updated_at`
  const dropTerms = sql`
    DELETE FROM series_terms WHERE series_id = (SELECT id FROM series WHERE code = ?)`
  const mark = sql`UPDATE series SET fixture = 1 WHERE id = ? AND fixture = 0`
  // Two seeks on the primary key instead of one scan: min() and max() in one statement would read
  // every row of the series. Each end is one step down the tree; a GROUP BY would read every
  // observation.
  const extents = sql<{ id: number; firstAt: number | null; lastAt: number | null }, []>`
    SELECT id, (SELECT min(observed_at) FROM observations WHERE series_id = series.id) AS firstAt,
      (SELECT max(observed_at) FROM observations WHERE series_id = series.id) AS lastAt FROM series`
  const extent = sql<{ firstAt: number | null; lastAt: number | null }, [number]>`
    SELECT (SELECT min(observed_at) FROM observations WHERE series_id = ?1) AS firstAt,
      (SELECT max(observed_at) FROM observations WHERE series_id = ?1) AS lastAt`
  return {
    extent(id: number): Extent | undefined {
      const { firstAt, lastAt } = extent.get(id)!
      return firstAt === null || lastAt === null ? undefined : { firstAt, lastAt }
    },
    /** The whole catalogue by code. */
    all() {
      const byCode = Map.groupBy(aliases.all(), row => row.code)
      const termsById = new Map(allTerms.all().map(row => [row.id, row]))
      return all.all().map(row => {
        const series: Series = {
          ...row,
          code: row.code.split('@')[0]!,
          fixture: row.fixture === 1,
          aliases: (byCode.get(row.code) ?? []).map(({ alias }) => alias),
        }
        const averageOf = averagedCodeOf(row.code)
        if (averageOf !== undefined) series.averageOf = averageOf
        const stored = termsById.get(row.id)
        const shippedTerms = shippedTermsOf(row.code)
        if (shippedTerms) series.shippedTerms = shippedTerms
        if (stored) return byTerms(series, stored)
        return shippedTerms
          ? { ...series, ...withTerms(series, shippedTerms, false), ...declared(series) }
          : series
      })
    },
    /** Adds or updates catalogue rows and replaces the aliases, in one transaction. */
    put(rows: readonly NewSeries[], names: readonly { alias: string; code: string }[]) {
      transact(db, () => {
        for (const row of rows) put.run({ ...row })
        clearAliases.run()
        for (const { alias, code } of names) putAlias.run(alias, code)
      })
    },
    /** Adds the contracts that are not there yet and whose families are, in one transaction. */
    addContracts(contracts: readonly NewContract[]) {
      transact(db, () => {
        for (const contract of contracts) addContract.run({ ...contract })
      })
    },
    /**
     * Stores the operator's settings of codes in one transaction: adds own codes, replaces all
     * terms.
     */
    putTerms(entries: readonly NewTerms[], at: number) {
      transact(db, () => {
        for (const { code, own, terms } of entries) {
          const stored = terms.owner === undefined ? code : `${code}@${terms.owner}`
          if (own) addOwn.run(stored)
          const text = JSON.stringify(terms)
          if (!own && text === '{}') dropTerms.run(stored)
          else putTerms.run(own ? 1 : 0, text, at, stored)
        }
      })
    },
    markFixture(ids: readonly number[]) {
      transact(db, () => {
        for (const id of ids) mark.run(id)
      })
    },
    /** By id, of the series that have observations. */
    extents: (): Map<number, Extent> =>
      new Map(
        extents
          .all()
          .flatMap(({ id, firstAt, lastAt }) =>
            firstAt === null || lastAt === null ? [] : [[id, { firstAt, lastAt }]],
          ),
      ),
  }
}

interface TermsRow {
  id: number
  own: 0 | 1
  terms: string
  created: number
  updated: number
}

/** Whether values of a series are computed from those of others. */
export const isComputed = ({ terms, averageOf }: Series): boolean =>
  terms?.formula !== undefined || averageOf !== undefined

/** The codes and aliases that a series is computed from. */
export function legNames({ terms, averageOf }: Series): readonly string[] {
  if (terms?.formula !== undefined) return namesIn(terms.formula).named
  return averageOf === undefined ? [] : [averageOf]
}

/** A series as its operator wants it. */
function byTerms(shipped: Series, stored: TermsRow): Series {
  const terms = JSON.parse(stored.terms) as SeriesTerms
  // Earlier versions stored the cadence that the legs of a formula had at its creation.
  if (terms.formula !== undefined) delete terms.cadence
  const isCustom = stored.own === 1
  const series: Series = {
    ...withTerms(shipped, { ...shipped.shippedTerms, ...terms }, isCustom),
    aliases: [...new Set([...shipped.aliases, ...(terms.aliases ?? [])])].sort(),
    own: isCustom,
    terms,
    changedAt: { created: stored.created, updated: stored.updated },
  }
  return { ...series, ...declared(series) }
}

const declared = (series: Series): Pick<Series, 'publisher'> => {
  const publisher = declaredPublisher(series)
  return publisher ? { publisher } : {}
}

/** The publisher of values without a source, as the operator or the catalogue declares it. */
export function declaredPublisher({
  source,
  fixture,
  terms,
  shippedTerms,
}: Pick<Series, 'source' | 'fixture' | 'terms' | 'shippedTerms'>): Attribution | undefined {
  const { attribution, licenseClass } = { ...shippedTerms, ...terms }
  if (attribution === undefined && licenseClass === undefined) return undefined
  return {
    name: source,
    text: attribution ?? sourceDescription(source, fixture),
    licenseClass: licenseClass ?? 'open',
  }
}
