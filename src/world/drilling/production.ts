import type { Database } from 'bun:sqlite'
import { type Clock, createSystemClock } from '../../lib/clock.ts'
import {
  newestPublishedMonth,
  productionPublishedAt,
} from '../../market/drilling/well-production.ts'
import { monthAfter } from '../../market/fundamentals/period.ts'
import { transact } from '../../store/database.ts'
import type { StateMonth } from '../../store/drilling/state-production.ts'
import type { WellMonth } from '../../store/drilling/well-production.ts'
import type { Well } from '../../store/drilling/wells.ts'
import type { Filler } from '../filler.ts'
import { fixtureSource } from '../futures/curves.ts'
import type { Progress } from '../prices/feed.ts'
import type { World } from '../prices/world.ts'
import { stateMonths } from './production-states.ts'
import { reportedStates, wellMonths } from './production-wells.ts'

export interface ProductionTarget {
  wells: { write(rows: readonly WellMonth[], recordedAt: number): unknown }
  states: { write(rows: readonly StateMonth[], recordedAt: number): unknown }
}

const firstMonth = '2020-01'
/** Wells whose history is written in one transaction. */
const sliceWells = 100

const names = { doneTo: 'fixture.production_to', well: 'fixture.production_well' }

/**
 * What the wells of the fixture world and its states produced. A month is published on the last
 * working day of the second month after it, as a first number of what has been filed; with the next
 * month comes its final one. States have more than the wells that the world knows.
 */
export function createProductionFiller(deps: {
  seed: number
  world: World
  db: Database
  production: ProductionTarget
  known: { search(filter: { state: string; producingTo: string }): Well[] }
  /** Whether the wells are there. */
  isReady(): boolean
  settings: Progress
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}): Required<Filler> {
  const {
    seed,
    world,
    db,
    production,
    known: wellStore,
    isReady,
    settings,
    clock,
    stopwatch = createSystemClock(),
  } = deps
  const statesOf = stateMonths(seed, world)

  /** Wells that produced by the end of a month. */
  const producingBy = (month: string): Well[] =>
    reportedStates
      .flatMap(({ code }) =>
        wellStore.search({ state: code, producingTo: `${monthAfter(month, 1)}-01` }),
      )
      .filter(well => well.source === fixtureSource)
      .sort((a, b) => (a.apiNumber < b.apiNumber ? -1 : 1))

  /** What is left of the history that is being written. */
  let openHistory: { due: Well[]; newest: string; progress: string } | undefined
  const begin = () => {
    const progress = settings.get(names.well) ?? ''
    // The copy may have been put back to an earlier state since.
    if (openHistory?.progress === progress) return openHistory
    const newest = newestPublishedMonth(clock.now())
    openHistory = {
      due: producingBy(newest).filter(well => well.apiNumber > progress),
      newest,
      progress,
    }
    return openHistory
  }

  const fill = (): void => {
    const history = begin()
    const [now, slice] = [clock.now(), history.due.splice(0, sliceWells)]
    const end = monthAfter(history.newest, 1)
    history.progress = slice.at(-1)?.apiNumber ?? history.progress
    transact(db, () => {
      production.wells.write(
        slice.flatMap(well => wellMonths(seed, well, firstMonth, end)),
        now,
      )
      settings.set(names.well, history.progress)
      if (history.due.length > 0) return
      for (let month = firstMonth; month < end; month = monthAfter(month, 1))
        production.states.write(statesOf(month, month === history.newest), now)
      settings.set(names.doneTo, history.newest)
    })
  }

  const publish = (month: string, at: number): void =>
    transact(db, () => {
      const after = monthAfter(month, 1)
      production.states.write(
        [...statesOf(month, true), ...statesOf(monthAfter(month, -1), false)],
        at,
      )
      production.wells.write(
        producingBy(month).flatMap(well => wellMonths(seed, well, month, after)),
        at,
      )
      settings.set(names.doneTo, month)
    })

  const isFilled = () => settings.get(names.doneTo) !== undefined
  return {
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      while (isReady() && !isFilled()) {
        fill()
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
