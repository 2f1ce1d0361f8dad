import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { Day, daysOf, markSources } from '../../energy/operations/answer.ts'
import { energy, pagedRows } from '../../energy/operations/frame.ts'
import { storedBasins } from '../math/drilling.ts'
import { stateOf, statesLedBy } from '../math/states.ts'
import type { DrillingMetric } from '../store/metrics.ts'
import type { PermitCounts } from '../store/permit-counts.ts'
import { basinIn, regionQuery, requestedBasins, stateIn } from './answer.ts'

const everyBasin = storedBasins.map(basin => basin.key)
const Basin = t.String({ examples: ['permian'] })
const change = t.integerOrNull('Against the count before; null for the first.', -3)

type Query = { [name in keyof typeof regionQuery]?: string }

const PermitRow = t.object('StatePermits', {
  state: t.String({ examples: ['TX'] }),
  basin: t.orNull(Basin, 'The largest of the basins that extend into the state.'),
  permits: t.integer('New permits dated in the month.', 640),
  change: t.integerOrNull('Against the month before; null for the first month held.', -12),
  date: t.date('First day of the month.', '2026-11-01'),
})

/** Rows of one metric by basin, newest first. A state selects the basins that reach into it. */
const metricList = ({
  subject,
  metric,
  row,
  field,
  example,
  ...definition
}: {
  path: string
  operationId: string
  summary: string
  subject: string
  title: string
  metric: DrillingMetric
  /** Name of a row in the document. */
  row: string
  /** The field of the count, and an example of it. */
  field: string
  example: number
}) =>
  energy.pages({
    ...definition,
    description: `Returns ${subject} by basin, newest first. With \`state\`, for the basins that extend into it.`,
    access: energy.heavyAccess,
    view: 'as_of',
    query: regionQuery,
    row: t.object(row, {
      basin: Basin,
      [field]: t.integer({ examples: [example] }),
      change,
      date: Day,
    }),
    list(call) {
      const { metrics } = call.at.drilling
      const regions = requestedBasins(call.query) ?? everyBasin
      return pagedRows(metrics, { ...daysOf(call.query), metric, regions }, rows =>
        markSources(call, rows).map(({ region, value, countedOn }) => {
          const previous = metrics.before(metric, region, countedOn)
          return {
            basin: region,
            [field]: value,
            change: previous === undefined ? null : value - previous,
            date: countedOn,
          }
        }),
      )
    },
  })

interface StateMonth {
  state: string
  month: string
  isFirst: boolean
}

/**
 * The months of each state from its first permit to the running one, newest first and then by
 * state, as far as the days reach.
 */
function monthsWithPermits(
  { permits: { counts }, now }: Context,
  states: readonly string[],
  fromOn: string,
  toOn: string,
): StateMonth[] {
  const firstMonths = states.toSorted().flatMap(state => {
    const first = counts.oldestOn(state)?.slice(0, 7)
    return first === undefined ? [] : { state, first }
  })
  const months: StateMonth[] = []
  let begun = firstMonths
  for (let month = isoDay(now()).slice(0, 7); begun.length > 0; month = monthAfter(month, -1)) {
    begun = begun.filter(({ first }) => first <= month)
    const day = `${month}-01`
    if (day >= fromOn && day < toOn)
      for (const { state, first } of begun) months.push({ state, month, isFirst: month === first })
  }
  return months
}

/** States of a query; a basin selects the states in which it is the leading one. */
function requestedStates(counts: PermitCounts, query: Query): string[] {
  const inState = query.state ? stateIn(query.state).code : undefined
  const ledStates = query.basin ? statesLedBy(basinIn(query.basin)) : undefined
  return [...counts.newestByState().keys()].filter(
    code => (inState ?? code) === code && (ledStates?.includes(code) ?? true),
  )
}

export const drillingListOperations = [
  metricList({
    path: '/v1/drilling-intelligence/frac-spreads',
    operationId: 'listDrillingFracSpreads',
    summary: 'List frac spread metrics of basins',
    subject: 'active hydraulic fracturing crews',
    title: 'DrillingFracSpreads',
    metric: 'frac_spreads',
    row: 'BasinFracSpreads',
    field: 'active_spreads',
    example: 92,
  }),
  metricList({
    path: '/v1/drilling-intelligence/duc-wells',
    operationId: 'listDrillingDucWells',
    summary: 'List uncompleted-well metrics of basins',
    subject: 'drilled but uncompleted wells, each month',
    title: 'DrillingDucWells',
    metric: 'duc_wells',
    row: 'BasinDucCount',
    field: 'duc_count',
    example: 890,
  }),
  metricList({
    path: '/v1/drilling-intelligence/completions',
    operationId: 'listDrillingCompletions',
    summary: 'List well completions of basins',
    subject: 'wells completed in each month',
    title: 'DrillingCompletions',
    metric: 'completions',
    row: 'BasinCompletions',
    field: 'completions',
    example: 398,
  }),
  metricList({
    path: '/v1/drilling-intelligence/wells-drilled',
    operationId: 'listDrillingWellsDrilled',
    summary: 'List wells drilled in basins',
    subject: 'wells drilled in each month',
    title: 'DrillingWellsDrilled',
    metric: 'wells_drilled',
    row: 'BasinWellsDrilled',
    field: 'wells_drilled',
    example: 401,
  }),
  energy.pages({
    path: '/v1/drilling-intelligence/well-permits',
    operationId: 'listDrillingPermits',
    summary: 'List new well permits by state and month',
    description:
      'Returns new drilling permits by month, newest first; the current month is incomplete. With `basin`, for the states that it leads in.',
    access: energy.heavyAccess,
    query: regionQuery,
    title: 'DrillingPermits',
    row: PermitRow,
    list(call) {
      const { counts } = call.at.permits
      const { fromOn, toOn } = daysOf(call.query)
      const months = monthsWithPermits(call.at, requestedStates(counts, call.query), fromOn, toOn)
      const inMonth = (state: string, month: string) =>
        counts.between(state, `${month}-01`, `${monthAfter(month, 1)}-01`)
      const rows = (limit: number, offset: number) => {
        const page = months.slice(offset, offset + limit)
        const states = [...new Set(page.map(row => row.state))]
        markSources(
          call,
          states.map(state => ({ source: counts.sourceOf(state) ?? '' })),
        )
        return page.map(({ state, month, isFirst }) => {
          const count = inMonth(state, month)
          const before = isFirst ? undefined : inMonth(state, monthAfter(month, -1))
          return {
            state,
            basin: stateOf(state)?.basins[0] ?? null,
            permits: count,
            change: before === undefined ? null : count - before,
            date: `${month}-01`,
          }
        })
      }
      return { total: months.length, rows }
    },
  }),
]
