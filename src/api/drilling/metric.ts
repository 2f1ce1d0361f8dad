import type { Count } from '../../market/drilling/change.ts'
import { roundTo } from '../../market/prices/format.ts'
import { dayAfter } from '../../market/prices/window.ts'
import type { Drilling } from '../../service/drilling/drilling.ts'
import { type DrillingMetric, drillingMetrics } from '../../store/drilling/metrics.ts'
import type { PermitCounts } from '../../store/drilling/permit-counts.ts'
import type { Context } from '../context.ts'
import { atMoment } from '../point-in-time.ts'

/** Counts of new permits by state. */
export type PermitReads = Pick<
  PermitCounts,
  'between' | 'newestByState' | 'oldestOn' | 'sourceOf' | 'topOperators' | 'topCounties'
>

/** What a state produced in its newest month. */
export interface StateProduction {
  oilBpd: number | undefined
  gasMcfd: number | undefined
  /** `YYYY-MM`. */
  period: string
  source: string
}

/** What other datasets have of a state; each is undefined where its dataset has nothing. */
export interface StateReads {
  permits: PermitReads
  production(state: string): StateProduction | undefined
}

export const metricUnits: Readonly<Record<DrillingMetric, string>> = {
  rig_count: 'rigs',
  frac_spreads: 'frac_spreads',
  duc_wells: 'wells',
  wells_drilled: 'wells',
  completions: 'wells',
}

/** A count and its source. */
export interface SourcedCount extends Count {
  source: string
}

/** Counts of one metric of a region in `[fromOn, toOn)`, oldest first. */
export function countsOf(
  { rigs, frac, duc }: Drilling,
  metric: DrillingMetric,
  region: string,
  fromOn: string,
  toOn: string,
): SourcedCount[] {
  const sourcedCount = (on: string, value: number | null, source: string): SourcedCount[] =>
    value === null ? [] : [{ on, value, source }]
  switch (metric) {
    case 'rig_count':
      return rigs
        .between(region, fromOn, toOn)
        .flatMap(row =>
          sourcedCount(row.countedOn, row.span === 'week' ? row.total : null, row.source),
        )
    case 'frac_spreads':
      return frac
        .between(region, fromOn, toOn)
        .flatMap(row => sourcedCount(row.countedOn, row.active, row.source))
    case 'duc_wells':
      return duc
        .between(region, fromOn, toOn)
        .flatMap(row => sourcedCount(row.countedOn, row.duc, row.source))
    case 'wells_drilled':
      return duc
        .between(region, fromOn, toOn)
        .flatMap(row => sourcedCount(row.countedOn, row.drilled, row.source))
    case 'completions':
      return duc
        .between(region, fromOn, toOn)
        .flatMap(row => sourcedCount(row.countedOn, row.completed, row.source))
  }
}

/** The newest counts of a region, one for each metric that it has. */
export function newestCounts(
  drilling: Drilling,
  region: string,
): Partial<Record<DrillingMetric, SourcedCount>> {
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
    const counts = on === undefined ? [] : countsOf(drilling, metric, region, on, dayAfter(on, 1))
    return counts.map(count => [metric, count] as const)
  })
  return Object.fromEntries(entries)
}

const noPermits: PermitReads = {
  between: () => 0,
  newestByState: () => new Map(),
  oldestOn: () => undefined,
  sourceOf: () => undefined,
  topOperators: () => [],
  topCounties: () => [],
}

/**
 * What `work` makes of the counts, as they were known where the request asks for a moment: permits
 * keep no past, so that none is counted there.
 */
export const atDrillingMoment = <D extends Pick<Context, 'pricesAt'> & StateReads, T>(
  deps: D,
  query: { as_of?: string },
  set: unknown,
  work: (deps: D) => T,
): T => atMoment(query.as_of ? { ...deps, permits: noPermits } : deps, query, set, work)

/** What is called a month of permits. */
export const permitDays = 30

/** New permits of states in the last 30 days; undefined where none of the states has any. */
export function newPermits(
  permits: PermitReads,
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
