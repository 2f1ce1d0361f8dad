import type { Database } from 'bun:sqlite'
import type { Schedule, WeekSurcharge } from '../../market/fuels/surcharge.ts'
import { transact } from '../database.ts'
import type { WriteCounts } from '../prices/observations.ts'
import { counted, upsert } from '../upsert.ts'

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
  /** Another number after every write of tables. */
  readonly version: number
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

interface Row {
  mode: CarrierMode
  carrier: string
  service_level: string
  effective_on: string
  carrier_name: string
  service_name: string
  percent: number
  index_code: string
  index_price: number
  band_min: number
  band_max: number
  source: string
  retrieved_at: number
  fixture: number
}

const surchargeOf = (row: Row): Surcharge => ({
  mode: row.mode,
  carrier: row.carrier,
  serviceLevel: row.service_level,
  carrierName: row.carrier_name,
  serviceName: row.service_name,
  effectiveOn: row.effective_on,
  percent: row.percent,
  indexCode: row.index_code,
  indexPrice: row.index_price,
  band: { min: row.band_min, max: row.band_max },
  source: row.source,
  retrievedAt: row.retrieved_at,
  fixture: row.fixture === 1,
})

const rowOf = ({
  mode,
  carrier,
  serviceLevel,
  carrierName,
  serviceName,
  ...surcharge
}: Surcharge): Row => ({
  mode,
  carrier,
  service_level: serviceLevel,
  carrier_name: carrierName,
  service_name: serviceName,
  effective_on: surcharge.effectiveOn,
  percent: surcharge.percent,
  index_code: surcharge.indexCode,
  index_price: surcharge.indexPrice,
  band_min: surcharge.band.min,
  band_max: surcharge.band.max,
  source: surcharge.source,
  retrieved_at: surcharge.retrievedAt,
  fixture: surcharge.fixture ? 1 : 0,
})

interface ScheduleRow {
  mode: CarrierMode
  carrier: string
  service_level: string
  valid_from_on: string
  carrier_name: string
  service_name: string
  index_code: string
  effective_weekday: number
  bands: string
  beyond_width: number | null
  beyond_percent: number | null
  matched: number
  source: string
  retrieved_at: number
}

const scheduleOf = (row: ScheduleRow): CarrierSchedule => ({
  mode: row.mode,
  carrier: row.carrier,
  serviceLevel: row.service_level,
  carrierName: row.carrier_name,
  serviceName: row.service_name,
  validFromOn: row.valid_from_on,
  indexCode: row.index_code,
  effectiveWeekday: row.effective_weekday,
  bands: (JSON.parse(row.bands) as [number, number, number][]).map(([min, max, percent]) => ({
    min,
    max,
    percent,
  })),
  ...(row.beyond_width !== null &&
    row.beyond_percent !== null && {
      beyond: { width: row.beyond_width, percent: row.beyond_percent },
    }),
  matched: row.matched === 1,
  source: row.source,
  retrievedAt: row.retrieved_at,
})

const scheduleRow = ({
  mode,
  carrier,
  serviceLevel,
  carrierName,
  serviceName,
  ...schedule
}: CarrierSchedule): ScheduleRow => ({
  mode,
  carrier,
  service_level: serviceLevel,
  carrier_name: carrierName,
  service_name: serviceName,
  valid_from_on: schedule.validFromOn,
  index_code: schedule.indexCode,
  effective_weekday: schedule.effectiveWeekday,
  bands: JSON.stringify(schedule.bands.map(({ min, max, percent }) => [min, max, percent])),
  beyond_width: schedule.beyond?.width ?? null,
  beyond_percent: schedule.beyond?.percent ?? null,
  matched: schedule.matched ? 1 : 0,
  source: schedule.source,
  retrieved_at: schedule.retrievedAt,
})

const key = ['mode', 'carrier', 'service_level'] as const
const surchargeColumns = [
  ...key,
  'effective_on',
  'carrier_name',
  'service_name',
  'percent',
  'index_code',
  'index_price',
  'band_min',
  'band_max',
  'source',
  'retrieved_at',
  'fixture',
]
const scheduleColumns = [
  ...key,
  'valid_from_on',
  'carrier_name',
  'service_name',
  'index_code',
  'effective_weekday',
  'bands',
  'beyond_width',
  'beyond_percent',
  'matched',
  'source',
  'retrieved_at',
]

export function createSurchargeStore(db: Database): SurchargeStore {
  const columns = surchargeColumns.join(', ')
  const inForce = db.query<Row, [CarrierMode, string, string]>(
    `SELECT ${columns} FROM surcharges JOIN (
       SELECT mode, carrier, service_level, max(effective_on) AS effective_on FROM surcharges
       WHERE mode = ?1 AND effective_on <= ?2 AND (?3 = '' OR carrier = ?3) GROUP BY mode, carrier, service_level
     ) USING (mode, carrier, service_level, effective_on) ORDER BY carrier, service_level`,
  )
  const past = `FROM surcharges WHERE mode = ?1 AND carrier = ?2 AND (?3 IS NULL OR service_level = ?3) AND effective_on <= ?4`
  type PastArgs = [CarrierMode, string, string | null, string]
  const history = db.query<Row, [...PastArgs, number, number]>(
    `SELECT ${columns} ${past} ORDER BY effective_on DESC, service_level LIMIT ?5 OFFSET ?6`,
  )
  const count = db.query<{ n: number }, PastArgs>(`SELECT count(*) AS n ${past}`)
  const weeks = db.query<{ day: string }, string[]>(
    'SELECT effective_on AS day FROM surcharges WHERE mode = ? AND carrier = ? AND service_level = ? ORDER BY effective_on',
  )
  const levels = db.query<{ level: string }, [CarrierMode, string]>(
    `SELECT service_level AS level FROM surcharges WHERE mode = ?1 AND (?2 = '' OR carrier = ?2)
     UNION SELECT service_level FROM surcharge_schedules WHERE mode = ?1 AND (?2 = '' OR carrier = ?2) ORDER BY 1`,
  )
  const schedules = db.query<ScheduleRow, []>(
    `SELECT ${scheduleColumns.join(', ')} FROM surcharge_schedules ORDER BY mode, carrier, service_level, valid_from_on`,
  )
  const putSurcharge = upsert(db, 'surcharges', surchargeColumns, [...key, 'effective_on'])
  const putSchedule = upsert(db, 'surcharge_schedules', scheduleColumns, [...key, 'valid_from_on'])
  const pastArgs = ({ mode, carrier, serviceLevel, toOn }: SurchargeHistory): PastArgs => [
    mode,
    carrier,
    serviceLevel ?? null,
    toOn,
  ]
  let version = 0
  return {
    write: (rows, recordedAt) =>
      transact(db, () => counted(rows.map(row => putSurcharge(rowOf(row), recordedAt)))),
    writeSchedules(rows, recordedAt) {
      version += 1
      return transact(db, () => counted(rows.map(row => putSchedule(scheduleRow(row), recordedAt))))
    },
    get version() {
      return version
    },
    schedules: () => schedules.all().map(scheduleOf),
    inForce: (mode, day, carrier = '') => inForce.all(mode, day, carrier).map(surchargeOf),
    history: (query, limit, offset) =>
      history.all(...pastArgs(query), limit, offset).map(surchargeOf),
    count: query => count.get(...pastArgs(query))!.n,
    weeks: ({ mode, carrier, serviceLevel }) =>
      weeks.all(mode, carrier, serviceLevel).map(row => row.day),
    serviceLevels: (mode, carrier = '') => levels.all(mode, carrier).map(row => row.level),
  }
}
