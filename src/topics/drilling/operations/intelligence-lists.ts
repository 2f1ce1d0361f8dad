import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atMoment, knownQuery } from '../../../http/operations/point-in-time.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter } from '../../calendars/math/period.ts'
import { Day, daysOf, markSources, orNull } from '../../energy/operations/answer.ts'
import {
  energyBody,
  energyHeavyAccess,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import { energyPage } from '../../energy/operations/list.ts'
import { keptBasins } from '../math/drilling.ts'
import { stateOf, statesLedBy } from '../math/states.ts'
import type { DrillingMetric } from '../store/metrics.ts'
import { basinIn, regionQuery, requestedBasins, stateIn } from './answer.ts'
import type { DrillingIntelligenceDeps } from './intelligence.ts'

const tags = ['Energy intelligence']
const everyBasin = keptBasins.map(basin => basin.key)
const Basin = t.String({ examples: ['permian'] })
const change = orNull(integer({ examples: [-3] }), 'Against the count before; null for the first.')
const listQuery = t.Object({ ...energyPageQuery, ...regionQuery })
const countQuery = t.Object({ ...energyPageQuery, ...regionQuery, ...knownQuery })

type Query = {
  page?: string
  per_page?: string
  start_date?: string
  end_date?: string
  as_of?: string
  basin?: string
  state?: string
}

const FracRow = t.Object(
  { basin: Basin, active_spreads: integer({ examples: [92] }), change, date: Day },
  { title: 'BasinFracSpreads' },
)
const DucRow = t.Object(
  { basin: Basin, duc_count: integer({ examples: [890] }), change, date: Day },
  { title: 'BasinDucCount' },
)
const CompletionRow = t.Object(
  { basin: Basin, completions: integer({ examples: [398] }), change, date: Day },
  { title: 'BasinCompletions' },
)
const DrilledRow = t.Object(
  { basin: Basin, wells_drilled: integer({ examples: [401] }), change, date: Day },
  { title: 'BasinWellsDrilled' },
)
const PermitRow = t.Object(
  {
    state: t.String({ examples: ['TX'] }),
    basin: orNull(Basin, 'The leading one of those that reach into the state.'),
    permits: integer({ description: 'New permits dated in the month.', examples: [640] }),
    change: orNull(
      integer({ examples: [-12] }),
      'Against the month before; null for the first month held.',
    ),
    date: t.String({
      format: 'date',
      description: 'First day of the month.',
      examples: ['2026-11-01'],
    }),
  },
  { title: 'StatePermits' },
)

/** Lists of one metric each. A state stands for the basins that reach into it. */
export const drillingListOperations = (deps: DrillingIntelligenceDeps) => [
  ...countOperations(deps),
  ...wellOperations(deps),
  ...statePermitOperations(deps),
]

/** Rows of one metric by basin, newest first. */
function metricLists(deps: DrillingIntelligenceDeps) {
  const { metrics } = deps.drilling
  const tier = () => deps.tierRequired('energy_intelligence')
  return (metric: DrillingMetric, query: Query, set: Answering, request: Request) => {
    const filter = { ...daysOf(query), metric, regions: requestedBasins(query) ?? everyBasin }
    const rows = (limit: number, offset: number) => {
      const page = metrics.page(filter, limit, offset)
      markSources(set, deps.marks, page)
      return page
    }
    return atMoment(deps, query, set, () =>
      energyPage(
        query,
        { set, request, tierRequired: tier() },
        { total: metrics.count(filter), rows },
        row => {
          const previous = metrics.before(metric, row.region, row.countedOn)
          return {
            basin: row.region,
            value: row.value,
            change: previous === undefined ? null : row.value - previous,
            date: row.countedOn,
          }
        },
      ),
    )
  }
}

const detailOf = (operationId: string, summary: string, subject: string) => ({
  operationId,
  tags,
  summary,
  description: `${subject} by basin, newest first. With \`state\`, of the basins that reach into it.`,
})

function countOperations(deps: DrillingIntelligenceDeps) {
  const list = metricLists(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/drilling-intelligence/frac-spreads',
      ...detailOf(
        'listDrillingFracSpreads',
        'Frac spreads of basins',
        'Active hydraulic fracturing crews',
      ),
      access: energyHeavyAccess,
      query: countQuery.properties,
      answers: { 200: energyBody(t.Array(FracRow), 'DrillingFracSpreads'), ...energyRefusals },
      handle: ({ query, reply, request }) => {
        const { data, meta } = list('frac_spreads', query, reply, request)
        return {
          data: data.map(({ basin, value, ...row }) => ({ basin, active_spreads: value, ...row })),
          meta,
        }
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/drilling-intelligence/duc-wells',
      ...detailOf(
        'listDrillingDucWells',
        'Uncompleted wells of basins',
        'Wells that are drilled and wait for completion, each month',
      ),
      access: energyHeavyAccess,
      query: countQuery.properties,
      answers: { 200: energyBody(t.Array(DucRow), 'DrillingDucWells'), ...energyRefusals },
      handle: ({ query, reply, request }) => {
        const { data, meta } = list('duc_wells', query, reply, request)
        return {
          data: data.map(({ basin, value, ...row }) => ({ basin, duc_count: value, ...row })),
          meta,
        }
      },
    }),
  ]
}

function wellOperations(deps: DrillingIntelligenceDeps) {
  const list = metricLists(deps)
  return [
    operation({
      method: 'GET',
      path: '/v1/drilling-intelligence/completions',
      ...detailOf(
        'listDrillingCompletions',
        'Completions of basins',
        'Wells completed in each month',
      ),
      access: energyHeavyAccess,
      query: countQuery.properties,
      answers: {
        200: energyBody(t.Array(CompletionRow), 'DrillingCompletions'),
        ...energyRefusals,
      },
      handle: ({ query, reply, request }) => {
        const { data, meta } = list('completions', query, reply, request)
        return {
          data: data.map(({ basin, value, ...row }) => ({ basin, completions: value, ...row })),
          meta,
        }
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/drilling-intelligence/wells-drilled',
      ...detailOf(
        'listDrillingWellsDrilled',
        'Wells drilled in basins',
        'Wells drilled in each month',
      ),
      access: energyHeavyAccess,
      query: countQuery.properties,
      answers: {
        200: energyBody(t.Array(DrilledRow), 'DrillingWellsDrilled'),
        ...energyRefusals,
      },
      handle: ({ query, reply, request }) => {
        const { data, meta } = list('wells_drilled', query, reply, request)
        return {
          data: data.map(({ basin, value, ...row }) => ({ basin, wells_drilled: value, ...row })),
          meta,
        }
      },
    }),
  ]
}

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
  { permits, now }: DrillingIntelligenceDeps,
  states: readonly string[],
  fromOn: string,
  toOn: string,
): StateMonth[] {
  const firstMonths = states.toSorted().flatMap(state => {
    const first = permits.oldestOn(state)?.slice(0, 7)
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

/** States of a query; a basin stands for the states that it leads in. */
function requestedStates({ permits }: DrillingIntelligenceDeps, query: Query): string[] {
  const inState = query.state ? stateIn(query.state).code : undefined
  const ledStates = query.basin ? statesLedBy(basinIn(query.basin)) : undefined
  return [...permits.newestByState().keys()].filter(
    code => (inState ?? code) === code && (ledStates?.includes(code) ?? true),
  )
}

function statePermitOperations(deps: DrillingIntelligenceDeps) {
  const { permits } = deps
  const inMonth = (state: string, month: string) =>
    permits.between(state, `${month}-01`, `${monthAfter(month, 1)}-01`)
  return [
    operation({
      method: 'GET',
      path: '/v1/drilling-intelligence/well-permits',
      operationId: 'listDrillingPermits',
      summary: 'New permits by state and month',
      description:
        'New permits to drill, by the month of their date, newest first; the running month is not over. With `basin`, of the states that it leads in.',
      tags: tags,
      access: energyHeavyAccess,
      query: listQuery.properties,
      answers: { 200: energyBody(t.Array(PermitRow), 'DrillingPermits'), ...energyRefusals },
      handle: ({ query, reply, request }) => {
        const { fromOn, toOn } = daysOf(query)
        const months = monthsWithPermits(deps, requestedStates(deps, query), fromOn, toOn)
        const answer = {
          set: reply,
          request,
          tierRequired: deps.tierRequired('energy_intelligence'),
        }
        const rows = (limit: number, offset: number) => {
          const page = months.slice(offset, offset + limit)
          const sources = [...new Set(page.map(row => row.state))].map(state => ({
            source: permits.sourceOf(state) ?? '',
          }))
          markSources(reply, deps.marks, sources)
          return page
        }
        return energyPage(
          query,
          answer,
          { total: months.length, rows },
          ({ state, month, isFirst }) => {
            const count = inMonth(state, month)
            const before = isFirst ? undefined : inMonth(state, monthAfter(month, -1))
            return {
              state,
              basin: stateOf(state)?.basins[0] ?? null,
              permits: count,
              change: before === undefined ? null : count - before,
              date: `${month}-01`,
            }
          },
        )
      },
    }),
  ]
}
