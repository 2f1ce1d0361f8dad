import type { Database } from 'bun:sqlite'
import {
  type CountedPermit,
  createPermitPeriods,
  type PermitPeriods,
} from '../../topics/drilling/store/permit-periods.ts'
import { lazy, statements } from '../statement.ts'

/** A row by its columns. */
export type Row = Readonly<Record<string, string | number | null>>

/** Counts, indexes or caches that are kept in addition to the rows of a table. */
export interface Follower {
  /** A row was put back: its earlier version and its current one; undefined: it does not exist. */
  moved(was: Row | undefined, is: Row | undefined): void
  /** After all rows of the tables. */
  settle(): void
}

/** The followers of one transaction, by table. */
export const followersOf = (db: Database): Readonly<Record<string, Follower>> => ({
  well_permits: permitCounts(createPermitPeriods(db)),
  well_permit_papers: permitPlaces(db),
  frac_disclosures: disclosureTexts(db),
  frac_chemicals: substanceCounts(db),
  well_production: productionSums(db),
  diesel_stations: stationPlaces(db),
})

const nothing = () => undefined

const countedOf = (row: Row): CountedPermit => ({
  permitOn: row.permit_on as string,
  stateId: row.state_id as number,
  countyId: row.county_id as number | null,
  operatorId: row.operator_id as number,
  formationId: row.formation_id as number | null,
  permitTypeId: row.permit_type_id as number,
  wellTypeId: row.well_type_id as number,
})

const permitCounts = (periods: PermitPeriods): Follower => ({
  moved(was, is) {
    if (was) periods.add(countedOf(was), -1)
    if (is) periods.add(countedOf(is), 1)
  },
  settle: periods.write,
})

/** The day of a permit is in its facts, which are restored before its place. */
function permitPlaces(db: Database): Follower {
  const sql = statements(db)
  const drop = sql`DELETE FROM well_permit_places WHERE id = ?`
  const place = sql`
    INSERT INTO well_permit_places SELECT p.id, north, north, east, east, day, day FROM (
      SELECT id, CAST(round(latitude * 1000000) AS INTEGER) AS north,
        CAST(round(longitude * 1000000) AS INTEGER) AS east FROM well_permit_papers
      WHERE id = ? AND latitude IS NOT NULL AND longitude IS NOT NULL) p
    JOIN (SELECT id, unixepoch(permit_on) / 86400 AS day FROM well_permits) f ON f.id = p.id`
  return {
    moved(was, is) {
      if (was) drop.run(was.id!)
      if (is) place.run(is.id!)
    },
    settle: nothing,
  }
}

function disclosureTexts(db: Database): Follower {
  const sql = statements(db)
  const add = sql`
    INSERT INTO frac_disclosure_text (rowid, operator, well_name, county) VALUES (?, ?, ?, ?)`
  // The index keeps no texts, so a deletion must repeat them.
  const drop = sql`
    INSERT INTO frac_disclosure_text (frac_disclosure_text, rowid, operator, well_name, county) VALUES ('delete', ?, ?, ?, ?)`
  const texts = (row: Row) => [row.id!, row.operator!, row.well_name!, row.county!]
  return {
    moved(was, is) {
      if (was) drop.run(...texts(was))
      if (is) add.run(...texts(is))
    },
    settle: nothing,
  }
}

function substanceCounts(db: Database): Follower {
  const count = lazy(
    db,
    `UPDATE frac_substances SET disclosures =
       (SELECT count(DISTINCT disclosure_id) FROM frac_chemicals WHERE substance_id = ?1) WHERE id = ?1`,
  )
  const substances = new Set<number>()
  return {
    moved: (was, is) => void substances.add((was ?? is)!.substance_id as number),
    settle() {
      for (const id of substances) count.run(id)
    },
  }
}

/**
 * Sums the years of wells again, and counts months of states by the rows that were added and
 * removed.
 */
function productionSums(db: Database): Follower {
  const sql = statements(db)
  const sumYear = sql`
    UPDATE well_production_years SET oil_bbl = (SELECT total(oil_bbl) FROM well_production
      WHERE api_number = ?1 AND month BETWEEN ?2 || '-01' AND ?2 || '-12') WHERE api_number = ?1 AND year = ?2`
  const countMonth = sql`INSERT INTO well_production_months (state_code, month, wells, source)
     SELECT state_code, ?3, ?4, ?5 FROM well_production_years WHERE api_number = ?1 AND year = ?2
     ON CONFLICT DO UPDATE SET wells = wells + excluded.wells, source = excluded.source`
  const dropEmpty = sql`DELETE FROM well_production_months WHERE wells <= 0`
  const years = new Map<string, [apiNumber: string, year: string]>()
  return {
    moved(was, is) {
      const { api_number: apiNumber, month, source } = (is ?? was) as Record<string, string>
      const year = month!.slice(0, 4)
      years.set(`${apiNumber} ${year}`, [apiNumber!, year])
      countMonth.run(apiNumber!, year, month!, Number(!!is) - Number(!!was), source!)
    },
    settle() {
      for (const year of years.values()) sumYear.run(...year)
      dropEmpty.run()
    },
  }
}

function stationPlaces(db: Database): Follower {
  const sql = statements(db)
  const drop = sql`DELETE FROM diesel_station_places WHERE id = ?`
  const place = sql`INSERT INTO diesel_station_places SELECT id, north, north, east, east FROM (
       SELECT id, CAST(round(latitude * 1000000) AS INTEGER) AS north,
         CAST(round(longitude * 1000000) AS INTEGER) AS east FROM diesel_stations WHERE id = ?)`
  return {
    moved(was, is) {
      if (was) drop.run(was.id!)
      if (is) place.run(is.id!)
    },
    settle: nothing,
  }
}
