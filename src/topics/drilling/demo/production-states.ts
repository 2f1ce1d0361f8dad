import { dayMs, parseDay } from '../../../lib/time/instant.ts'
import { daysIn, endOfMonth, monthAfter } from '../../calendars/math/period.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { keyOf, uniform } from '../../prices/demo/noise.ts'
import { createPath } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { StateMonth } from '../dataset/wells.ts'

/** `state oil gas`: usual production in thousand barrels and million cubic feet a day. */
const table =
  'TX 5780 34800,NM 2150 11200,ND 1180 3400,CO 470 4900,AK 430 1000,OK 400 7400,CA 290 340,WY 285 2600,UT 180 950,OH 120 6200,LA 82 10600,MT 78 120,' +
  'KS 68 330,WV 44 9600,MS 32 70,IL 17 5,PA 13 20800,AR 11 950,MI 11 170,AL 9 240,KY 5 190,IN 4 5,NE 4 1,FL 2 1,NV 1 0,NY 1 20'
const usual = table.split(',').map(text => {
  const [state, oil, gas] = text.split(' ') as [string, string, string]
  return { state, oil: Number(oil), gas: Number(gas) }
})

/** The rest comes from federal waters, which belong to no state. */
const [oilOnLand, gasOnLand] = [0.86, 0.98]
/** The national series are in million barrels and billion cubic feet a day. */
const volumeEach = 1e6
const [crude, gas] = ['US_CRUDE_PRODUCTION', 'US_NATGAS_PRODUCTION'] as const
/**
 * A survey of a month is published in the middle of the next one; the calendar may hold it back.
 */
const releaseSlackMs = 10 * dayMs

const halfLifeDays = 700
const weight = 0.05
/** The share that is missing while some operators have not filed yet. */
const [lateLeast, lateMore] = [0.002, 0.016]

/**
 * The production of each state in a month: the states share the national series of the generated
 * market.
 */
export function stateMonths(
  seed: number,
  world: World,
): (month: string, provisional: boolean) => StateMonth[] {
  const paths = usual.map(({ state }) =>
    createPath(seed, `production/${state}`, halfLifeDays, false),
  )

  const meanOf = (observations: readonly Observation[]): number | undefined =>
    observations.length === 0
      ? undefined
      : observations.reduce((sum, observation) => sum + observation.value, 0) / observations.length
  /** A week is of the month in which it was observed, a monthly survey of the month before. */
  const observedIn = (code: string, month: string): number | undefined => {
    const [from, to] = [parseDay(`${month}-01`)!, endOfMonth(month)]
    return meanOf(
      world
        .observations(code, from, to + releaseSlackMs)
        .filter(observation => observation.observedAt >= from && observation.observedAt < to),
    )
  }
  const drift = (i: number, day: number): number => {
    const out = new Float64Array(1)
    paths[i]!.addTo(out, day, weight, true)
    return Math.exp(out[0]!)
  }

  return (month, provisional) => {
    const [oilMean, gasMean] = [observedIn(crude, month), observedIn(gas, monthAfter(month, 1))]
    if (oilMean === undefined || gasMean === undefined) return []
    const days = daysIn(month)
    const drifts = usual.map((_, i) => drift(i, parseDay(`${month}-15`)! / dayMs))
    const shareOf = (of: 'oil' | 'gas', national: number) => {
      const weights = usual.map((state, i) => state[of] * drifts[i]!)
      const sum = weights.reduce((total, weight) => total + weight, 0)
      return weights.map(weight => (national * days * volumeEach * weight) / sum)
    }
    const [oils, gases] = [shareOf('oil', oilMean * oilOnLand), shareOf('gas', gasMean * gasOnLand)]
    const index = Number(month.slice(0, 4)) * 12 + Number(month.slice(5))
    return usual.map(({ state }, i) => {
      const filed = provisional
        ? 1 - lateLeast - lateMore * uniform(keyOf(`${seed}/late/${state}`), index)
        : 1
      return {
        state,
        month,
        provisional,
        source: generatedSource,
        waterBbl: null,
        oilBbl: Math.round(oils[i]! * filed),
        gasMcf: Math.round(gases[i]! * filed),
      }
    })
  }
}
