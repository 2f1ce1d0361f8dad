import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs, isoDay, minuteMs, parseDay } from '../../../lib/time/instant.ts'
import type { Cadence } from '../../catalogue/math/catalogue.ts'
import { draw, keyOf } from '../../prices/demo/noise.ts'
import { type Close, dayAfter } from '../../prices/math/window.ts'
import { indexWeeks, steppedBands, surchargesOf } from '../math/surcharge.ts'
import {
  type CarrierMode,
  type CarrierSchedule,
  matchedRow,
  type Surcharge,
  type SurchargeStore,
} from '../store/surcharges.ts'

/** A price that tables are read at: its daily closes, once its history is complete. */
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
/** A price takes effect within so many days; with the week that it may be the mean of. */
const longestWaitDays = 21
/** Pages are read after noon of the day on which a week takes effect. */
const readAfterMs = 13 * hourMs

/**
 * The carriers' tables and what they charged, week by week, as if their pages had been read on the
 * day that each week took effect.
 */
export function createSurchargeFiller(deps: {
  seed: number
  surcharges: SurchargeStore
  /** Undefined until the code has its history. */
  indexOf(code: string): SurchargeIndex | undefined
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}): Filler {
  const { seed, surcharges, indexOf, clock, stopwatch = createSystemClock() } = deps
  const services = carriers.map(carrier => ({
    tables: tablesOf(carrier),
    key: keyOf(`${seed}/surcharge/${carrier.carrier}/${carrier.serviceLevel}`),
  }))
  type Service = (typeof services)[number] & { readState?: string; dueAt?: number }

  const readAt = (key: number, effectiveOn: string) => {
    const day = parseDay(effectiveOn)!
    return day + readAfterMs + (draw(key, day / dayMs) % (40 * minuteMs))
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

  /** Tables that were changed in the copy are kept. */
  const writeTables = (tables: readonly CarrierSchedule[], now: number) => {
    const knownTables = new Set(surcharges.schedules().map(tableKey))
    const missing = tables.filter(
      table => !knownTables.has(tableKey(table)) && table.retrievedAt <= now,
    )
    if (missing.length > 0) surcharges.writeSchedules(missing, now)
  }

  /** Reads the page of a service where one is due; answers how many weeks were new. */
  const read = (service: Service, now: number): number => {
    const { tables, readState, dueAt = Number.POSITIVE_INFINITY } = service
    const index = indexOf(tables[0]!.indexCode)
    const state = `${isoDay(now)} ${index?.closes.at(-1)?.day}`
    if (!index || (state === readState && now < dueAt)) return 0
    const newestWeek = surcharges.weeks(tables[0]!).at(-1) ?? ''
    const closes =
      newestWeek === '' ? index.closes : since(index.closes, dayAfter(newestWeek, -longestWaitDays))
    const missing = rowsOf(service, { ...index, closes }, now).filter(
      row => row.effectiveOn > newestWeek,
    )
    const due = missing.filter(row => row.retrievedAt <= now)
    writeTables(tables, now)
    if (due.length > 0) surcharges.write(due, now)
    service.readState = state
    service.dueAt = Math.min(
      Number.POSITIVE_INFINITY,
      ...missing.flatMap(row => (row.retrievedAt > now ? row.retrievedAt : [])),
    )
    return due.length
  }

  return {
    step(budgetMs) {
      const now = clock.now()
      const until = stopwatch.monotonic() + budgetMs
      return services.some(service => read(service, now) > 0 && stopwatch.monotonic() >= until)
    },
    advance: now => services.reduce((count, service) => count + read(service, now), 0),
  }
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
