import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { country } from '../math/drilling.ts'
import { countDays, type DrillingCalendar, firstRigCountOn, publishedAt } from '../math/period.ts'
import type { DucWellStore, DucWells } from '../store/duc-wells.ts'
import type { FracSpreadStore, FracSpreads } from '../store/frac-spreads.ts'
import type { Productivity, ProductivityStore } from '../store/productivities.ts'
import type { Recorded, Regional, RegionalStore } from '../store/regional.ts'
import type { RigCount, RigCountStore } from '../store/rig-counts.ts'
import { ducRows, fracRows, rigRows } from './count-rows.ts'
import { productivityRows } from './productivity.ts'

/** The families, and the way in for what is new in them. */
export interface DrillingTarget {
  rigs: RigCountStore
  frac: FracSpreadStore
  duc: DucWellStore
  productivity: ProductivityStore
  recordRigCounts(rows: readonly RigCount[], recordedAt: number): unknown
  recordFracSpreads(rows: readonly FracSpreads[], recordedAt: number): unknown
  recordDucWells(rows: readonly DucWells[], recordedAt: number): unknown
  recordProductivities(rows: readonly Productivity[], recordedAt: number): unknown
}

interface Family<T extends Regional> {
  calendar: DrillingCalendar
  /** The first day of the history of a copy that is started then. */
  firstOn(now: number): string
  /** The region that is written last: once it has rows, the history of the family is there. */
  last: string
  store: RegionalStore<T>
  rows(days: readonly string[]): T[]
  record(rows: readonly T[], recordedAt: number): unknown
}

const otherCountsOn = '2020-01-01'
const lastBasin = 'appalachia_other'

export interface DrillingFillerDeps {
  seed: number
  /** One whose regions add up. */
  world: World
  drilling: DrillingTarget
  clock: Pick<Clock, 'now'>
  /** Days of history; undefined: each count from its own first day. */
  days?: number | undefined
  /** When the copy began: what was published before it is history. */
  startedAt(): number
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

export type DrillingFamily = 'rigs' | 'ducs' | 'productivities' | 'crews'

/**
 * Rigs, crews, wells and what they bring, each published by its own calendar. The world writes the
 * series of the same numbers itself, so a history goes to the tables alone; what is published as
 * the clock moves goes the way of every import, with its events.
 */
export function createDrillingFillers(
  deps: DrillingFillerDeps,
): Record<DrillingFamily, Required<Filler>> {
  const { world, drilling, clock, days, startedAt, stopwatch = createSystemClock() } = deps
  const firstOnOf = (day: string) => (now: number) => {
    const from = isoDay(days === undefined ? 0 : now - days * dayMs)
    return from > day ? from : day
  }
  const filler = <T extends Regional>(family: Family<T>): Required<Filler> => {
    const { fill, publish } = createFamilyFiller(family, startedAt)
    return {
      step(budgetMs) {
        const until = stopwatch.monotonic() + budgetMs
        while (fill(clock.now())) if (stopwatch.monotonic() >= until) return true
        return false
      },
      advance: publish,
    }
  }
  return {
    rigs: filler({
      calendar: 'week',
      firstOn: firstOnOf(firstRigCountOn),
      last: country,
      store: drilling.rigs,
      rows: days => rigRows(world, days),
      record: drilling.recordRigCounts,
    }),
    ducs: filler({
      calendar: 'month',
      firstOn: firstOnOf(otherCountsOn),
      last: country,
      store: drilling.duc,
      rows: days => ducRows(world, days),
      record: drilling.recordDucWells,
    }),
    productivities: filler({
      calendar: 'month',
      firstOn: firstOnOf(otherCountsOn),
      last: lastBasin,
      store: drilling.productivity,
      rows: productivityRows(deps.seed, world),
      record: drilling.recordProductivities,
    }),
    crews: filler({
      calendar: 'day',
      firstOn: firstOnOf(otherCountsOn),
      last: country,
      store: drilling.frac,
      rows: days => fracRows(world, days),
      record: drilling.recordFracSpreads,
    }),
  }
}

/** Days whose rows are made at once: some tens of milliseconds of work. */
const daysEach = 150

function createFamilyFiller<T extends Regional>(
  { calendar, firstOn, last, store, rows, record }: Family<T>,
  startedAt: () => number,
) {
  /** A history that is being made: the days that are left, and the rows of the others. */
  let history: { days: string[]; rows: Recorded<T>[] } | undefined
  /**
   * Rows that are made and not written yet, region by region; the region that marks the history as
   * complete comes last.
   */
  let waiting: Recorded<T>[][] = []
  /** The clock stands before the first day of all, so there is no history and all is published. */
  let isAhead = false

  const daysFrom = (from: string, now: number): string[] =>
    countDays(calendar, from, dayAfter(isoDay(now), 1)).filter(
      day => publishedAt(calendar, day) <= now,
    )

  const published = (row: T): Recorded<T> => ({
    ...row,
    recordedAt: publishedAt(calendar, row.countedOn),
  })

  const makeRows = (progress: NonNullable<typeof history>) => {
    const some = rows(progress.days.splice(0, daysEach))
    for (const row of some) progress.rows.push(published(row))
  }

  /** Writes what is missing between a history that an image brought and the beginning of the copy. */
  const goOn = (newestOn: string, now: number): void => {
    if (newestOn >= isoDay(startedAt())) return
    const days = daysFrom(dayAfter(newestOn, 1), Math.min(startedAt(), now))
    if (days.length > 0) store.write(rows(days).map(published), now)
  }

  const byRegion = (allRows: readonly Recorded<T>[]): Recorded<T>[][] => {
    const regions = [...Map.groupBy(allRows, row => row.region)]
    // A region is written in one transaction: those that have rows were written before a crash.
    const missing = regions.filter(([region]) => store.newestOn([region]) === undefined)
    return missing
      .sort(([a], [b]) => Number(a === last) - Number(b === last))
      .map(([, regionRows]) => regionRows)
  }

  return {
    /** Makes or writes a part of the history; false when it is complete. */
    fill(now: number): boolean {
      const newestOn = store.newestOn([last])
      if (newestOn !== undefined) {
        goOn(newestOn, now)
        return false
      }
      history ??= { days: daysFrom(firstOn(now), now), rows: [] }
      isAhead = history.days.length === 0 && history.rows.length === 0
      if (history.days.length > 0) {
        makeRows(history)
        if (history.days.length === 0) waiting = byRegion(history.rows)
        return true
      }
      const next = waiting.shift()
      if (next) store.write(next, now)
      if (waiting.length === 0) history = undefined
      return next !== undefined
    },
    /**
     * Records what has been published since the newest stored day, a day at a time; answers how
     * many days.
     */
    publish(now: number): number {
      const newestOn = store.newestOn([last])
      if (newestOn === undefined && !isAhead) return 0
      const days = daysFrom(newestOn === undefined ? firstOn(now) : dayAfter(newestOn, 1), now)
      for (const day of days) record(rows([day]), publishedAt(calendar, day))
      return days.length
    },
  }
}
