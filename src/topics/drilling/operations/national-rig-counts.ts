import type { Stored } from '../../../database/dataset-store.ts'
import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { weekNameOf } from '../../calendars/math/weeks.ts'
import { Day, markSources, requireData, Stamp } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { RigCount } from '../dataset/counts.ts'
import { countSpanOf, countSpans, countTrend } from '../math/change.ts'
import { country } from '../math/drilling.ts'
import { coverageOf, firstRigCountOn } from '../math/period.ts'
import { Age, ageOf } from './answer.ts'
import { newestOn } from './regional.ts'
import { historyQuery, requestedRange } from './rig-count-range.ts'
import {
  basinMap,
  comparedDays,
  nationalRigs,
  published,
  RigTypeCounts,
  rigChanges,
  rigCounts,
  rigTypeCounts,
  Span,
} from './rig-count-row.ts'

const perPageMax = 100
const tags = ['Drilling']
const spans =
  'A month is 4 weeks, a quarter 13 and a year 52, so that a Friday is compared with a Friday.'

const count = t.integerOrNull('Null where the source has the total alone.', 413)
const byType = { oil: count, gas: count, misc: count }
const change = t.integerOrNull('Null where the count to compare with is missing.', -2)
const total = t.integer({ examples: [546] })

const PastWeek = t.object('RigCountWeek', {
  date: Day,
  week: t.String({ examples: ['2026-W47'] }),
  total,
  ...byType,
  ...RigTypeCounts,
  span: Span,
})
export type RigCountWeek = (typeof PastWeek)['static']

const Covered = t.object('RigCountCoverage', {
  from: Day,
  to: Day,
  coverage_from: t.orNull(Day, 'First day of the range that has a count.'),
  coverage_to: t.orNull(Day, 'Last one.'),
  earliest_available: t.date('First day of all that has a count.', firstRigCountOn),
  observations: t.integer('Counts in the range, on all pages.', 261),
  complete: t.boolean(
    'Every week of the range that has been published has a count, and the range begins no earlier than the counts.',
  ),
})
const History = t.object('RigCountHistoryPage', {
  status: t.Literal('success'),
  data: t.Array(PastWeek),
  period: Covered,
  meta: PageMetaShape,
})
const Latest = t.object('CurrentRigCount', {
  total,
  ...byType,
  ...RigTypeCounts,
  breakdown: t.Object(byType),
  change,
  change_from_prior_week: change,
  year_over_year_change: change,
  region: t.Literal('US'),
  unit: t.Literal('rigs'),
  date: Day,
  week_ending: Day,
  timestamp: Stamp,
  source: t.String({ examples: ['Rig survey'] }),
  ...Age,
})
const percent = t.orNull(t.Number({ examples: [-2.13] }))
const Trend = t.object('RigCountTrend', {
  period: t.oneOf(['week', 'month', 'quarter', 'year']),
  average: t.Number({ examples: [548.2] }),
  min: total,
  max: total,
  trend: t.oneOf(['up', 'down', 'flat']),
  change: t.integer({ examples: [-12] }),
  change_percent: percent,
  growth_rate: percent,
  weekly_change: change,
  monthly_change: change,
  yearly_change: change,
  from: Day,
  to: Day,
})
const Summary = t.object('RigCountSummary', {
  current: total,
  total,
  total_rigs: total,
  week_change: change,
  month_change: change,
  year_change: change,
  breakdown: t.Object(byType),
  by_type: t.Object(byType),
  by_region: t.Record(t.String(), t.integer(), { examples: [{ permian: 251, eagle_ford: 44 }] }),
  date: Day,
  timestamp: Stamp,
})

const typesOf = ({ oil, gas, misc }: RigCount) => ({ oil, gas, misc })

function newestOf(call: EnergyCall): Stored<RigCount> {
  const on = newestOn(nationalRigs, call, nationalRigs.regions)
  const [row] = call.at.drilling.rigs.between(country, on, dayAfter(on, 1))
  return markSources(call, [row!])[0]!
}

const latest = (name: string, operationId: string, use?: string) =>
  operation(`GET /v1/rig-counts/${name}`, {
    operationId,
    summary: 'Get the latest national rig count',
    ...(use !== undefined && { deprecated: { use } }),
    description: `Returns the newest count of the country by target, with the changes over one week and 52 weeks. ${published}`,
    tags,
    access: energy.access,
    view: 'as_of',
    answers: { 200: envelope(Latest), ...energy.refusals },
    handle({ at, reply }) {
      const row = newestOf({ at, reply })
      const { week, year } = rigChanges(at.drilling.rigs, country, row.countedOn)
      return success({
        total: row.total,
        ...typesOf(row),
        ...rigTypeCounts(row),
        breakdown: typesOf(row),
        change: week,
        change_from_prior_week: week,
        year_over_year_change: year,
        region: 'US' as const,
        unit: 'rigs' as const,
        date: row.countedOn,
        week_ending: row.countedOn,
        timestamp: isoInstant(row.recordedAt),
        source: row.source,
        ...ageOf('week', row.countedOn, at.now()),
      })
    },
  })

/** National rig counts outside the prefix of energy intelligence. */
export const rigCountOperations = [
  operation('GET /v1/rig-counts/historical', {
    operationId: 'getNationalRigCountHistory',
    summary: 'List the national rig count over a period',
    description: `Returns weekly counts of the country, newest first, over up to 15 years, with their coverage of the period. \`by_period[from]\` and \`by_period[to]\` (or \`start_date\` and \`end_date\`) win over \`period\`; one of them alone takes its other end from \`period\` or today. ${published}`,
    tags,
    access: energy.heavyAccess,
    view: 'as_of',
    page: { max: perPageMax },
    query: historyQuery,
    answers: { 200: History, ...energy.refusals },
    handle: ({ at, query, page, reply }) => {
      const { rigs } = at.drilling
      const now = at.now()
      const { fromOn, toOn } = requestedRange(query, now)
      const end = dayAfter(toOn, 1)
      const earliestOn = rigs.firstOn(country)
      const counts = rigs.between(country, fromOn, end)
      const rows = counts.toReversed().slice(page.offset, page.offset + page.perPage)
      markSources({ at, reply }, rows)
      const days = counts.map(row => row.countedOn)
      const coverage = coverageOf(days, { fromOn, toOn, earliestOn, now })
      return {
        status: 'success' as const,
        data: rows.map(row => ({
          date: row.countedOn,
          week: weekNameOf(row.countedOn),
          total: row.total,
          ...typesOf(row),
          ...rigTypeCounts(row),
          span: row.span,
        })),
        period: {
          from: fromOn,
          to: toOn,
          coverage_from: coverage.from ?? null,
          coverage_to: coverage.to ?? null,
          earliest_available: earliestOn ?? firstRigCountOn,
          observations: coverage.observations,
          complete: coverage.complete,
        },
        meta: page.meta(counts.length),
      }
    },
  }),
  latest('latest', 'getNationalRigCount'),
  latest('current', 'getNationalRigCountAlias', '/v1/rig-counts/latest'),
  operation('GET /v1/rig-counts/trends', {
    operationId: 'getNationalRigCountTrend',
    summary: 'Get the trend of the national rig count',
    description: `Returns the average, lowest and highest count of the period up to the newest count, and the change over the period: \`up\` or \`down\` when it is more than one percent, \`flat\` otherwise. \`growth_rate\` is the same percentage. ${spans}`,
    tags,
    access: energy.heavyAccess,
    view: 'as_of',
    query: {
      period: wordParameter(
        countSpans,
        '`week`, `month` (default), `quarter` or `year`; `weekly` and the like too. `daily` is a week.',
        'month',
        { default: 'month' },
      ),
    },
    answers: { 200: envelope(Trend), ...energy.refusals },
    handle: ({ at, query, reply }) => {
      const { rigs } = at.drilling
      const span = countSpanOf(query.period || 'month')
      if (!span) throw invalidParameter('period', query.period, countSpans)
      const row = newestOf({ at, reply })
      const possibleTrend = countTrend(rigCounts(rigs, country, row.countedOn, comparedDays), span)
      const trend = requireData(possibleTrend, 'weekly rig counts', 'rig-counts')
      const { week, month, year } = rigChanges(rigs, country, row.countedOn)
      const changePercent = trend.changePercent ?? null
      return success(
        answerRow(Trend, trend, {
          period: span,
          change_percent: changePercent,
          growth_rate: changePercent,
          weekly_change: week,
          monthly_change: month,
          yearly_change: year,
        }),
      )
    },
  }),
  operation('GET /v1/rig-counts/summary', {
    operationId: 'getNationalRigCountSummary',
    summary: 'Get a summary of the national rig count',
    description: `Returns the newest count with its changes, by target and by basin. ${spans} ${published}`,
    tags,
    access: energy.heavyAccess,
    view: 'as_of',
    answers: { 200: envelope(Summary), ...energy.refusals },
    handle: ({ at, reply }) => {
      const { rigs } = at.drilling
      const row = newestOf({ at, reply })
      const { week, month, year } = rigChanges(rigs, country, row.countedOn)
      const types = typesOf(row)
      return success({
        current: row.total,
        total: row.total,
        total_rigs: row.total,
        week_change: week,
        month_change: month,
        year_change: year,
        breakdown: types,
        by_type: types,
        by_region: basinMap(rigs.on(row.countedOn)),
        date: row.countedOn,
        timestamp: isoInstant(row.recordedAt),
      })
    },
  }),
]
