import type { DemoData } from '../../../demo/demo-data.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Observation } from '../math/bars.ts'
import { isMainCode, leadingCodes } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import type { World } from './world.ts'

export interface StoredSeries extends WorldSeries {
  id: number
}

/** An observation on its way to the database, with the time at which it counts as recorded. */
export interface WorldPoint extends Observation {
  seriesId: number
}

export interface PriceDataDeps {
  world: World
  series: readonly StoredSeries[]
  /** Takes points in one transaction; the same value for the same instant again changes nothing. */
  write(points: readonly WorldPoint[], recordedAt: number): unknown
  /** Codes whose records are numbered together: their history is written in one transaction. */
  together?: readonly string[]
}

/** The longest history of a code fits, so that it is written in one transaction. */
const pointsPerWrite = 12_000
/**
 * A long absence is made up for in spans that fit into memory. Inside one, points are written code by
 * code, which a database takes several times faster than in the order of time.
 */
const sliceMs = 30 * dayMs
/** Older prices of a long absence are closes and not every five minutes. */
const denseDays = 40

/** The prices of every code that has data. */
export function createPriceData(deps: PriceDataDeps): DemoData {
  const { world } = deps
  const order = writingOrder(deps.series, new Set(deps.together))

  const pointsOf = ({ id }: StoredSeries, observations: readonly Observation[]): WorldPoint[] =>
    observations.map(observation => ({ seriesId: id, ...observation }))

  const write = (points: readonly WorldPoint[], recordedAt: number): void => {
    for (let i = 0; i < points.length; i += pointsPerWrite)
      deps.write(points.slice(i, i + pointsPerWrite), recordedAt)
  }

  const published = (series: StoredSeries, from: number, to: number, now: number): WorldPoint[] => {
    const denseFrom = now - denseDays * dayMs
    const depth = { from: 0, hourlyFrom: denseFrom, rawFrom: denseFrom }
    return pointsOf(series, world.observations(series.code, from, to, depth))
  }

  return {
    percent: 60,
    *generate(now) {
      const numbered = order.filter(({ code }) => deps.together?.includes(code))
      deps.write(
        numbered.flatMap(series => pointsOf(series, world.history(series.code, now))),
        now,
      )
      let waiting: WorldPoint[] = []
      for (const [i, series] of order.slice(numbered.length).entries()) {
        const history = pointsOf(series, world.history(series.code, now))
        if (waiting.length + history.length > pointsPerWrite) {
          write(waiting, now)
          waiting = []
          yield (numbered.length + i) / order.length
        }
        for (const point of history) waiting.push(point)
      }
      write(waiting, now)
      yield 1
    },
    publish(from, to) {
      let count = 0
      for (let begin = from; begin < to; begin += sliceMs) {
        const end = Math.min(to, begin + sliceMs)
        const points = order.flatMap(series => published(series, begin, end, to))
        write(points, to)
        count += points.length
      }
      return count
    },
  }
}

/**
 * Codes that are numbered together, then those that answers name first, those that are quoted all
 * day, and the rest; codes without data not at all.
 */
function writingOrder(
  series: readonly StoredSeries[],
  together: ReadonlySet<string>,
): StoredSeries[] {
  const rank = (series: StoredSeries): number => {
    if (together.has(series.code)) return -1
    const leading = leadingCodes.indexOf(series.code)
    return leading >= 0 ? leading : leadingCodes.length + (isMainCode(series) ? 0 : 1)
  }
  return series
    .filter(series => series.available)
    .toSorted((a, b) => rank(a) - rank(b) || (a.code < b.code ? -1 : 1))
}
