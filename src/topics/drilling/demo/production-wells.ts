import { daysIn, monthAfter, monthOf } from '../../calendars/math/period.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { keyOf, normal, uniform } from '../../prices/demo/noise.ts'
import { dayNumber } from '../../prices/math/window.ts'
import type { Well } from '../dataset/wells.ts'
import { type Decline, outputAfter } from '../math/decline.ts'
import type { WellMonth } from '../store/well-production.ts'
import { statePlaces } from './permit-places.ts'
import { wellTypeOf } from './permit-rows.ts'

/**
 * Usual wells of a state: oil a day of an oil well and gas (thousand cubic feet a day) of a gas
 * well at the beginning, and the gas and water per barrel of oil.
 */
interface Field {
  oil: number
  gas: number
  /** Thousand cubic feet of gas with a barrel. */
  gasEach: number
  /** Barrels of water. */
  waterEach: number
}

const fields: Readonly<Record<string, Field>> = {
  TX: { oil: 640, gas: 8_500, gasEach: 2.4, waterEach: 2.9 },
  NM: { oil: 780, gas: 6_000, gasEach: 2.9, waterEach: 3.8 },
  ND: { oil: 690, gas: 3_000, gasEach: 1.5, waterEach: 1.1 },
  AK: { oil: 520, gas: 4_000, gasEach: 1.2, waterEach: 0.6 },
}

/** The states whose wells are reported one by one. */
export const reportedStates = statePlaces.filter(state => fields[state.code])
const stateOf = new Map(reportedStates.map(state => [state.code, state]))

/** Standard deviation of the logarithm of a well's first rate. */
const rateSpread = 0.42
/** Nominal decline rates, per day. */
const [declineLeast, declineMore] = [0.16 / 30.4, 0.18 / 30.4]
const [exponentLeast, exponentMore] = [0.85, 0.4]
/** Liquids of a gas well, barrels with a thousand cubic feet. */
const condensateEach = 0.002
const gasWellWater = 0.012
/** As the pressure falls more gas comes with a barrel, per year. */
const gassierAYear = 0.12
/** Months in which a well is shut in for some days. */
const [idleShare, idleDaysMax] = [0.12, 9]
/** Draws that are not of a month come before these. */
const firstMonthDraw = 16

/**
 * The production that a well reports for the months of `[fromMonth, toMonth)`: Arps' decline, minus
 * days of downtime.
 */
export function wellMonths(
  seed: number,
  well: Well,
  fromMonth: string,
  toMonth: string,
): WellMonth[] {
  const state = stateOf.get(well.state)
  const type = state && wellTypeOf(seed, state, well.apiNumber)
  if (!state || type === 'injection' || well.firstProductionOn === null) return []
  const key = keyOf(`${seed}/production/${well.apiNumber}`)
  const field = fields[well.state]!
  const decline: Decline = {
    initialRate: (type === 'gas' ? field.gas : field.oil) * Math.exp(rateSpread * normal(key, 0)),
    initialDecline: declineLeast + declineMore * uniform(key, 1),
    exponent: exponentLeast + exponentMore * uniform(key, 2),
  }
  const begins = monthOf(well.firstProductionOn)
  const firstDay = dayNumber(well.firstProductionOn)
  const [gasEach, waterEach] = [
    field.gasEach * (0.7 + 0.6 * uniform(key, 3)),
    field.waterEach * (0.6 + 0.8 * uniform(key, 4)),
  ]
  const rows: WellMonth[] = []
  for (
    let month = fromMonth > begins ? fromMonth : begins;
    month < toMonth;
    month = monthAfter(month, 1)
  ) {
    const monthDay = dayNumber(`${month}-01`)
    const [from, to] = [Math.max(0, monthDay - firstDay), monthDay + daysIn(month) - firstDay]
    const at = firstMonthDraw + 2 * (Number(month.slice(0, 4)) * 12 + Number(month.slice(5)))
    const idle =
      uniform(key, at) < idleShare ? 1 + Math.floor(idleDaysMax * uniform(key, at + 1)) : 0
    const days = Math.max(1, to - from - idle)
    const main = ((outputAfter(decline, to) - outputAfter(decline, from)) * days) / (to - from)
    const gassier = 1 + (gassierAYear * to) / 365
    const [oil, gas, water] =
      type === 'gas'
        ? [main * condensateEach, main, main * gasWellWater]
        : [main, main * gasEach * gassier, main * waterEach]
    rows.push({
      apiNumber: well.apiNumber,
      state: well.state,
      month,
      source: generatedSource,
      daysProducing: days,
      oilBbl: Math.round(oil),
      gasMcf: Math.round(gas),
      waterBbl: Math.round(water),
    })
  }
  return rows
}
