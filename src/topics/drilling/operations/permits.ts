import { t } from 'elysia'
import { typed } from '../../../http/input/typed.ts'
import { RouteList } from '../../../http/route-list.ts'
import type { Feature } from '../../../plans/tiers.ts'
import {
  type EnergyPrefix,
  energyAccess,
  energyBody,
  energyDetail,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import {
  createPermitCountAnswers,
  createPermitListAnswers,
  createStateActivityAnswer,
  type PermitsDeps,
  permitListQuery,
} from './permit-answers.ts'
import { statesQuery } from './permit-query.ts'
import {
  ByFormation,
  ByOperator,
  ByState,
  LatestPermits,
  Permit,
  PermitList,
  PermitSummary,
  StateActivity,
} from './permit-row.ts'

export const permitAccess = { ...energyAccess, feature: 'well_permits' as Feature }
const permitHeavyAccess = { ...permitAccess, heavy: true } as const

const listNote =
  'Newest first, with the number of all permits that fit. `as_of` is the newest permit date held for the states of the answer. States publish at their own pace, some every quarter only: `stale_states` names those of which nothing newer than 30 days is held.'

/** Permits to drill wells in 26 states. */
export function permitRoutes(deps: PermitsDeps, prefix: EnergyPrefix) {
  const { list, latest, permit } = createPermitListAnswers(deps)
  const { summary, shares } = createPermitCountAnswers(deps)
  const state = createStateActivityAnswer(deps)
  const refusals = { 400: energyRefusals[400], 403: energyRefusals[403] }
  const listRoute = (operationId: string, summaryText: string, description: string) => ({
    access: permitHeavyAccess,
    query: permitListQuery,
    response: { 200: PermitList, ...refusals },
    detail: energyDetail(prefix, { operationId, summary: summaryText, description }),
  })
  const sharesRoute = <T extends typeof ByState | typeof ByOperator | typeof ByFormation>(
    shape: T,
    operationId: string,
    by: string,
  ) => ({
    access: permitHeavyAccess,
    query: t.Object(energyPageQuery),
    response: {
      200: energyBody(t.Array(shape), `WellPermitsBy${by[0]!.toUpperCase()}${by.slice(1)}`),
      ...refusals,
    },
    detail: energyDetail(prefix, {
      operationId,
      summary: `Well permits by ${by}`,
      description: `How many permits each ${by} has, largest first.`,
    }),
  })
  return new RouteList({ prefix })
    .use(deps.access)
    .get(
      '/well-permits',
      ({ query, set, request }) => list(query, set, request),
      listRoute('listWellPermits', 'Well permits', `${listNote} Takes the filters of the search.`),
    )
    .get(
      '/well-permits/search',
      ({ query, set, request }) => list(query, set, request),
      listRoute(
        'searchWellPermits',
        'Search well permits',
        `Permits that fit everything that is asked for. ${listNote} A circle is exact to the great-circle distance. Parts of names are found in any case; parts of operators and formations of fewer than three letters are looked for at the beginning of the name.`,
      ),
    )
    .get('/well-permits/latest', ({ query, set }) => latest(query, set), {
      access: permitAccess,
      query: t.Object({
        days: typed({
          type: 'integer',
          description: 'Days back from today, 1 to 90 (7).',
          examples: [7],
          default: 7,
          minimum: 1,
          maximum: 90,
        }),
        ...statesQuery,
        limit: typed({
          type: 'integer',
          description: 'Permits at most, 1 to 500 (50).',
          examples: [50],
          default: 50,
          minimum: 1,
          maximum: 500,
        }),
      }),
      response: { 200: LatestPermits, ...refusals },
      detail: energyDetail(prefix, {
        operationId: 'getLatestWellPermits',
        summary: 'Latest well permits',
        description:
          'Permits of the last days, newest first; `meta.total_count` counts those beyond the limit too. `data_quality` says for each state what days are covered and whether its list has fallen behind.',
      }),
    })
    .get('/well-permits/summary', ({ set }) => summary(set), {
      access: permitHeavyAccess,
      response: { 200: energyBody(PermitSummary, 'WellPermitSummaryAnswer'), 403: refusals[403] },
      detail: energyDetail(prefix, {
        operationId: 'getWellPermitSummary',
        summary: 'Numbers of well permits',
        description: 'All permits that are held, by state and by operator.',
      }),
    })
    .get(
      '/well-permits/by-state',
      ({ query, set, request }) => shares('state', query, set, request, name => ({ state: name })),
      sharesRoute(ByState, 'getWellPermitsByState', 'state'),
    )
    .get(
      '/well-permits/by-operator',
      ({ query, set, request }) =>
        shares('operator', query, set, request, name => ({ operator: name })),
      sharesRoute(ByOperator, 'getWellPermitsByOperator', 'operator'),
    )
    .get(
      '/well-permits/by-formation',
      ({ query, set, request }) =>
        shares('formation', query, set, request, name => ({ formation: name })),
      sharesRoute(ByFormation, 'getWellPermitsByFormation', 'formation'),
    )
    .get('/well-permits/states/:state_code', ({ params, set }) => state(params.state_code, set), {
      access: permitHeavyAccess,
      params: t.Object({
        state_code: t.String({ description: 'Two letters, in any case.', examples: ['TX'] }),
      }),
      response: {
        200: energyBody(StateActivity, 'StateWellPermitsAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      detail: energyDetail(prefix, {
        operationId: 'getStateWellPermits',
        summary: 'Drilling activity of a state',
        description:
          'What permits say about drilling in a state at present. `active`: ten or more permits in the last 30 days, or at least half of what is usual for 30 days of the last 365. `slow`: fewer. `inactive`: none in the last 30 days, and the list of the state was read since. `unknown`: none, and nobody looked since, or nothing is held. The first two are worth indexing.',
      }),
    })
    .get('/well-permits/:id', ({ params, set }) => permit(params.id, set), {
      access: permitAccess,
      params: t.Object({ id: t.String({ description: 'Number of the permit.', examples: ['1'] }) }),
      response: {
        200: energyBody(Permit, 'WellPermitAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      detail: energyDetail(prefix, {
        operationId: 'getWellPermit',
        summary: 'A well permit',
        description:
          'One permit by its number here. Numbers follow the permits in the order in which they came in.',
      }),
    })
}
