import type { Database } from 'bun:sqlite'
import { boxAround, type Circle, milesBetween } from '../../market/geography/geography.ts'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'
import { counted, upsert } from '../upsert.ts'

/** A well with the days of its life; null: not yet, or not known. */
export interface Well {
  /** Fourteen digits. */
  apiNumber: string
  state: string
  operator: string
  name: string
  county: string | null
  formation: string | null
  latitude: number | null
  longitude: number | null
  permitOn: string | null
  spudOn: string | null
  completedOn: string | null
  firstProductionOn: string | null
  source: string
}

export interface WellFilter {
  state?: string
  /** Parts of names, in any letter case. */
  operator?: string
  formation?: string
  /** Half-open range of days of first production. */
  producingFrom?: string
  producingTo?: string
  circle?: Circle
}

export interface WellStore {
  /**
   * One transaction. The same well again is unchanged; anything else under a known number replaces
   * it.
   */
  put(wells: readonly Well[], recordedAt: number): WriteCounts
  get(apiNumber: string): Well | undefined
  /** In the order of their numbers. */
  search(filter: WellFilter): Well[]
  /** Of one source, permitted since a day and without a day of first production. */
  unfinished(source: string, permittedSince: string): Well[]
}

interface Row {
  api_number: string
  state_code: string
  operator: string
  name: string
  county: string | null
  formation: string | null
  latitude: number | null
  longitude: number | null
  permit_on: string | null
  spud_on: string | null
  completed_on: string | null
  first_production_on: string | null
  source: string
}

const columns = [
  'api_number',
  'state_code',
  'operator',
  'name',
  'county',
  'formation',
  'latitude',
  'longitude',
  'permit_on',
  'spud_on',
  'completed_on',
  'first_production_on',
  'source',
]

const rowOf = (well: Well): Row => ({
  api_number: well.apiNumber,
  state_code: well.state,
  operator: well.operator,
  name: well.name,
  county: well.county,
  formation: well.formation,
  latitude: well.latitude,
  longitude: well.longitude,
  permit_on: well.permitOn,
  spud_on: well.spudOn,
  completed_on: well.completedOn,
  first_production_on: well.firstProductionOn,
  source: well.source,
})

const wellOf = (row: Row): Well => ({
  apiNumber: row.api_number,
  state: row.state_code,
  operator: row.operator,
  name: row.name,
  county: row.county,
  formation: row.formation,
  latitude: row.latitude,
  longitude: row.longitude,
  permitOn: row.permit_on,
  spudOn: row.spud_on,
  completedOn: row.completed_on,
  firstProductionOn: row.first_production_on,
  source: row.source,
})

export function createWellStore(db: Database): WellStore {
  const write = upsert<Row>(db, 'wells', columns, ['api_number'])
  const byNumber = db.query<Row, [string]>(
    `SELECT ${columns.join(', ')} FROM wells WHERE api_number = ?`,
  )
  const matching = db.query<
    Row,
    [string | null, string | null, string | null, string | null, string | null, number, number]
  >(
    `SELECT ${columns.join(', ')} FROM wells
     WHERE (?1 IS NULL OR state_code = ?1) AND (?2 IS NULL OR instr(upper(operator), ?2) > 0)
       AND (?3 IS NULL OR instr(upper(formation), ?3) > 0)
       AND (?4 IS NULL OR first_production_on >= ?4) AND (?5 IS NULL OR first_production_on < ?5)
       AND (?6 = -90 AND ?7 = 90 OR latitude BETWEEN ?6 AND ?7)
     ORDER BY api_number`,
  )
  const unfinished = db.query<Row, [string, string]>(
    `SELECT ${columns.join(', ')} FROM wells WHERE first_production_on IS NULL AND permit_on >= ?2 AND source = ?1 ORDER BY api_number`,
  )
  return {
    put: (wells, recordedAt) =>
      transact(db, () => counted(wells.map(well => write(rowOf(well), recordedAt)))),
    get(apiNumber) {
      const row = byNumber.get(apiNumber)
      return row ? wellOf(row) : undefined
    },
    search({ state, operator, formation, producingFrom, producingTo, circle }) {
      const box = circle && boxAround(circle)
      const rows = matching.all(
        state ?? null,
        operator?.toUpperCase() ?? null,
        formation?.toUpperCase() ?? null,
        producingFrom ?? null,
        producingTo ?? null,
        ...([box?.south ?? -90, box?.north ?? 90] as const),
      )
      const wells = rows.map(wellOf)
      return circle ? wells.filter(well => liesIn(circle, well)) : wells
    },
    unfinished: (source, since) => unfinished.all(source, since).map(wellOf),
  }
}

function liesIn(
  circle: Circle,
  { latitude, longitude }: Pick<Well, 'latitude' | 'longitude'>,
): boolean {
  return (
    latitude !== null &&
    longitude !== null &&
    milesBetween(circle, { latitude, longitude }) <= circle.radiusMiles
  )
}
