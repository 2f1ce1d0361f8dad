import { t } from '../../../http/answer/schema.ts'
import { wordOf } from '../../../http/input/query.ts'
import {
  momentParameter,
  numberParameter,
  textParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { withoutAbsent } from '../../../lib/text/json.ts'
import { Day, markSources } from '../../energy/operations/answer.ts'
import type { EnergyCall } from '../../energy/operations/frame.ts'
import { roundTo } from '../../prices/math/format.ts'
import {
  type CohortSpan,
  cohortSpans,
  cohorts,
  type DayStats,
  stageNames,
  stageStats,
  statsOf,
  type TimedWell,
  timedWells,
} from '../math/cycle-time.ts'
import type { WellDates, WellFilter } from '../store/wells.ts'
import { circleOf, daySpanOf, radius, typedText } from './permit-query.ts'
import { productionHeavyAccess, productionPrefix } from './well-production.ts'

const topMax = 10
const statDecimals = 2

const placeQuery = {
  state: textParameter('Two letters; absent: every state whose wells are known.', 'TX', {
    pattern: '^[A-Za-z]{2}$',
  }),
  start_date: momentParameter(
    'First day of first production, `YYYY-MM-DD`, inclusive.',
    '2025-01-01',
  ),
  end_date: momentParameter('Last day of first production, inclusive.', '2026-11-15'),
  lat: numberParameter('Centre of a circle, degrees north, with `lng`.', 31.87, {
    minimum: -90,
    maximum: 90,
  }),
  lng: numberParameter('Degrees east: west is negative.', -102.03, { minimum: -180, maximum: 180 }),
  radius_miles: numberParameter('Great-circle distance, 1 to 100; default: 10.', radius.fallback, {
    default: radius.fallback,
    minimum: radius.min,
    maximum: radius.max,
  }),
}
const nameQuery = {
  operator: textParameter('Part of the name of the operator.', 'Red Bluff'),
  formation: textParameter('Part of the name of the formation.', 'Wolfcamp'),
}
type Query = { [name in keyof typeof placeQuery | keyof typeof nameQuery]?: string }

const Stats = t.object('CycleTimeStats', {
  count: t.integer({ examples: [1840] }),
  median_days: t.number('Half of the wells took no longer.', 243),
  p25_days: t.number(
    '25th percentile, linearly interpolated at place (n - 1) x p, as R and NumPy do by default.',
    213,
  ),
  p75_days: t.number('75th percentile.', 275),
  p90_days: t.number('90th percentile.', 302),
  min_days: t.integer({ examples: [104] }),
  max_days: t.integer({ examples: [402] }),
  avg_days: t.number('Arithmetic mean.', 244.31),
})
const CycleWell = t.object('CycleTimeWell', {
  api_number: t.String({ examples: ['42329400010000'] }),
  operator: t.String({ examples: ['Juniper Ridge Operating, LLC'] }),
  total_days: t.integer('From the permit to the first production.', 104),
  permit_date: Day,
  first_production: Day,
})
const sentText = t.Optional(t.String())
const sentNumber = t.Optional(t.Number())
const Filters = t.Object(
  {
    state: sentText,
    start_date: sentText,
    end_date: sentText,
    operator: sentText,
    formation: sentText,
    lat: sentNumber,
    lng: sentNumber,
    radius_miles: sentNumber,
  },
  { description: 'The request as interpreted.' },
)
const stageKeys = {
  permitToSpud: 'permit_to_spud',
  spudToCompletion: 'spud_to_completion',
  completionToFirstProduction: 'completion_to_first_production',
} as const

const CycleTime = t.object('CycleTime', {
  filters: Filters,
  well_count: t.integer('Wells that fit.', 2960),
  wells_with_cycle_data: t.integer('Wells whose permit and first production are known.', 1840),
  cycle_time_stats: Stats,
  stage_breakdown: t.Object(
    {
      permit_to_spud: t.orNull(Stats),
      spud_to_completion: t.orNull(Stats),
      completion_to_first_production: t.orNull(Stats),
    },
    {
      description: 'Over the wells with both dates of the stage; null if there are none.',
    },
  ),
  quarterly_cohorts: t.Record(
    t.String(),
    t.object('CycleTimeQuarter', {
      well_count: t.integer(),
      median_days: t.Number(),
      avg_days: t.Number(),
    }),
    {
      description: 'Wells with cycle data by the quarter of their first production.',
      examples: [{ '2025-Q2': { well_count: 280, median_days: 243, avg_days: 244.31 } }],
    },
  ),
  top_fastest: t.Array(CycleWell),
  top_slowest: t.Array(CycleWell),
})
const Cohorts = t.object('CycleTimeCohorts', {
  group_by: t.oneOf(['quarter', 'month', 'year']),
  cohorts: t.Record(
    t.String(),
    t.object('CycleTimeCohort', {
      well_count: t.integer({ examples: [280] }),
      wells_with_data: t.integer({ examples: [280] }),
      stats: t.orNull(Stats),
    }),
    {
      description:
        'By the span of first production, oldest first; `stats` is null where no permit of it is known.',
    },
  ),
})

function filterOf(query: Query): WellFilter {
  const { from, to } = daySpanOf(query)
  return withoutAbsent({
    state: typedText('state', query.state)?.toUpperCase(),
    operator: typedText('operator', query.operator),
    formation: typedText('formation', query.formation),
    producingFrom: from,
    producingTo: to,
    circle: circleOf(query, 'lat', 'lng'),
  })
}

const filtersRow = (
  { state, operator, formation, circle }: WellFilter,
  { start_date, end_date }: Query,
) =>
  withoutAbsent({
    state,
    start_date: start_date || undefined,
    end_date: end_date || undefined,
    operator,
    formation,
    lat: circle?.latitude,
    lng: circle?.longitude,
    radius_miles: circle?.radiusMiles,
  })

const round = (value: number) => roundTo(value, statDecimals)

const statsRow = ({ count, median, p25, p75, p90, min, max, mean }: DayStats) => ({
  count,
  median_days: round(median),
  p25_days: round(p25),
  p75_days: round(p75),
  p90_days: round(p90),
  min_days: min,
  max_days: max,
  avg_days: round(mean),
})

const cycleRow = ({ well, days: total }: TimedWell<WellDates>, operator: string) => ({
  api_number: well.apiNumber,
  operator,
  total_days: total,
  permit_date: well.permitOn!,
  first_production: well.firstProductionOn!,
})

/** Fastest first; wells that took as long in the order of their numbers. */
const byDays = (a: TimedWell<WellDates>, b: TimedWell<WellDates>): number =>
  a.days - b.days || (a.well.apiNumber < b.well.apiNumber ? -1 : 1)

const noMatch = (count: number) =>
  new Problem(
    'DATA_NOT_AVAILABLE',
    count === 0
      ? 'No well matches the request.'
      : `Of none of the wells that fit (${count}) are both the permit and the first production known.`,
  )

/** The distribution of each stage; null where no well has its two days. */
const breakdownOf = (timings: readonly TimedWell<WellDates>[]) =>
  Object.fromEntries(
    stageNames.map(stage => {
      const part = stageStats(timings, stage)
      return [stageKeys[stage], part ? statsRow(part) : null]
    }),
  ) as Record<(typeof stageKeys)[keyof typeof stageKeys], ReturnType<typeof statsRow> | null>

const quartersOf = (timings: readonly TimedWell<WellDates>[]) =>
  Object.fromEntries(
    cohorts(
      timings.map(timedWell => timedWell.well),
      'quarter',
      timings,
    ).map(({ label, wells: count, stats }) => [
      label,
      { well_count: count, median_days: round(stats!.median), avg_days: round(stats!.mean) },
    ]),
  )

const cohortsOf = (wells: readonly WellDates[], span: CohortSpan) =>
  cohorts(wells, span).map(
    ({ label, wells: count, stats }) =>
      [
        label,
        {
          well_count: count,
          wells_with_data: stats?.count ?? 0,
          stats: stats ? statsRow(stats) : null,
        },
      ] as const,
  )

function matchingWells(call: EnergyCall, filter: WellFilter) {
  const lives = call.at.wells.lives(filter)
  markSources(
    call,
    lives.sources.map(source => ({ source })),
  )
  return lives
}

const refusals = { 400: NestedProblem, 404: NestedProblem }

/** How long wells take from their permit to their first production. */
export const cycleTimeOperations = [
  operation(`GET ${productionPrefix}/cycle-time`, {
    operationId: 'getCycleTime',
    summary: 'Get the time from permit to production',
    description:
      'Returns the days from the permit of a well to its first production, and its stages. Dates ask for the day of first production, and cohorts go by it: of wells permitted lately only the fast ones produce yet. A span whose end lies before its beginning does not count. The fastest and slowest ten are listed.',
    access: productionHeavyAccess,
    query: { ...placeQuery, ...nameQuery },
    answers: { 200: envelope(CycleTime), ...refusals },
    handle: call => {
      const filter = filterOf(call.query)
      const { wells: count, producing } = matchingWells(call, filter)
      const timings = timedWells(producing)
      const stats = statsOf(timings)
      if (!stats) throw noMatch(count)
      const sorted = timings.toSorted(byDays)
      const rowsOf = (fastest: readonly TimedWell<WellDates>[]) =>
        fastest
          .slice(0, topMax)
          .map(timing => cycleRow(timing, call.at.wells.get(timing.well.apiNumber)!.operator))
      return success({
        filters: filtersRow(filter, call.query),
        well_count: count,
        wells_with_cycle_data: timings.length,
        cycle_time_stats: statsRow(stats),
        stage_breakdown: breakdownOf(timings),
        quarterly_cohorts: quartersOf(timings),
        top_fastest: rowsOf(sorted),
        top_slowest: rowsOf(sorted.toReversed()),
      })
    },
  }),
  operation(`GET ${productionPrefix}/cycle-time/cohorts`, {
    operationId: 'listCycleTimeCohorts',
    summary: 'List cycle times by cohort',
    description:
      'Returns wells grouped by quarter, month or year of first production, with the distribution of each group.',
    access: productionHeavyAccess,
    query: {
      ...placeQuery,
      group_by: wordParameter(cohortSpans, '`quarter` (default), `month` or `year`.', 'quarter', {
        default: 'quarter',
      }),
    },
    answers: { 200: envelope(Cohorts), ...refusals },
    handle: call => {
      const groupBy = call.query.group_by?.trim().toLowerCase().slice(0, 100)
      const span = wordOf('group_by', groupBy, cohortSpans[0], cohortSpans)
      const { wells: count, producing } = matchingWells(call, filterOf(call.query))
      const groups = cohortsOf(producing, span)
      if (groups.length === 0) throw noMatch(count)
      return success({ group_by: span, cohorts: Object.fromEntries(groups) })
    },
  }),
]
