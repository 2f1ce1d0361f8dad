import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { weekNameOf } from '../../calendars/math/weeks.ts'
import { Day, daysOf, markSources, requireData, Stamp } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy, pagedRows } from '../../energy/operations/frame.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { averaged, percentChange } from '../math/change.ts'
import { basinKeys, country, isBasin, otherStates, storedBasins } from '../math/drilling.ts'
import { stateOf, states } from '../math/states.ts'
import type { Drilling } from '../service/drilling.ts'
import {
  type DrillingMetric,
  drillingMetrics,
  type MetricRow,
  type RegionCount,
} from '../store/metrics.ts'
import { basinIn, countOrNull, regionQuery, stateIn } from './answer.ts'
import { metricUnits, newestCounts, newPermits, shareOf } from './metric.ts'

const nationalCount = countOrNull(546)
const Trend = t.oneOf(['up', 'down', 'flat'])

const Row = t.object('DrillingMetric', {
  id: t.string('Permanent number of the count.', '20261120101'),
  basin: t.string('For a state: the largest of the basins that extend into it.', 'permian'),
  state: t.stringOrNull('Two letters; null where the count is of a basin.', 'TX'),
  operator: t.stringOrNull('Null: counts are not kept by operator.', 'Alder Oil'),
  metric_type: t.String({ examples: ['rig_count'] }),
  value: t.Number({ examples: [251] }),
  unit: t.String({ examples: ['rigs'] }),
  date: Day,
  week: t.string('ISO week of the date.', '2026-W47'),
  timestamp: Stamp,
  metadata: t.Object({
    source: t.String({ examples: ['EIA'] }),
    region: t.String({ examples: ['permian'] }),
  }),
})
const Metric = t.Object({
  value: t.Number({ examples: [546] }),
  unit: t.String({ examples: ['rigs'] }),
  date: Day,
  source: t.String({ examples: ['EIA'] }),
})
const Latest = t.object('LatestDrillingIntelligence', {
  total_rigs: nationalCount,
  total_frac_spreads: nationalCount,
  total_permits: t.integerOrNull(
    'New permits of all states in the last 30 days; null if there are none, and with `as_of`, because permits have no history.',
    2134,
  ),
  total_duc_wells: nationalCount,
  total_completions: nationalCount,
  total_wells_drilled: nationalCount,
  as_of_date: Day,
  metrics: t.Record(t.String(), Metric, {
    examples: [{ rig_count: { value: 546, unit: 'rigs', date: '2026-11-20', source: 'EIA' } }],
  }),
})
const Summary = t.object('DrillingSummary', {
  metric: t.String({ examples: ['rig_count'] }),
  total: t.Number({ examples: [546] }),
  change: t.numberOrNull('Against the count before.', -2),
  change_percent: t.orNull(t.Number({ examples: [-0.37] })),
  breakdown: t.Array(
    t.Object({
      name: t.string('Basin.', 'permian'),
      value: t.Number({ examples: [251] }),
      percentage: t.numberOrNull('Of the total.', 45.97),
    }),
  ),
})
const TrendRow = t.object('DrillingTrend', {
  date: Day,
  metric: t.String({ examples: ['rig_count'] }),
  value: t.Number({ examples: [546] }),
  moving_average: t.numberOrNull('Mean of this count and the three before it.', 548.25),
  trend: Trend,
})

/** In an order that never changes: new ones go to the end. */
const numberedRegions = [
  ...storedBasins.map(basin => basin.key),
  otherStates,
  ...states.map(state => state.code),
]

/** Day, metric and region in one number: it never changes, and grows with the days. */
function metricId({ countedOn, metric, region }: MetricRow): string {
  const place = numberedRegions.indexOf(region) + 1
  return `${countedOn.replaceAll('-', '')}${drillingMetrics.indexOf(metric) + 1}${String(place).padStart(2, '0')}`
}

/** Two places where counts are stored: those of a basin, and those of a state. */
function requestedRegions(query: {
  basin?: string
  state?: string
}): readonly string[] | undefined {
  const basin = query.basin ? basinIn(query.basin) : undefined
  if (!query.state) return basin === undefined ? undefined : [basin]
  const state = stateIn(query.state)
  return basin === undefined || state.basins[0] === basin ? [state.code] : []
}

const rowOf = (row: MetricRow) => ({
  id: metricId(row),
  basin: isBasin(row.region) ? row.region : (stateOf(row.region)?.basins[0] ?? 'other'),
  state: isBasin(row.region) ? null : row.region,
  operator: null,
  metric_type: row.metric,
  value: row.value,
  unit: metricUnits[row.metric],
  date: row.countedOn,
  week: weekNameOf(row.countedOn),
  timestamp: isoInstant(row.recordedAt),
  metadata: { source: row.source, region: row.region },
})

/** New permits of all states in the last 30 days; undefined where no permit is stored. */
export const permitsOfMonth = ({ permits: { counts }, now }: Context): number | undefined =>
  newPermits(counts, [...counts.newestByState().keys()], isoDay(now()))

/** The newest national count of each metric. */
function nationalCounts(call: EnergyCall) {
  const counts = newestCounts(call.at.drilling, country)
  const all = Object.values(counts)
  requireData(all[0], 'counts of drilling', 'rig-counts')
  markSources(call, all)
  return counts
}

function summaryOf(drilling: Drilling, metric: DrillingMetric, newest: RegionCount) {
  const previous = drilling.metrics.before(metric, country, newest.on)
  const parts = basinKeys.flatMap(basin => {
    const [count] = drilling.metrics.ofRegion(metric, basin, newest.on, dayAfter(newest.on, 1))
    return count
      ? [{ name: basin, value: count.value, percentage: shareOf(count.value, newest.value) }]
      : []
  })
  return {
    metric,
    total: newest.value,
    change: previous === undefined ? null : newest.value - previous,
    change_percent: previous === undefined ? null : (percentChange(previous, newest.value) ?? null),
    breakdown: parts.sort((a, b) => b.value - a.value),
  }
}

/** All drilling counts, over all families. */
export const drillingIntelligenceOperations = [
  energy.pages({
    path: '/v1/drilling-intelligence',
    operationId: 'listDrillingMetrics',
    summary: 'List all drilling metrics',
    description:
      'Returns rigs, frac spreads, drilled but uncompleted wells, wells drilled and completions by basin and state, newest first.',
    access: energy.heavyAccess,
    view: 'as_of',
    query: regionQuery,
    title: 'DrillingMetrics',
    row: Row,
    list(call) {
      const { metrics } = call.at.drilling
      const filter = { ...daysOf(call.query), regions: requestedRegions(call.query) }
      return pagedRows(metrics, filter, rows => markSources(call, rows).map(rowOf))
    },
  }),
  energy.record({
    path: '/v1/drilling-intelligence/latest',
    operationId: 'getLatestDrillingIntelligence',
    summary: 'Get the latest national drilling metrics',
    description:
      'Returns the newest count of each metric for the United States. `as_of_date` is the newest of their days; each metric has its own.',
    view: 'as_of',
    title: 'LatestDrillingMetrics',
    data: Latest,
    handle(call) {
      const counts = nationalCounts(call)
      return {
        total_rigs: counts.rig_count?.value ?? null,
        total_frac_spreads: counts.frac_spreads?.value ?? null,
        total_permits: permitsOfMonth(call.at) ?? null,
        total_duc_wells: counts.duc_wells?.value ?? null,
        total_completions: counts.completions?.value ?? null,
        total_wells_drilled: counts.wells_drilled?.value ?? null,
        as_of_date: Object.values(counts)
          .map(count => count.on)
          .sort()
          .at(-1)!,
        metrics: Object.fromEntries(
          Object.entries(counts).map(([metric, { value, on, source }]) => [
            metric,
            { value, unit: metricUnits[metric as DrillingMetric], date: on, source },
          ]),
        ),
      }
    },
  }),
  energy.wholeList({
    path: '/v1/drilling-intelligence/summary',
    operationId: 'listDrillingSummaries',
    summary: 'List national drilling metrics with their components',
    description:
      'Returns the newest national count of each metric, its change and its components by basin, largest first.',
    access: energy.heavyAccess,
    view: 'as_of',
    title: 'DrillingSummaries',
    row: Summary,
    handle(call) {
      const counts = nationalCounts(call)
      return drillingMetrics.flatMap(metric => {
        const count = counts[metric]
        return count ? [summaryOf(call.at.drilling, metric, count)] : []
      })
    },
  }),
  energy.pages({
    path: '/v1/drilling-intelligence/trends',
    operationId: 'listDrillingTrends',
    summary: 'List drilling metrics with moving averages',
    description:
      'Returns national counts, or those of a basin or state, newest first. `moving_average` is the mean of a count and the three before it, whatever their calendar; `trend` is `up` or `down` if the count differs from it by more than one percent, otherwise `flat`.',
    access: energy.heavyAccess,
    view: 'as_of',
    query: regionQuery,
    title: 'DrillingTrends',
    row: TrendRow,
    list(call) {
      const { metrics } = call.at.drilling
      const { fromOn, toOn } = daysOf(call.query)
      const regions = requestedRegions(call.query)
      const [region = country] = regions ?? []
      const rows = drillingMetrics.flatMap(metric => {
        const counts = regions?.length === 0 ? [] : metrics.ofRegion(metric, region, '', toOn)
        markSources(call, counts.slice(-1))
        return counts.flatMap(({ on }, index) =>
          on < fromOn ? [] : [{ metric, counts, index, on }],
        )
      })
      rows.sort((a, b) => (a.on === b.on ? 0 : a.on < b.on ? 1 : -1))
      return {
        total: rows.length,
        rows: (limit, offset) =>
          rows.slice(offset, offset + limit).map(({ metric, counts, index }) => {
            const { on, value, average, trend } = averaged(counts, index)
            return { date: on, metric, value, moving_average: average ?? null, trend }
          }),
      }
    },
  }),
]
