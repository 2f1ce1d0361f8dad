import type { Recorded } from '../../../database/dataset-store.ts'
import type { DemoData } from '../../../demo/demo-data.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayAfter } from '../../prices/math/window.ts'
import {
  drillingProductivity,
  ducWells,
  fracSpreads,
  type RegionalCount,
  rigCounts,
} from '../dataset/counts.ts'
import { countDays, type DrillingCalendar, firstRigCountOn, publishedAt } from '../math/period.ts'
import type { Drilling } from '../service/drilling.ts'
import type { RegionalStore } from '../store/regional.ts'
import { ducRows, fracRows, rigRows } from './count-rows.ts'
import { productivityRows } from './productivity.ts'

interface Family<T extends RegionalCount> {
  calendar: DrillingCalendar
  firstOn: string
  store: RegionalStore<T>
  rows(days: readonly string[]): T[]
  record(rows: readonly T[], recordedAt: number): unknown
}

const otherCountsOn = '2020-01-01'
/** From the day that is counted to its publication: the survey of a month, after holidays. */
const longestDelayMs = 75 * dayMs
/** Days whose rows are made at once: some tens of milliseconds of work. */
const daysEach = 150

export interface DrillingDataDeps {
  seed: number
  /** One whose regions add up. */
  world: World
  drilling: Drilling
  /** Days of history; undefined: each count from its own first day. */
  days?: number | undefined
}

export type DrillingFamily = 'rigs' | 'ducs' | 'productivities' | 'crews'

/**
 * Rigs, crews, wells and their production, each published by its own calendar. The prices include
 * the series of the same numbers, so a history goes to the tables alone; what is published as time
 * passes goes the way of every import, with its events.
 */
export function createDrillingData({
  seed,
  world,
  drilling,
  days,
}: DrillingDataDeps): Record<DrillingFamily, DemoData> {
  const data = <T extends RegionalCount>(family: Family<T>) => createFamilyData(family, days)
  return {
    rigs: data({
      calendar: 'week',
      firstOn: firstRigCountOn,
      store: drilling.rigs,
      rows: days => rigRows(world, days),
      record: (rows, at) => drilling.record(rigCounts, rows, at),
    }),
    ducs: data({
      calendar: 'month',
      firstOn: otherCountsOn,
      store: drilling.duc,
      rows: days => ducRows(world, days),
      record: (rows, at) => drilling.record(ducWells, rows, at),
    }),
    productivities: data({
      calendar: 'month',
      firstOn: otherCountsOn,
      store: drilling.productivity,
      rows: productivityRows(seed, world),
      record: (rows, at) => drilling.record(drillingProductivity, rows, at),
    }),
    crews: data({
      calendar: 'day',
      firstOn: otherCountsOn,
      store: drilling.frac,
      rows: days => fracRows(world, days),
      record: (rows, at) => drilling.record(fracSpreads, rows, at),
    }),
  }
}

function createFamilyData<T extends RegionalCount>(
  { calendar, firstOn, store, rows, record }: Family<T>,
  historyDays: number | undefined,
): DemoData {
  /** The days whose counts come out in `[from, to)`, oldest first. */
  const publishedIn = (from: number, to: number): string[] => {
    const earliest = isoDay(from - longestDelayMs)
    return countDays(
      calendar,
      earliest > firstOn ? earliest : firstOn,
      dayAfter(isoDay(to), 1),
    ).filter(day => {
      const at = publishedAt(calendar, day)
      return at >= from && at < to
    })
  }
  const withTime = (row: T): Recorded<T> => ({
    ...row,
    recordedAt: publishedAt(calendar, row.countedOn),
  })
  return {
    percent: 1,
    *generate(now) {
      const from = historyDays === undefined ? 0 : now - historyDays * dayMs
      const all = publishedIn(from, now).filter(day => day >= isoDay(from))
      for (let i = 0; i < all.length; i += daysEach) {
        store.write(rows(all.slice(i, i + daysEach)).map(withTime), now)
        yield Math.min(1, (i + daysEach) / all.length)
      }
    },
    publish(from, to) {
      const days = publishedIn(from, to)
      for (const day of days) record(rows([day]), publishedAt(calendar, day))
      return days.length
    },
  }
}
