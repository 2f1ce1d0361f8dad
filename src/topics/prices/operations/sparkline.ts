import { t } from '../../../http/answer/schema.ts'
import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import { roundTo } from '../math/format.ts'
import type { History } from '../service/reads/history.ts'
import type { LatestPrices, Quote } from '../service/reads/latest-prices.ts'

export const sparklineDays = 30

export const Sparkline = t.Array(t.Number({ examples: [71.23] }), {
  description: `Daily closes of the ${sparklineDays} days up to the newest price, oldest first; days without a close are omitted.`,
})

/** The closes of the days up to the newest price, oldest first. */
export function sparklineOf(
  { latestPrices, history }: { latestPrices: LatestPrices; history: History },
  quote: Quote,
): number[] {
  const { series, observation } = quote
  const earlierCloses = latestPrices.ofEarlierDays('sparkline', quote, () => {
    const today = startOfDay(observation.observedAt)
    const { rows } = history.page({
      seriesIds: [series.id],
      interval: 'day',
      from: today - (sparklineDays - 1) * dayMs,
      to: today,
      limit: sparklineDays - 1,
      offset: 0,
    })
    return rows.map(row => roundTo(row.value, series.decimals)).reverse()
  })
  // The newest price is the close of its day so far.
  return [...earlierCloses, roundTo(observation.value, series.decimals)]
}
