import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { keptCount } from '../../../database/kept-counts.ts'
import { lazy } from '../../../database/statement.ts'
import { type ColumnMap, selected, upsert } from '../../../database/upsert.ts'
import { countsOf, type WriteCounts } from '../../../database/write-counts.ts'
import type { Schedule, WeekSurcharge } from '../math/surcharge.ts'

export type CarrierMode = 'ltl' | 'parcel'

/**
 * One thing that a carrier has a surcharge for; the service level is empty where there is one for
 * all that it carries.
 */
export interface CarrierService {
  mode: CarrierMode
  carrier: string
  serviceLevel: string
}

/** A carrier's table from a day on, and the page that it was read from. */
export interface CarrierSchedule extends CarrierService, Schedule {
  carrierName: string
  serviceName: string
  validFromOn: string
  /** The series whose price of the week the table is read at. */
  indexCode: string
  /** Whether the weeks that nobody published are matched here. */
  matched: boolean
  source: string
  retrievedAt: number
}

/** What a carrier charges from a day on. */
export interface Surcharge extends CarrierService {
  carrierName: string
  serviceName: string
  effectiveOn: string
  percent: number
  indexCode: string
  indexPrice: number
  band: { min: number; max: number }
  source: string
  retrievedAt: number
  fixture: boolean
}

/** The row of a week that was matched to a table. */
export const matchedRow = (table: CarrierSchedule, week: WeekSurcharge): Surcharge => ({
  mode: table.mode,
  carrier: table.carrier,
  serviceLevel: table.serviceLevel,
  carrierName: table.carrierName,
  serviceName: table.serviceName,
  effectiveOn: week.effectiveOn,
  percent: week.percent,
  indexCode: table.indexCode,
  indexPrice: week.indexPrice,
  band: week.band,
  source: table.source,
  retrievedAt: table.retrievedAt,
  fixture: false,
})

export interface SurchargeStore {
  /** One transaction. The same row again is unchanged; another for a known week replaces it. */
  write(rows: readonly Surcharge[], recordedAt: number): WriteCounts
  writeSchedules(rows: readonly CarrierSchedule[], recordedAt: number): WriteCounts
  /** Another text after every change of tables, whoever made it. */
  version(): string
  /** Every table, each service's oldest first. */
  schedules(): CarrierSchedule[]
  /**
   * What is in force on a day for each service of a mode, by carrier and service level; of one
   * carrier if named.
   */
  inForce(mode: CarrierMode, day: string, carrier?: string): Surcharge[]
  /** Weeks that took effect by a day, newest first, then by service level. */
  history(query: SurchargeHistory, limit: number, offset: number): Surcharge[]
  count(query: SurchargeHistory): number
  /** Every week of a service that is there, also those only announced. */
  weeks(service: CarrierService): string[]
  /**
   * Service levels of a carrier, or of all carriers of a mode; none means that the carrier is not
   * known.
   */
  serviceLevels(mode: CarrierMode, carrier?: string): string[]
}

export interface SurchargeHistory {
  mode: CarrierMode
  carrier: string
  serviceLevel: string | undefined
  toOn: string
}

interface Row extends Omit<Surcharge, 'band' | 'fixture'> {
  bandMin: number
  bandMax: number
  fixture: number
}

const surchargeOf = ({ bandMin, bandMax, fixture, ...surcharge }: Row): Surcharge => ({
  ...surcharge,
  band: { min: bandMin, max: bandMax },
  fixture: fixture === 1,
})

const rowOf = ({ band, fixture, ...surcharge }: Surcharge): Row => ({
  ...surcharge,
  bandMin: band.min,
  bandMax: band.max,
  fixture: Number(fixture),
})

interface ScheduleRow extends Omit<CarrierSchedule, 'bands' | 'beyond' | 'matched'> {
  /** JSON: minimum, maximum and percent of each band. */
  bands: string
  beyondWidth: number | null
  beyondPercent: number | null
  matched: number
}

const scheduleOf = ({
  bands,
  beyondWidth,
  beyondPercent,
  matched,
  ...schedule
}: ScheduleRow): CarrierSchedule => ({
  ...schedule,
  bands: (JSON.parse(bands) as [number, number, number][]).map(([min, max, percent]) => ({
    min,
    max,
    percent,
  })),
  ...(beyondWidth !== null &&
    beyondPercent !== null && { beyond: { width: beyondWidth, percent: beyondPercent } }),
  matched: matched === 1,
})

const scheduleRow = ({ bands, beyond, matched, ...schedule }: CarrierSchedule): ScheduleRow => ({
  ...schedule,
  bands: JSON.stringify(bands.map(({ min, max, percent }) => [min, max, percent])),
  beyondWidth: beyond?.width ?? null,
  beyondPercent: beyond?.percent ?? null,
  matched: Number(matched),
})

const serviceColumns = { mode: 'mode', carrier: 'carrier', serviceLevel: 'service_level' } as const
const serviceKeys = ['mode', 'carrier', 'serviceLevel'] as const
const surchargeColumns: ColumnMap<Row> = {
  ...serviceColumns,
  effectiveOn: 'effective_on',
  carrierName: 'carrier_name',
  serviceName: 'service_name',
  percent: 'percent',
  indexCode: 'index_code',
  indexPrice: 'index_price',
  bandMin: 'band_min',
  bandMax: 'band_max',
  source: 'source',
  retrievedAt: 'retrieved_at',
  fixture: 'fixture',
}
const scheduleColumns: ColumnMap<ScheduleRow> = {
  ...serviceColumns,
  validFromOn: 'valid_from_on',
  carrierName: 'carrier_name',
  serviceName: 'service_name',
  indexCode: 'index_code',
  effectiveWeekday: 'effective_weekday',
  bands: 'bands',
  beyondWidth: 'beyond_width',
  beyondPercent: 'beyond_percent',
  matched: 'matched',
  source: 'source',
  retrievedAt: 'retrieved_at',
}

export function createSurchargeStore(db: Database): SurchargeStore {
  const columns = selected(surchargeColumns)
  // Of one carrier or of all: a condition that is both finds neither by the key of the table.
  const inForce = (ofCarrier: string) =>
    lazy<Row, string[]>(
      db,
      `SELECT ${columns} FROM surcharges JOIN (
         SELECT mode, carrier, service_level, max(effective_on) AS effective_on FROM surcharges
         WHERE mode = ?1 AND effective_on <= ?2 ${ofCarrier} GROUP BY mode, carrier, service_level
       ) USING (mode, carrier, service_level, effective_on) ORDER BY carrier, service_level`,
    )
  const [inForceOfAll, inForceOfOne] = [inForce(''), inForce('AND carrier = ?3')]
  const past = `FROM surcharges WHERE mode = ?1 AND carrier = ?2 AND (?3 IS NULL OR service_level = ?3) AND effective_on <= ?4`
  type PastArgs = [CarrierMode, string, string | null, string]
  const history = lazy<Row, [...PastArgs, number, number]>(
    db,
    `SELECT ${columns} FROM surcharges JOIN (
       SELECT mode, carrier, service_level, effective_on ${past} ORDER BY effective_on DESC, service_level LIMIT ?5 OFFSET ?6
     ) USING (mode, carrier, service_level, effective_on) ORDER BY effective_on DESC, service_level`,
  )
  const count = keptCount<PastArgs>(db, `SELECT count(*) AS n ${past}`)
  const weeks = lazy<{ day: string }, string[]>(
    db,
    'SELECT effective_on AS day FROM surcharges WHERE mode = ? AND carrier = ? AND service_level = ? ORDER BY effective_on',
  )
  const levels = (ofCarrier: string) =>
    lazy<{ level: string }, string[]>(
      db,
      `SELECT level FROM (SELECT DISTINCT service_level AS level FROM surcharges WHERE mode = ?1 ${ofCarrier})
       UNION SELECT service_level FROM surcharge_schedules WHERE mode = ?1 ${ofCarrier} ORDER BY 1`,
    )
  const [levelsOfAll, levelsOfOne] = [levels(''), levels('AND carrier = ?2')]
  const schedules = lazy<ScheduleRow, []>(
    db,
    `SELECT ${selected(scheduleColumns)} FROM surcharge_schedules ORDER BY mode, carrier, service_level, valid_from_on`,
  )
  const putSurcharge = upsert(db, 'surcharges', surchargeColumns, [...serviceKeys, 'effectiveOn'])
  const putSchedule = upsert(db, 'surcharge_schedules', scheduleColumns, [
    ...serviceKeys,
    'validFromOn',
  ])
  const pastArgs = ({ mode, carrier, serviceLevel, toOn }: SurchargeHistory): PastArgs => [
    mode,
    carrier,
    serviceLevel ?? null,
    toOn,
  ]
  const version = lazy<{ version: string }, []>(
    db,
    "SELECT count(*) || ' ' || coalesce(max(recorded_at), 0) AS version FROM surcharge_schedules",
  )
  return {
    write: (rows, recordedAt) =>
      transact(db, () => countsOf(rows.map(row => putSurcharge(rowOf(row), recordedAt)))),
    writeSchedules: (rows, recordedAt) =>
      transact(db, () => countsOf(rows.map(row => putSchedule(scheduleRow(row), recordedAt)))),
    version: () => version.get()!.version,
    schedules: () => schedules.all().map(scheduleOf),
    inForce: (mode, day, carrier) =>
      (carrier === undefined
        ? inForceOfAll.all(mode, day)
        : inForceOfOne.all(mode, day, carrier)
      ).map(surchargeOf),
    history: (query, limit, offset) =>
      history.all(...pastArgs(query), limit, offset).map(surchargeOf),
    count: query => count(...pastArgs(query)),
    weeks: ({ mode, carrier, serviceLevel }) =>
      weeks.all(mode, carrier, serviceLevel).map(row => row.day),
    serviceLevels: (mode, carrier) =>
      (carrier === undefined ? levelsOfAll.all(mode) : levelsOfOne.all(mode, carrier)).map(
        row => row.level,
      ),
  }
}
