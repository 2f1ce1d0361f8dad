import type { Database } from 'bun:sqlite'
import { type Clause, clause, selected, whereOf } from '../../../database/clause.ts'
import { readAtOnce, transact } from '../../../database/database.ts'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import { manyRows } from '../../../database/many-rows.ts'
import { rowsOnce } from '../../../database/statement.ts'
import { countsOf, type WriteCounts } from '../../../database/write-counts.ts'
import { boxAround, type Circle, milesBetween } from '../../geography/math/geography.ts'
import { type Well, wells as wellDataset } from '../dataset/wells.ts'

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

/** The dates that its cycle time is computed from. */
export type WellDates = Pick<
  Well,
  'apiNumber' | 'permitOn' | 'spudOn' | 'completedOn' | 'firstProductionOn' | 'source'
>

/** The wells that fit: how many there are, whose they are, and the days of those that produce. */
export interface WellLives {
  wells: number
  sources: readonly string[]
  /** Those that produce, in no order; most wells of a state do not yet. */
  producing: WellDates[]
}

export type WellStore = ReturnType<typeof createWellStore>

const columns = wellDataset.stored as Readonly<Record<keyof Well, string>>
const fields = Object.keys(columns) as (keyof Well)[]
const { apiNumber, permitOn, spudOn, completedOn, firstProductionOn, source } = columns
const dateColumns = selected({
  apiNumber,
  permitOn,
  spudOn,
  completedOn,
  firstProductionOn,
  source,
})
const datesWithPlace = `${dateColumns}, latitude, longitude`

export function createWellStore(db: Database) {
  const store = datasetStore<Well>(readsNow(db), wellDataset)
  const stored = store.values<string>(
    'api_number',
    'WHERE api_number IN (SELECT value FROM json_each(?))',
  )
  const add = manyRows(
    db,
    `INSERT INTO wells (${fields.map(field => columns[field]).join(', ')}, recorded_at)`,
    `(${fields.map(() => '?').join(', ')}, ?)`,
  )
  const put = (wells: readonly Well[], recordedAt: number): WriteCounts => {
    const storedNumbers = new Set(stored(JSON.stringify(wells.map(well => well.apiNumber))))
    const added: Well[] = []
    const others: Well[] = []
    for (const well of wells) {
      if (storedNumbers.has(well.apiNumber)) others.push(well)
      else added.push(well)
      storedNumbers.add(well.apiNumber)
    }
    add(added.map(well => [...fields.map(field => well[field]), recordedAt]))
    const counts = countsOf(others.map(well => store.put(well, recordedAt)))
    return { ...counts, inserted: counts.inserted + added.length }
  }
  const byNumber = store.records('WHERE api_number = ?')
  const matching = <Row>(read: string, clauses: readonly Clause[], order = ''): Row[] => {
    const { sql, values } = whereOf(clauses)
    return rowsOnce<Row>(db, `SELECT ${read} FROM wells ${sql} ${order}`, values)
  }
  const unfinished = store.records(
    'WHERE first_production_on IS NULL AND permit_on >= ?2 AND source = ?1 ORDER BY api_number',
  )
  return {
    /**
     * One transaction. The same well again is unchanged; anything else under a known number replaces
     * it.
     */
    put: (wells: readonly Well[], recordedAt: number) => transact(db, () => put(wells, recordedAt)),
    get: (apiNumber: string) => byNumber.get(apiNumber),
    /** In the order of their numbers. */
    search: (filter: WellFilter) =>
      within(
        filter.circle,
        matching<Well>(selected(columns), clausesOf(filter), 'ORDER BY api_number'),
      ),
    /**
     * The same wells with only the fields of cycle times, because a state has a hundred thousand.
     */
    lives(filter: WellFilter) {
      const clauses = clausesOf(filter)
      if (filter.circle)
        return livesOf(within(filter.circle, matching<WellDates & Place>(datesWithPlace, clauses)))
      const [counted, producing] = readAtOnce(db, () => [
        matching<{ wells: number; sources: string }>(
          'count(*) AS wells, json_group_array(DISTINCT source) AS sources',
          clauses,
        )[0]!,
        matching<WellDates>(dateColumns, [...clauses, clause('first_production_on IS NOT NULL')]),
      ])
      const { wells, sources } = counted
      return { wells, sources: JSON.parse(sources) as string[], producing }
    },
    /**
     * The wells of one source that were permitted since a day and have no day of first production.
     */
    unfinished: (source: string, since: string) => unfinished.all(source, since),
  }
}

const livesOf = (wells: readonly WellDates[]): WellLives => ({
  wells: wells.length,
  sources: [...new Set(wells.map(well => well.source))],
  producing: wells.filter(well => well.firstProductionOn !== null),
})

/** Conditions on wells; of a circle the belt that it is in. */
function clausesOf(filter: WellFilter): Clause[] {
  const clauses: Clause[] = []
  const add = (...of: Parameters<typeof clause>) => void clauses.push(clause(...of))
  const { state, operator, formation, producingFrom, producingTo, circle } = filter
  if (state !== undefined) add('state_code = ?', state)
  if (operator !== undefined) add('instr(upper(operator), ?) > 0', operator.toUpperCase())
  if (formation !== undefined) add('instr(upper(formation), ?) > 0', formation.toUpperCase())
  if (producingFrom !== undefined) add('first_production_on >= ?', producingFrom)
  if (producingTo !== undefined) add('first_production_on < ?', producingTo)
  if (circle) {
    const { south, north } = boxAround(circle)
    add('latitude BETWEEN ? AND ?', south, north)
  }
  return clauses
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
