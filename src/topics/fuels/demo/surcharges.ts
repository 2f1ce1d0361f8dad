import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { dayMs, hourMs, isoDay, minuteMs, parseDay, startOfDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import { draw, keyOf } from '../../prices/demo/noise.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import type { CarrierMode } from '../dataset/surcharge-fields.ts'
import type { CarrierSchedule } from '../dataset/surcharge-schedules.ts'
import type { Surcharge } from '../dataset/surcharges.ts'
import { indexWeeks, steppedBands, surchargesOf } from '../math/surcharge.ts'
import { matchedRow, type SurchargeStore } from '../store/surcharges.ts'

/** A price that tables are read at, with its daily closes. */
export interface SurchargeIndex {
  cadence: Cadence
  decimals: number
  closes: readonly Close[]
}

const diesel = 'DIESEL_US_NATIONAL_USD'
const jet = 'JET_FUEL_USD'
const [monday, wednesday, thursday] = [1, 3, 4]

/**
 * Bands begin at `start`, are `width` wide, cost `percent` at first and `step` more each; below the
 * first nothing is charged.
 */
interface InventedCarrier {
  mode: CarrierMode
  carrier: string
  carrierName: string
  serviceLevel: string
  serviceName: string
  indexCode: string
  effectiveWeekday: number
  start: number
  width: number
  step: number
  /** The first band's percent by the day from which it holds. */
  percents: readonly (readonly [validFromOn: string, percent: number])[]
}

const ltl = (
  carrier: string,
  carrierName: string,
  effectiveWeekday: number,
  start: number,
  step: number,
  percents: InventedCarrier['percents'],
): InventedCarrier => ({
  mode: 'ltl',
  carrier,
  carrierName,
  serviceLevel: '',
  serviceName: '',
  indexCode: diesel,
  effectiveWeekday,
  start,
  width: 0.05,
  step,
  percents,
})

const parcel = (
  carrier: string,
  carrierName: string,
  [ground, express, international]: readonly [number, number, number],
): InventedCarrier[] => {
  const base = { mode: 'parcel' as const, carrier, carrierName, effectiveWeekday: monday }
  const since = (percent: number): InventedCarrier['percents'] => [
    ['2000-01-03', percent],
    ['2024-12-30', percent + 0.75],
  ]
  return [
    { ...base, serviceLevel: 'ground', serviceName: 'Ground', indexCode: diesel, start: 1.55, width: 0.09, step: 0.25, percents: since(ground) },
    { ...base, serviceLevel: 'express', serviceName: 'Express', indexCode: jet, start: 0.6, width: 0.04, step: 0.25, percents: since(express) },
    { ...base, serviceLevel: 'international', serviceName: 'International', indexCode: jet, start: 0.6, width: 0.04, step: 0.25, percents: since(international) },
  ] // biome-ignore format: a table
}

/** Carriers that do not exist, with tables of the kind that carriers publish. */
const carriers: readonly InventedCarrier[] = [
  ltl('alder', 'Alder Freight Lines', wednesday, 1.2, 0.5, [
    ['2000-01-03', 1],
    ['2025-01-06', 2.5],
  ]),
  ltl('basin', 'Basin Motor Freight', monday, 1.15, 0.45, [
    ['2000-01-03', 1.8],
    ['2023-07-03', 3],
  ]),
  ltl('cordell', 'Cordell Transport', thursday, 1.1, 0.4, [['2000-01-03', 4.2]]),
  ltl('dunmore', 'Dunmore Freight System', wednesday, 1.25, 0.55, [
    ['2000-01-03', 0.5],
    ['2024-01-01', 1.75],
  ]),
  ...parcel('harbor', 'Harbor Parcel', [10.25, 8.5, 11.75]),
  ...parcel('meridian', 'Meridian Parcel Service', [9.75, 9.25, 12.5]),
]

const bandsMax = 100
/** A price takes effect within this many days, including the week that it may be the mean of. */
const longestWaitDays = 21
/** Pages are read after noon of the day on which a week takes effect. */
const readAfterMs = 13 * hourMs
const readSpreadMs = 40 * minuteMs

/**
 * The carriers' tables and charges, week by week, as if their pages had been read on the day that
 * each week took effect.
 */
export function createSurchargeData(deps: {
  seed: number
  surcharges: SurchargeStore
  /** Undefined where there is no such code. */
  indexOf(code: string): SurchargeIndex | undefined
}): DemoData {
  const { seed, surcharges, indexOf } = deps
  const services = carriers.map(carrier => ({
    tables: tablesOf(carrier),
    key: keyOf(`${seed}/surcharge/${carrier.carrier}/${carrier.serviceLevel}`),
  }))
  type Service = (typeof services)[number]

  const readAt = (key: number, effectiveOn: string) => {
    const day = parseDay(effectiveOn)!
    return day + readAfterMs + (draw(key, day / dayMs) % readSpreadMs)
  }

  const rowsOf = (
    { tables, key }: Service,
    { closes, cadence, decimals }: SurchargeIndex,
    now: number,
  ): Surcharge[] => {
    const weeks = indexWeeks(closes, cadence, decimals, isoDay(now))
    return surchargesOf(tables, () => weeks).map(({ table, week }) => ({
      ...matchedRow(table, week),
      retrievedAt: readAt(key, week.effectiveOn),
      fixture: true,
    }))
  }

  /** Tables that someone has changed stay as they are. */
  const writeTables = (tables: readonly CarrierSchedule[], to: number) => {
    const knownTables = new Set(surcharges.schedules().map(tableKey))
    const missing = tables.filter(
      table => !knownTables.has(tableKey(table)) && table.retrievedAt < to,
    )
    if (missing.length > 0) surcharges.writeSchedules(missing, to)
  }

  /** Reads the page of a service; returns how many weeks were on it that are read in `[from, to)`. */
  const read = (service: Service, from: number, to: number): number => {
    const index = indexOf(service.tables[0]!.indexCode)
    if (!index) return 0
    const closes = Number.isFinite(from)
      ? since(index.closes, dayAfter(isoDay(from), -longestWaitDays))
      : index.closes
    const due = rowsOf(service, { ...index, closes }, to).filter(
      ({ retrievedAt }) => retrievedAt >= from && retrievedAt < to,
    )
    writeTables(service.tables, to)
    if (due.length > 0) surcharges.write(due, to)
    return due.length
  }
  const readAll = (from: number, to: number) =>
    services.reduce((count, service) => count + read(service, from, to), 0)

  return {
    percent: 2,
    generate: now => writtenAtOnce(() => readAll(Number.NEGATIVE_INFINITY, now)),
    publish: (from, to) => (isReadIn(from, to) ? readAll(from, to) : 0),
  }
}

/** Whether any page may be read in `[from, to)`. */
function isReadIn(from: number, to: number): boolean {
  for (let day = startOfDay(from); day + readAfterMs < to; day += dayMs)
    if (day + readAfterMs + readSpreadMs > from) return true
  return false
}

const since = (closes: readonly Close[], day: string) =>
  closes.slice(closes.findLastIndex(close => close.day < day) + 1)

const tableKey = (schedule: CarrierSchedule) =>
  `${schedule.mode} ${schedule.carrier} ${schedule.serviceLevel} ${schedule.validFromOn}`

function tablesOf(carrier: InventedCarrier): CarrierSchedule[] {
  return carrier.percents.map(([validFromOn, percent]) => ({
    mode: carrier.mode,
    carrier: carrier.carrier,
    carrierName: carrier.carrierName,
    serviceLevel: carrier.serviceLevel,
    serviceName: carrier.serviceName,
    indexCode: carrier.indexCode,
    validFromOn,
    effectiveWeekday: carrier.effectiveWeekday,
    matched: false,
    bands: [
      { min: 0, max: carrier.start, percent: 0 },
      ...steppedBands(carrier.start, carrier.width, bandsMax, percent, carrier.step),
    ],
    beyond: { width: carrier.width, percent: carrier.step },
    source: `https://${carrier.carrier}.example/fuel-surcharge`,
    retrievedAt: parseDay(validFromOn)! + readAfterMs,
  }))
}
