import { t } from 'elysia'
import { dayMs, startOfDay } from '../../lib/instant.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { History } from '../../service/prices/history.ts'
import type { Series } from '../../store/catalogue/series.ts'

export const sparklineDays = 30

export const Sparkline = t.Array(t.Number({ examples: [71.23] }), {
  description: `Daily closes of the ${sparklineDays} days up to the newest price, oldest first; days without one are left out.`,
})

/** The closes of the days up to the newest price, oldest first. */
export function sparklineOf(history: History, series: Series, newestAt: number): number[] {
  const { rows } = history.page({
    seriesIds: [series.id],
    interval: 'day',
    from: startOfDay(newestAt) - (sparklineDays - 1) * dayMs,
    to: newestAt + 1,
    limit: sparklineDays,
    offset: 0,
  })
  return rows.map(row => roundTo(row.value, series.decimals)).reverse()
}
