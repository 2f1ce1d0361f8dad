import { Elysia, t } from 'elysia'
import type { AccessPlugin } from '../http/access.ts'
import { pageHeaders, pageMeta, pageOf, pageQuery } from '../http/page.ts'
import { invalidParameter, notFound, Problem } from '../http/problem.ts'
import { integerOf } from '../http/query.ts'
import { isoDay } from '../lib/instant.ts'
import { roundTo } from '../market/format.ts'
import { permitFreshness } from '../market/permits.ts'
import { permitStateOf, permitStates } from '../market/us-states.ts'
import { dayAfter } from '../market/window.ts'
import type { Feature } from '../plan/tiers.ts'
import { statePermits } from '../service/permit-activity.ts'
import type { Permits, PermitsHeld } from '../service/permits.ts'
import type { CountedKind } from '../store/permit-counts.ts'
import type { PermitFilter, PermitPage } from '../store/permit-search.ts'
import { TooCommon } from '../store/permit-words.ts'
import type { StoredPermit } from '../store/well-permits.ts'
import type { Answering, Marks } from './answer.ts'
import { markSources } from './drilling-answer.ts'
import { type EiPrefix, eiAccess, eiBody, eiDetail, eiMeta, eiPageQuery, eiRefusals } from './ei-frame.ts'
import { eiIdOf, eiList, eiOne } from './ei-list.ts'
import { permitFilterOf, permitQuery, statesOf, statesQuery } from './ei-permit-query.ts'
import {
  ByFormation,
  ByOperator,
  ByState,
  freshRow,
  LatestPermits,
  Permit,
  PermitList,
  PermitSummary,
  permitRow,
  StateActivity,
} from './ei-permit-row.ts'

export interface EiPermitsDeps {
  access: AccessPlugin
  permits: Permits
  marks: Marks
  now: () => number
  tierRequired(feature: Feature): string
}

export const permitAccess = { ...eiAccess, feature: 'well_permits' as Feature }

const listQuery = t.Object({ ...pageQuery(100, 25), ...permitQuery })
type ListQuery = { [name in keyof typeof listQuery.properties]?: string }

const operatorsInSummary = 100
const changeDays = 30

const listNote =
  'Newest first, with the number of all permits that fit. `as_of` is the newest permit date held for the states of the answer. States publish at their own pace, some every quarter only: `stale_states` names those of which nothing newer than 30 days is held.'

/** What the answers have in common. */
function answers({ permits, marks, now, tierRequired }: EiPermitsDeps) {
  const { search, store, counts } = permits
  const tier = () => tierRequired('energy_intelligence')
  const today = () => isoDay(now())

  const rowsOf = (set: unknown, ids: readonly number[]): StoredPermit[] => {
    const rows = store.rows(ids)
    markSources(set as Answering, marks, rows)
    return rows
  }
  const found = (filter: PermitFilter, limit: number, offset: number): PermitPage => {
    try {
      return search.page(filter, limit, offset)
    } catch (error) {
      if (!(error instanceof TooCommon)) throw error
      throw invalidParameter(filter.wellName === undefined ? 'query' : 'well_name', error.part, `${error.message}: send more of the name.`)
    }
  }
  /** Numbers are not rows: they are invented where the newest permits are. */
  const markStates = (set: unknown, held: PermitsHeld | undefined) =>
    markSources(
      set as Answering,
      marks,
      [...(held?.byState.keys() ?? [])].flatMap(state => counts.sourceOf(state) ?? []).map(source => ({ source })),
    )

  const list = (query: ListQuery, set: unknown, request: Request) => {
    const page = pageOf(query, 100, 25)
    const filter = permitFilterOf(query)
    const { ids, total } = found(filter, page.perPage, (page.page - 1) * page.perPage)
    pageHeaders((set as Answering).headers, request.url, pageMeta(page, total))
    const data = rowsOf(set, ids).map(permitRow)
    const fresh = freshRow(permits.held(filter.states, today()))
    return { data, meta: { ...eiMeta(tier(), total, page), ...fresh }, well_permits: data, ...fresh }
  }

  const latest = (query: { days?: string; states?: string; limit?: string }, set: unknown) => {
    const days = integerOf('days', query.days, 7, 1, 90)
    const limit = integerOf('limit', query.limit, 50, 1, 500)
    const states = statesOf(query.states)
    const filter = { ...(states && { states }), from: dayAfter(today(), 1 - days), to: dayAfter(today(), 1) }
    const { ids, total } = found(filter, limit, 0)
    const held = permits.held(states, today())
    const fresh = freshRow(held)
    const rows = rowsOf(set, ids)
    return {
      data: {
        well_permits: rows.map(permitRow),
        meta: {
          ...{ days, states: states ?? [...(held?.byState.keys() ?? [])], limit, count: rows.length, as_of: fresh.as_of },
          data_quality: qualityOf(held),
        },
      },
      meta: eiMeta(tier(), total, { page: 1, perPage: limit }),
      ...fresh,
    }
  }
  const qualityOf = (held: PermitsHeld | undefined) =>
    Object.fromEntries(
      [...(held?.byState ?? [])].map(([state, newestOn]) => [
        state,
        {
          date_coverage: `${counts.oldestOn(state)} to ${newestOn}`,
          source: counts.sourceOf(state)!,
          note: noteOf(newestOn, today()),
        },
      ]),
    )

  const summary = (set: unknown) => {
    const held = permits.held(undefined, today())
    markStates(set, held)
    const named = (kind: CountedKind, limit: number) =>
      Object.fromEntries(counts.largest(kind, limit, 0).map(one => [one.label, one.permits]))
    const numbers = {
      total_permits: counts.total(),
      by_state: named('state', permitStates.length),
      by_operator: named('operator', operatorsInSummary),
      as_of_date: held?.asOf ?? null,
    }
    return eiOne(numbers, tier())
  }

  const shares = <R>(
    kind: CountedKind,
    query: { page?: string; per_page?: string },
    set: unknown,
    request: Request,
    shape: (name: string) => R,
  ) => {
    const held = permits.held(undefined, today())
    const all = counts.total()
    markStates(set, held)
    const rows = (limit: number, offset: number) => {
      const largest = counts.largest(kind, limit, offset)
      const end = dayAfter(held?.asOf ?? today(), 1)
      const [later, earlier] = [dayAfter(end, -changeDays), dayAfter(end, -2 * changeDays)]
      const ids = largest.map(one => one.id)
      const movements = counts.movements(kind, ids, earlier, later, end)
      return largest.map(one => ({ ...one, ...movements.get(one.id)! }))
    }
    const answer = { set: set as Answering, request, tierRequired: tier() }
    return eiList(query, answer, { total: counts.count(kind), rows }, one => ({
      ...shape(one.label),
      permit_count: one.permits,
      change: one.change,
      percentage: roundTo((100 * one.permits) / all, 2),
      date: one.newestOn,
    }))
  }

  const state = (text: string, set: unknown) => {
    const known = permitStateOf(text)
    if (!known) {
      const served = permitStates.map(one => one.code).join(', ')
      throw new Problem('DATA_NOT_AVAILABLE', `Well permits of ${text.slice(0, 100)} are not served; those of ${served} are.`)
    }
    const one = statePermits(permits, known, today())
    markSources(set as Answering, marks, one.recent)
    const activity = {
      state_code: known.code,
      state_name: known.name,
      permit_count: one.total,
      permits_30d: one.permits30d,
      permits_365d: one.permits365d,
      top_operators: one.topOperators,
      top_counties: one.topCounties.map(({ name, permits: n }) => ({ county: name, permits: n })),
      recent: one.recent.map(permitRow),
      current_activity_status: one.activity.status,
      indexing_recommendation: one.activity.indexing,
      current_activity_reason: one.activity.reason,
      ...freshRow(one.held),
    }
    return eiOne(activity, tier())
  }

  const permit = (id: string, set: unknown) => {
    const row = rowsOf(set, [eiIdOf(id, 'Well permit')])[0]
    if (!row) throw notFound(`Well permit ${id}`)
    return eiOne(permitRow(row), tier())
  }
  return { list, latest, summary, shares, state, permit }
}

function noteOf(newestOn: string, today: string): string {
  const { dataAgeDays, stale } = permitFreshness(newestOn, today)
  if (!stale) return `Newest permit ${dataAgeDays === 1 ? '1 day' : `${dataAgeDays} days`} old.`
  return `Nothing newer than ${newestOn} is held (${dataAgeDays} days): the state publishes its list at longer intervals, or it was not loaded since.`
}

/** Permits to drill wells in 26 states. */
export function eiPermits(deps: EiPermitsDeps, prefix: EiPrefix) {
  const { list, latest, summary, shares, state, permit } = answers(deps)
  const refusals = { 400: eiRefusals[400], 403: eiRefusals[403] }
  const lists = (operationId: string, summaryText: string, description: string) => ({
    access: permitAccess,
    query: listQuery,
    response: { 200: PermitList, ...refusals },
    detail: eiDetail(prefix, { operationId, summary: summaryText, description }),
  })
  const shared = <T extends typeof ByState | typeof ByOperator | typeof ByFormation>(shape: T, operationId: string, by: string) => ({
    access: permitAccess,
    query: t.Object(eiPageQuery),
    response: { 200: eiBody(t.Array(shape), `WellPermitsBy${by[0]!.toUpperCase()}${by.slice(1)}`), ...refusals },
    detail: eiDetail(prefix, {
      operationId,
      summary: `Well permits by ${by}`,
      description: `How many permits each ${by} has, largest first.`,
    }),
  })
  return new Elysia({ prefix })
    .use(deps.access)
    .get(
      '/well-permits',
      ({ query, set, request }) => list(query, set, request),
      lists('listWellPermits', 'Well permits', `${listNote} Takes the filters of the search.`),
    )
    .get(
      '/well-permits/search',
      ({ query, set, request }) => list(query, set, request),
      lists(
        'searchWellPermits',
        'Search well permits',
        `Permits that fit everything that is asked for. ${listNote} A circle is exact to the great-circle distance. Parts of names are found in any case; parts of operators and formations of fewer than three letters are looked for at the beginning of the name.`,
      ),
    )
    .get('/well-permits/latest', ({ query, set }) => latest(query, set), {
      access: permitAccess,
      query: t.Object({
        days: t.Optional(t.String({ description: 'Days back from today, 1 to 90 (7).', examples: ['7'] })),
        ...statesQuery,
        limit: t.Optional(t.String({ description: 'Permits at most, 1 to 500 (50).', examples: ['50'] })),
      }),
      response: { 200: LatestPermits, ...refusals },
      detail: eiDetail(prefix, {
        operationId: 'getLatestWellPermits',
        summary: 'Latest well permits',
        description:
          'Permits of the last days, newest first; `meta.total_count` counts those beyond the limit too. `data_quality` says for each state what days are covered and whether its list has fallen behind.',
      }),
    })
    .get('/well-permits/summary', ({ set }) => summary(set), {
      access: permitAccess,
      response: { 200: eiBody(PermitSummary, 'WellPermitSummaryAnswer'), 403: refusals[403] },
      detail: eiDetail(prefix, {
        operationId: 'getWellPermitSummary',
        summary: 'Numbers of well permits',
        description: 'All permits that are held, by state and by operator.',
      }),
    })
    .get(
      '/well-permits/by-state',
      ({ query, set, request }) => shares('state', query, set, request, name => ({ state: name })),
      shared(ByState, 'getWellPermitsByState', 'state'),
    )
    .get(
      '/well-permits/by-operator',
      ({ query, set, request }) => shares('operator', query, set, request, name => ({ operator: name })),
      shared(ByOperator, 'getWellPermitsByOperator', 'operator'),
    )
    .get(
      '/well-permits/by-formation',
      ({ query, set, request }) => shares('formation', query, set, request, name => ({ formation: name })),
      shared(ByFormation, 'getWellPermitsByFormation', 'formation'),
    )
    .get('/well-permits/states/:state_code', ({ params, set }) => state(params.state_code, set), {
      access: permitAccess,
      params: t.Object({ state_code: t.String({ description: 'Two letters, in any case.', examples: ['TX'] }) }),
      response: { 200: eiBody(StateActivity, 'StateWellPermitsAnswer'), 403: refusals[403], 404: eiRefusals[404] },
      detail: eiDetail(prefix, {
        operationId: 'getStateWellPermits',
        summary: 'Drilling activity of a state',
        description:
          'What permits say about drilling in a state at present. `active`: ten or more permits in the last 30 days, or at least half of what is usual for 30 days of the last 365. `slow`: fewer. `inactive`: none in the last 30 days, and the list of the state was read since. `unknown`: none, and nobody looked since, or nothing is held. The first two are worth indexing.',
      }),
    })
    .get('/well-permits/:id', ({ params, set }) => permit(params.id, set), {
      access: permitAccess,
      params: t.Object({ id: t.String({ description: 'Number of the permit.', examples: ['1'] }) }),
      response: { 200: eiBody(Permit, 'WellPermitAnswer'), 403: refusals[403], 404: eiRefusals[404] },
      detail: eiDetail(prefix, {
        operationId: 'getWellPermit',
        summary: 'A well permit',
        description: 'One permit by its number here. Numbers follow the permits in the order in which they came in.',
      }),
    })
}
