import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { Drilling } from '../service/drilling.ts'
import { type DrillingMetric, drillingMetrics, type RegionCount } from '../store/metrics.ts'
import type { PermitCounts } from '../store/permit-counts.ts'

export const metricUnits: Readonly<Record<DrillingMetric, string>> = {
  rig_count: 'rigs',
  frac_spreads: 'frac_spreads',
  duc_wells: 'wells',
  wells_drilled: 'wells',
  completions: 'wells',
}

/** The newest counts of a region, one for each metric that it has. */
export function newestCounts(
  drilling: Drilling,
  region: string,
): Partial<Record<DrillingMetric, RegionCount>> {
  const { rigs, frac, duc } = drilling
  const newest = {
    rig_count: rigs,
    frac_spreads: frac,
    duc_wells: duc,
    wells_drilled: duc,
    completions: duc,
  }
  const entries = drillingMetrics.flatMap(metric => {
    const on = newest[metric].newestOn([region])
    const counts =
      on === undefined ? [] : drilling.metrics.ofRegion(metric, region, on, dayAfter(on, 1))
    return counts.map(count => [metric, count] as const)
  })
  return Object.fromEntries(entries)
}

/** The days of a month in permit counts. */
export const permitDays = 30

/** New permits of states in the last 30 days; undefined where none of the states has any. */
export function newPermits(
  permits: PermitCounts,
  states: readonly string[],
  today: string,
): number | undefined {
  if (states.length === 0) return undefined
  const end = dayAfter(today, 1)
  return states.reduce(
    (sum, state) => sum + permits.between(state, dayAfter(end, -permitDays), end),
    0,
  )
}

/** Percent of a whole, two places; null of nothing. */
export const shareOf = (part: number, total: number): number | null =>
  total === 0 ? null : roundTo((100 * part) / total, 2)
