import { isoDay, parseDay, secondMs } from '../../../lib/time/instant.ts'
import { releasedAt, scheduleOf } from '../../calendars/math/schedule.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import { lastTradingDay, listedMonths } from '../../futures/math/contracts.ts'
import { families } from '../../futures/math/families.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { CorrectionStore } from '../store/corrections.ts'
import { pricesIn } from './bars.ts'
import {
  type Incoming,
  type Range,
  type Read,
  rangeOf,
  readSymbol,
  resolutionIn,
} from './reading.ts'

export const marksMax = 500
/** Months of contracts whose last trading days are marked in one answer. */
const rollsMax = 240
/** The code and the range of a request for marks; marks are the same in every resolution. */
export function marked(incoming: Incoming): [Read, Range] {
  const { query } = incoming
  resolutionIn(query.resolution)
  const range = rangeOf(query)
  return [readSymbol(incoming, query.symbol), range]
}

/** Corrections of prices in a range, at the bars that they changed. */
export function marksOf(
  { commodity, moment }: Read,
  { from, to }: Range,
  corrections: CorrectionStore,
) {
  const { id, decimals } = commodity.series
  return corrections
    .between(id, from, to, moment.asOf ?? moment.prices.now(), marksMax)
    .map(({ observedAt, correctedAt, before, after }) => ({
      id: `correction-${observedAt}`,
      time: Math.floor(observedAt / secondMs),
      color: 'red',
      label: 'C',
      text:
        after === null
          ? `Withdrawn on ${isoDay(correctedAt)}; was ${roundTo(before, decimals)}.`
          : `Corrected on ${isoDay(correctedAt)}: ${roundTo(before, decimals)} to ${roundTo(after, decimals)}.`,
      labelFontColor: 'white',
      minSize: 14,
    }))
}

/** Publications in a range, and last trading days of a family of futures. */
export function timescaleMarksOf({ commodity, moment }: Read, { from, to }: Range) {
  const { series, code } = commodity
  const family = families.find(listed => listed.code === (series.contractOf ?? code))
  if (family) {
    const months = listedMonths(family.code, isoDay(from), rollsMax)
    return months.flatMap(month => {
      const day = lastTradingDay(family.code, month)
      const at = parseDay(day)!
      if (at < from || at >= to) return []
      return [
        {
          id: `roll-${month}`,
          time: at / secondMs,
          color: 'blue',
          label: 'R',
          tooltip: [`Last trading day of ${family.name} ${month}`],
        },
      ]
    })
  }
  // Daily prices come out every day, so only the dates of rarer publications are shown.
  if (isIntraday(series.cadence) || series.cadence === 'daily') return []
  const schedule = scheduleOf(series)
  const rows = pricesIn(moment.prices.history, series, { from, to }, marksMax)
  return rows.reverse().map(({ observedAt, value }) => ({
    id: `release-${observedAt}`,
    time: Math.floor(releasedAt(schedule, observedAt) / secondMs),
    color: 'green',
    label: 'P',
    tooltip: [
      `Published: ${roundTo(value, series.decimals)} ${series.unit} for ${isoDay(observedAt)}`,
    ],
  }))
}
