import type { Database } from 'bun:sqlite'
import { readsNow } from '../../../database/dataset-reads.ts'
import { datasetStore } from '../../../database/dataset-store.ts'
import type { CarrierMode } from '../dataset/surcharge-fields.ts'
import {
  type CarrierSchedule,
  type ScheduleRow,
  surchargeSchedules,
} from '../dataset/surcharge-schedules.ts'
import { type Surcharge, surcharges } from '../dataset/surcharges.ts'
import type { WeekSurcharge } from '../math/surcharge.ts'

/**
 * One thing that a carrier has a surcharge for; the service level is empty where there is one for
 * all that it carries.
 */
export type CarrierService = Pick<Surcharge, 'mode' | 'carrier' | 'serviceLevel'>

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
  bandMin: week.band.min,
  bandMax: week.band.max,
  source: table.source,
  retrievedAt: table.retrievedAt,
  fixture: false,
})

export type SurchargeStore = ReturnType<typeof createSurchargeStore>

export interface SurchargeHistory {
  mode: CarrierMode
  carrier: string
  serviceLevel: string | undefined
  toOn: string
}

const scheduleOf = ({
  bands,
  beyondWidth,
  beyondPercent,
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
})

const scheduleRow = ({ bands, beyond, ...schedule }: CarrierSchedule): ScheduleRow => ({
  ...schedule,
  bands: JSON.stringify(bands.map(({ min, max, percent }) => [min, max, percent])),
  beyondWidth: beyond?.width ?? null,
  beyondPercent: beyond?.percent ?? null,
})

export function createSurchargeStore(db: Database) {
  const reads = readsNow(db)
  const weekly = datasetStore<Surcharge>(reads, surcharges)
  const tables = datasetStore<ScheduleRow>(reads, surchargeSchedules)
  // Two statements, for one carrier and for all: a condition for both would not use the primary
  // key.
  const inForce = (ofCarrier: string) =>
    weekly.records<string[]>(
      `JOIN (
         SELECT mode, carrier, service_level, max(effective_on) AS effective_on FROM surcharges
         WHERE mode = ?1 AND effective_on <= ?2 ${ofCarrier} GROUP BY mode, carrier, service_level
       ) USING (mode, carrier, service_level, effective_on) ORDER BY carrier, service_level`,
    )
  const [inForceOfAll, inForceOfOne] = [inForce(''), inForce('AND carrier = ?3')]
  const past =
    'mode = ?1 AND carrier = ?2 AND (?3 IS NULL OR service_level = ?3) AND effective_on <= ?4'
  type PastArgs = [CarrierMode, string, string | null, string]
  const history = weekly.records<[...PastArgs, number, number]>(
    `JOIN (
       SELECT mode, carrier, service_level, effective_on FROM surcharges WHERE ${past}
       ORDER BY effective_on DESC, service_level LIMIT ?5 OFFSET ?6
     ) USING (mode, carrier, service_level, effective_on) ORDER BY effective_on DESC, service_level`,
  )
  const count = weekly.count<PastArgs>(past)
  const weeks = weekly.values<string>(
    'effective_on',
    'WHERE mode = ? AND carrier = ? AND service_level = ? ORDER BY effective_on',
  )
  const levels = (ofCarrier: string) =>
    weekly.values<string>(
      'DISTINCT service_level',
      `WHERE mode = ?1 ${ofCarrier}
       UNION SELECT service_level FROM surcharge_schedules WHERE mode = ?1 ${ofCarrier} ORDER BY 1`,
    )
  const [levelsOfAll, levelsOfOne] = [levels(''), levels('AND carrier = ?2')]
  const schedules = tables.records('ORDER BY mode, carrier, service_level, valid_from_on')
  const version = tables.value<string>("count(*) || ' ' || coalesce(max(recorded_at), 0)")
  const pastArgs = ({ mode, carrier, serviceLevel, toOn }: SurchargeHistory): PastArgs => [
    mode,
    carrier,
    serviceLevel ?? null,
    toOn,
  ]
  return {
    /** One transaction. The same row again is unchanged; another for a known week replaces it. */
    write: weekly.write,
    writeSchedules: (rows: readonly CarrierSchedule[], recordedAt: number) =>
      tables.write(rows.map(scheduleRow), recordedAt),
    /** A text that changes with every change of the tables, by any process. */
    version: () => version()!,
    /** Every table, each service's oldest first. */
    schedules: () => schedules.all().map(scheduleOf),
    /**
     * The surcharges that apply on a day for each service of a mode, by carrier and service level;
     * of one carrier if named.
     */
    inForce: (mode: CarrierMode, day: string, carrier?: string) =>
      carrier === undefined ? inForceOfAll.all(mode, day) : inForceOfOne.all(mode, day, carrier),
    /** Weeks that took effect by a day, newest first, then by service level. */
    history: (query: SurchargeHistory, limit: number, offset: number) =>
      history.all(...pastArgs(query), limit, offset),
    count: (query: SurchargeHistory) => count(...pastArgs(query)),
    /** Every week of a service that is there, also those only announced. */
    weeks: ({ mode, carrier, serviceLevel }: CarrierService) => weeks(mode, carrier, serviceLevel),
    /**
     * Service levels of a carrier, or of all carriers of a mode; none means that the carrier is not
     * known.
     */
    serviceLevels: (mode: CarrierMode, carrier?: string) =>
      carrier === undefined ? levelsOfAll(mode) : levelsOfOne(mode, carrier),
  }
}
