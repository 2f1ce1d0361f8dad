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

/** What its cycle time is made of. */
export type WellDates = Pick<
  Well,
  'apiNumber' | 'permitOn' | 'spudOn' | 'completedOn' | 'firstProductionOn' | 'source'
>

export interface WellStore {
  /**
   * One transaction. The same well again is unchanged; anything else under a known number replaces
   * it.
   */
  put(wells: readonly Well[], recordedAt: number): WriteCounts
  get(apiNumber: string): Well | undefined
  /** In the order of their numbers. */
  search(filter: WellFilter): Well[]
  /** The same wells with their dates only: a state has a hundred thousand of them. */
  dates(filter: WellFilter): WellDates[]
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
const dateColumns: ColumnMap<WellDates> = {
  apiNumber: columns.apiNumber,
  permitOn: columns.permitOn,
  spudOn: columns.spudOn,
  completedOn: columns.completedOn,
  firstProductionOn: columns.firstProductionOn,
  source: columns.source,
}

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
    const storedNumbers = new Set(
      stored.all(JSON.stringify(wells.map(well => well.apiNumber))).map(well => well.apiNumber),
    )
    const added: Well[] = []
    const others: Well[] = []
    for (const well of wells) {
      if (storedNumbers.has(well.apiNumber)) others.push(well)
      else added.push(well)
      storedNumbers.add(well.apiNumber)
    }
    add(added.map(well => [...fields.map(field => well[field]), recordedAt]))
    const counts = countsOf(others.map(well => write(well, recordedAt)))
    return { ...counts, inserted: counts.inserted + added.length }
  }
  const byNumber = lazy<Well, [string]>(
    db,
    `SELECT ${selected(columns)} FROM wells WHERE api_number = ?`,
  )
  const whole = matching<Well>(db, selected(columns))
  const dates = matching<WellDates>(db, selected(dateColumns))
  const placedDates = matching<WellDates & Place>(
    db,
    selected({ ...dateColumns, latitude: columns.latitude, longitude: columns.longitude }),
  )
  const unfinished = lazy<Well, [string, string]>(
    db,
    `SELECT ${selected(columns)} FROM wells WHERE first_production_on IS NULL AND permit_on >= ?2 AND source = ?1 ORDER BY api_number`,
  )
  return {
    put: (wells, recordedAt) => transact(db, () => put(wells, recordedAt)),
    get: apiNumber => byNumber.get(apiNumber) ?? undefined,
    search: filter => within(filter.circle, whole(filter)),
    dates: filter => (filter.circle ? within(filter.circle, placedDates(filter)) : dates(filter)),
    unfinished: (source, since) => unfinished.all(source, since),
  }
}

/** Reads so much of the wells that fit, those of a circle and of the belt that it lies in. */
function matching<Row extends object>(db: Database, read: string): (filter: WellFilter) => Row[] {
  const statement = lazy<
    Row,
    [string | null, string | null, string | null, string | null, string | null, number, number]
  >(
    db,
    `SELECT ${read} FROM wells
     WHERE (?1 IS NULL OR state_code = ?1) AND (?2 IS NULL OR instr(upper(operator), ?2) > 0)
       AND (?3 IS NULL OR instr(upper(formation), ?3) > 0)
       AND (?4 IS NULL OR first_production_on >= ?4) AND (?5 IS NULL OR first_production_on < ?5)
       AND (?6 = -90 AND ?7 = 90 OR latitude BETWEEN ?6 AND ?7)
     ORDER BY api_number`,
  )
  return ({ state, operator, formation, producingFrom, producingTo, circle }) => {
    const box = circle && boxAround(circle)
    return statement.all(
      state ?? null,
      operator?.toUpperCase() ?? null,
      formation?.toUpperCase() ?? null,
      producingFrom ?? null,
      producingTo ?? null,
      box?.south ?? -90,
      box?.north ?? 90,
    )
  }
}

type Place = Pick<Well, 'latitude' | 'longitude'>

const within = <Row extends Place>(circle: Circle | undefined, wells: Row[]): Row[] =>
  circle ? wells.filter(well => liesIn(circle, well)) : wells

function liesIn(circle: Circle, { latitude, longitude }: Place): boolean {
  return (
    latitude !== null &&
    longitude !== null &&
    milesBetween(circle, { latitude, longitude }) <= circle.radiusMiles
  )
}
