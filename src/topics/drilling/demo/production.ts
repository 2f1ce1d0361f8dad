import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { DemoData } from '../../../demo/demo-data.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Well } from '../dataset/wells.ts'
import { newestPublishedMonth, productionPublishedAt } from '../math/well-production.ts'
import type { WellProduction } from '../service/well-production.ts'
import type { WellStore } from '../store/wells.ts'
import { stateMonths } from './production-states.ts'
import { reportedStates, wellMonths } from './production-wells.ts'

const firstMonthOfAll = '2020-01'
/** Wells whose history is written in one transaction. */
const sliceWells = 200

interface ProductionDataDeps {
  seed: number
  world: World
  db: Database
  production: Pick<WellProduction, 'wells' | 'states'>
  /** The wells, which are written before. */
  known: Pick<WellStore, 'search'>
  /** Months of history; undefined: all there are. */
  months?: number | undefined
}

/**
 * The production of generated wells and of their states. A month is published on the last working
 * day of the second month after it, as a preliminary number of the filed reports; the next month's
 * publication has its final one. States have more wells than are generated.
 */
export function createProductionData(deps: ProductionDataDeps): DemoData {
  const { seed, world, db, production, months } = deps
  const statesOf = stateMonths(seed, world)

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
    })

  return {
    percent: 2,
    *generate(now) {
      const newest = newestPublishedMonth(now)
      const end = monthAfter(newest, 1)
      const firstMonth = months === undefined ? firstMonthOfAll : monthAfter(end, -months)
      const wells = producingBy(deps.known, newest)
      for (let i = 0; i < wells.length; i += sliceWells) {
        const slice = wells.slice(i, i + sliceWells)
        production.wells.write(
          slice.flatMap(well => wellMonths(seed, well, firstMonth, end)),
          now,
        )
        yield i / wells.length
      }
      for (let month = firstMonth; month < end; month = monthAfter(month, 1))
        production.states.write(statesOf(month, month === newest), now)
      yield 1
    },
    publish(from, to) {
      let count = 0
      let month = monthAfter(newestPublishedMonth(from - 1), 1)
      for (; productionPublishedAt(month) < to; month = monthAfter(month, 1)) {
        publish(month, productionPublishedAt(month))
        count += 1
      }
      return count
    },
  }
}

/** Wells that produced by the end of a month. */
const producingBy = (wells: ProductionDataDeps['known'], month: string): Well[] =>
  reportedStates
    .flatMap(({ code }) => wells.search({ state: code, producingTo: `${monthAfter(month, 1)}-01` }))
    .filter(well => well.source === generatedSource)
    .sort((a, b) => (a.apiNumber < b.apiNumber ? -1 : 1))
