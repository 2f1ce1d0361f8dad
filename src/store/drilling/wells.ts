import type { Database } from 'bun:sqlite'
import { boxAround, type Circle, milesBetween } from '../../market/geography/geography.ts'
import { transact } from '../database.ts'
import { manyRows } from '../many-rows.ts'
import { lazy } from '../statement.ts'
import { type ColumnMap, selected, upsert } from '../upsert.ts'
import { countsOf, type WriteCounts } from '../write-counts.ts'

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

const columns: ColumnMap<Well> = {
  apiNumber: 'api_number',
  state: 'state_code',
  operator: 'operator',
  name: 'name',
  county: 'county',
  formation: 'formation',
  latitude: 'latitude',
  longitude: 'longitude',
  permitOn: 'permit_on',
  spudOn: 'spud_on',
  completedOn: 'completed_on',
  firstProductionOn: 'first_production_on',
  source: 'source',
}
const fields = Object.keys(columns) as (keyof Well)[]

export function createWellStore(db: Database): WellStore {
  const write = upsert(db, 'wells', columns, ['apiNumber'])
  const stored = lazy<{ apiNumber: string }, [string]>(
    db,
    'SELECT api_number AS apiNumber FROM wells WHERE api_number IN (SELECT value FROM json_each(?))',
  )
  const add = manyRows(
    db,
    `INSERT INTO wells (${fields.map(field => columns[field]).join(', ')}, recorded_at)`,
    `(${fields.map(() => '?').join(', ')}, ?)`,
  )
  const put = (wells: readonly Well[], recordedAt: number): WriteCounts => {
    const known = new Set(
      stored.all(JSON.stringify(wells.map(well => well.apiNumber))).map(well => well.apiNumber),
    )
    const added: Well[] = []
    const others: Well[] = []
    for (const well of wells) {
      if (known.has(well.apiNumber)) others.push(well)
      else added.push(well)
      known.add(well.apiNumber)
    }
    add(added.map(well => [...fields.map(field => well[field]), recordedAt]))
    const counts = countsOf(others.map(well => write(well, recordedAt)))
    return { ...counts, inserted: counts.inserted + added.length }
  }
  const byNumber = lazy<Well, [string]>(
    db,
    `SELECT ${selected(columns)} FROM wells WHERE api_number = ?`,
  )
  const matching = lazy<
    Well,
    [string | null, string | null, string | null, string | null, string | null, number, number]
  >(
    db,
    `SELECT ${selected(columns)} FROM wells
     WHERE (?1 IS NULL OR state_code = ?1) AND (?2 IS NULL OR instr(upper(operator), ?2) > 0)
       AND (?3 IS NULL OR instr(upper(formation), ?3) > 0)
       AND (?4 IS NULL OR first_production_on >= ?4) AND (?5 IS NULL OR first_production_on < ?5)
       AND (?6 = -90 AND ?7 = 90 OR latitude BETWEEN ?6 AND ?7)
     ORDER BY api_number`,
  )
  const unfinished = lazy<Well, [string, string]>(
    db,
    `SELECT ${selected(columns)} FROM wells WHERE first_production_on IS NULL AND permit_on >= ?2 AND source = ?1 ORDER BY api_number`,
  )
  return {
    put: (wells, recordedAt) => transact(db, () => put(wells, recordedAt)),
    get: apiNumber => byNumber.get(apiNumber) ?? undefined,
    search({ state, operator, formation, producingFrom, producingTo, circle }) {
      const box = circle && boxAround(circle)
      const wells = matching.all(
        state ?? null,
        operator?.toUpperCase() ?? null,
        formation?.toUpperCase() ?? null,
        producingFrom ?? null,
        producingTo ?? null,
        ...([box?.south ?? -90, box?.north ?? 90] as const),
      )
      return circle ? wells.filter(well => liesIn(circle, well)) : wells
    },
    unfinished: (source, since) => unfinished.all(source, since),
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
