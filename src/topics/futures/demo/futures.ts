import type { DemoData } from '../../../demo/demo-data.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import type { World } from '../../prices/demo/world.ts'
import { type FamilyCode, families } from '../math/families.ts'
import type { Futures } from '../service/futures.ts'
import { createWorldCurve } from './curves.ts'
import {
  gridMs,
  historyMonths,
  historyOf,
  lagMs,
  type Published,
  publishedOf,
  type Reach,
} from './published.ts'

export interface FuturesDataDeps {
  world: World
  seed: number
  /** Places after the point of each family's prices. */
  decimals(code: FamilyCode): number
  futures: Pick<Futures, 'recordDays' | 'recordTicks'>
  /** Makes contracts known that are not yet, marked as fixture data. */
  open(contracts: readonly { family: FamilyCode; month: string }[]): void
  reach?: Reach
}

/**
 * Two years of whole curves, the nearest months as far back as an answer may reach, and three
 * sessions of ticks whatever weekend or holiday is between.
 */
const fullReach: Reach = { wholeCurveDays: 2 * 366, nearMonthsDays: 5 * 366 + 7, tickDays: 6 }
/** Rows of one transaction at most, so that none delays the requests behind it for long. */
const rowsPerWrite = 1_500

/** Bars, settlements, open interest and ticks of every family's listed contracts. */
export function createFuturesData(deps: FuturesDataDeps): DemoData {
  const { reach = fullReach } = deps
  const curves = families.map(family =>
    createWorldCurve({
      seed: deps.seed,
      family,
      decimals: deps.decimals(family.code),
      world: deps.world,
    }),
  )
  const opened = new Set<string>()

  const open = (contracts: readonly { family: FamilyCode; month: string }[]) => {
    const fresh = contracts.filter(({ family, month }) => !opened.has(`${family} ${month}`))
    if (fresh.length === 0) return
    deps.open(fresh)
    for (const { family, month } of fresh) opened.add(`${family} ${month}`)
  }

  const write = ({ days, ticks }: Published, at: number): void => {
    open([...days, ...ticks])
    for (let i = 0; i < ticks.length; i += rowsPerWrite)
      deps.futures.recordTicks(ticks.slice(i, i + rowsPerWrite), at)
    for (let i = 0; i < days.length; i += rowsPerWrite)
      deps.futures.recordDays(days.slice(i, i + rowsPerWrite), at)
  }

  return {
    percent: 18,
    *generate(now) {
      for (const [i, curve] of curves.entries()) {
        const months = historyMonths(curve, now, reach)
        open(months.map(month => ({ family: curve.family.code, month })))
        let waiting: Published = { days: [], ticks: [] }
        for (const [j, month] of months.entries()) {
          const { days, ticks } = historyOf(curve, month, now, reach)
          waiting.days.push(...days)
          waiting.ticks.push(...ticks)
          if (waiting.days.length + waiting.ticks.length < rowsPerWrite) continue
          write(waiting, now)
          waiting = { days: [], ticks: [] }
          yield (i + j / months.length) / curves.length
        }
        write(waiting, now)
      }
      yield 1
    },
    publish(from, to) {
      // Every value is published a fixed lag after a time on the grid.
      const slotOf = (at: number) => Math.ceil((at - lagMs) / gridMs)
      if (slotOf(from) === slotOf(to)) return 0
      let count = 0
      for (let begin = from; begin < to; begin = Math.min(to, startOfDay(begin) + dayMs)) {
        const end = Math.min(to, startOfDay(begin) + dayMs)
        const published = curves.map(curve =>
          publishedOf(curve, begin, end, to - reach.tickDays * dayMs),
        )
        const all = {
          days: published.flatMap(({ days }) => days),
          ticks: published.flatMap(({ ticks }) => ticks),
        }
        write(all, to)
        count += all.days.length + all.ticks.length
      }
      return count
    },
  }
}
