import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import type { Progress } from '../../prices/demo/progress.ts'
import type { World } from '../../prices/demo/world.ts'
import { newestPublishedMonth, productionPublishedAt } from '../math/well-production.ts'
import type { StateMonth } from '../store/state-production.ts'
import type { WellMonth } from '../store/well-production.ts'
import type { Well } from '../store/wells.ts'
import { stateMonths } from './production-states.ts'
import { reportedStates, wellMonths } from './production-wells.ts'

export interface ProductionTarget {
  wells: { write(rows: readonly WellMonth[], recordedAt: number): unknown }
  states: { write(rows: readonly StateMonth[], recordedAt: number): unknown }
}

const firstMonthOfAll = '2020-01'
/** Wells whose history is written in one transaction. */
const sliceWells = 25

const names = { doneTo: 'fixture.production_to', well: 'fixture.production_well' }

interface ProductionFillerDeps {
  seed: number
  world: World
  db: Database
  production: ProductionTarget
  known: { search(filter: { state: string; producingTo: string }): Well[] }
  /** Whether the wells are there. */
  isReady(): boolean
  /** Months of history; undefined: all there are. */
  months?: number | undefined
  settings: Progress
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

/**
 * What the wells of the fixture world and its states produced. A month is published on the last
 * working day of the second month after it, as a first number of what has been filed; with the next
 * month comes its final one. States have more than the wells that the world knows.
 */
export function createProductionFiller(deps: ProductionFillerDeps): Required<Filler> {
  const { seed, world, db, production, isReady, settings, clock } = deps
  const { stopwatch = createSystemClock() } = deps
  const statesOf = stateMonths(seed, world)
  const fill = createHistoryFill(deps, statesOf)

  const publish = (month: string, at: number): void =>
    transact(db, () => {
      const after = monthAfter(month, 1)
      production.states.write(
        [...statesOf(month, true), ...statesOf(monthAfter(month, -1), false)],
        at,
      )
      production.wells.write(
        producingBy(deps.known, month).flatMap(well => wellMonths(seed, well, month, after)),
        at,
      )
      settings.set(names.doneTo, month)
    })

  const isFilled = () => settings.get(names.doneTo) !== undefined
  return {
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      while (isReady() && !isFilled()) {
        fill(clock.now())
        if (stopwatch.monotonic() >= until) break
      }
      return isReady() && !isFilled()
    },
    advance(now) {
      let count = 0
      for (let done = settings.get(names.doneTo); done !== undefined; count += 1) {
        const month = monthAfter(done, 1)
        const at = productionPublishedAt(month)
        if (at > now) break
        publish(month, at)
        done = month
      }
      return count
    },
  }
}

/** Wells that produced by the end of a month. */
const producingBy = (wells: ProductionFillerDeps['known'], month: string): Well[] =>
  reportedStates
    .flatMap(({ code }) => wells.search({ state: code, producingTo: `${monthAfter(month, 1)}-01` }))
    .filter(well => well.source === generatedSource)
    .sort((a, b) => (a.apiNumber < b.apiNumber ? -1 : 1))

/** Writes the history some wells at a time, and the states once the last well is written. */
function createHistoryFill(
  { seed, db, production, known: wells, settings, months }: ProductionFillerDeps,
  statesOf: ReturnType<typeof stateMonths>,
) {
  /** What is left of the history that is being written. */
  let history: { due: Well[]; newest: string; progress: string } | undefined
  const openHistory = (now: number) => {
    const progress = settings.get(names.well) ?? ''
    // The copy may have been put back to an earlier state since.
    if (history?.progress === progress) return history
    const newest = newestPublishedMonth(now)
    const due = producingBy(wells, newest).filter(well => well.apiNumber > progress)
    history = { due, newest, progress }
    return history
  }
  return (now: number): void => {
    const open = openHistory(now)
    const slice = open.due.splice(0, sliceWells)
    const end = monthAfter(open.newest, 1)
    const firstMonth = months === undefined ? firstMonthOfAll : monthAfter(end, -months)
    open.progress = slice.at(-1)?.apiNumber ?? open.progress
    transact(db, () => {
      production.wells.write(
        slice.flatMap(well => wellMonths(seed, well, firstMonth, end)),
        now,
      )
      settings.set(names.well, open.progress)
      if (open.due.length > 0) return
      for (let month = firstMonth; month < end; month = monthAfter(month, 1))
        production.states.write(statesOf(month, month === open.newest), now)
      settings.set(names.doneTo, open.newest)
    })
  }
}
