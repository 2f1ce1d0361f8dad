import { t } from 'elysia'
import { typed } from '../../../http/input/typed.ts'
import { operation } from '../../../http/operations/operation.ts'
import type { Feature } from '../../../plans/tiers.ts'
import {
  energyAccess,
  energyBody,
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
export function permitOperations(deps: PermitsDeps) {
  const { list, latest, permit } = createPermitListAnswers(deps)
  const { summary, shares } = createPermitCountAnswers(deps)
  const state = createStateActivityAnswer(deps)
  const refusals = { 400: energyRefusals[400], 403: energyRefusals[403] }
  const listRoute = (operationId: string, summaryText: string, description: string) => ({
    operationId,
    summary: summaryText,
    description,
    tags: ['Energy intelligence'],
    access: permitHeavyAccess,
    query: permitListQuery.properties,
    answers: { 200: PermitList, ...refusals },
  })
  const sharesRoute = <T extends typeof ByState | typeof ByOperator | typeof ByFormation>(
    shape: T,
    operationId: string,
    by: string,
  ) => ({
    operationId,
    summary: `Well permits by ${by}`,
    description: `How many permits each ${by} has, largest first.`,
    tags: ['Energy intelligence'],
    access: permitHeavyAccess,
    query: energyPageQuery,
    answers: {
      200: energyBody(t.Array(shape), `WellPermitsBy${by[0]!.toUpperCase()}${by.slice(1)}`),
      ...refusals,
    },
  })
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits',
      aliases: ['/v1/dark_data/well-permits'],
      ...listRoute(
        'listWellPermits',
        'Well permits',
        `${listNote} Takes the filters of the search.`,
      ),
      handle: ({ query, reply, request }) => list(query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/search',
      aliases: ['/v1/dark_data/well-permits/search'],
      ...listRoute(
        'searchWellPermits',
        'Search well permits',
        `Permits that fit everything that is asked for. ${listNote} A circle is exact to the great-circle distance. Parts of names are found in any case; parts of operators and formations of fewer than three letters are looked for at the beginning of the name.`,
      ),
      handle: ({ query, reply, request }) => list(query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/latest',
      aliases: ['/v1/dark_data/well-permits/latest'],
      operationId: 'getLatestWellPermits',
      summary: 'Latest well permits',
      description:
        'Permits of the last days, newest first; `meta.total_count` counts those beyond the limit too. `data_quality` says for each state what days are covered and whether its list has fallen behind.',
      tags: ['Energy intelligence'],
      access: permitAccess,
      query: {
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
      },
      answers: { 200: LatestPermits, ...refusals },
      handle: ({ query, reply }) => latest(query, reply),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/summary',
      aliases: ['/v1/dark_data/well-permits/summary'],
      operationId: 'getWellPermitSummary',
      summary: 'Numbers of well permits',
      description: 'All permits that are held, by state and by operator.',
      tags: ['Energy intelligence'],
      access: permitHeavyAccess,
      answers: { 200: energyBody(PermitSummary, 'WellPermitSummaryAnswer'), 403: refusals[403] },
      handle: ({ reply }) => summary(reply),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/by-state',
      aliases: ['/v1/dark_data/well-permits/by-state'],
      ...sharesRoute(ByState, 'getWellPermitsByState', 'state'),
      handle: ({ query, reply, request }) =>
        shares('state', query, reply, request, name => ({ state: name })),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/by-operator',
      aliases: ['/v1/dark_data/well-permits/by-operator'],
      ...sharesRoute(ByOperator, 'getWellPermitsByOperator', 'operator'),
      handle: ({ query, reply, request }) =>
        shares('operator', query, reply, request, name => ({ operator: name })),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/by-formation',
      aliases: ['/v1/dark_data/well-permits/by-formation'],
      ...sharesRoute(ByFormation, 'getWellPermitsByFormation', 'formation'),
      handle: ({ query, reply, request }) =>
        shares('formation', query, reply, request, name => ({ formation: name })),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/states/:state_code',
      aliases: ['/v1/dark_data/well-permits/states/:state_code'],
      operationId: 'getStateWellPermits',
      summary: 'Drilling activity of a state',
      description:
        'What permits say about drilling in a state at present. `active`: ten or more permits in the last 30 days, or at least half of what is usual for 30 days of the last 365. `slow`: fewer. `inactive`: none in the last 30 days, and the list of the state was read since. `unknown`: none, and nobody looked since, or nothing is held. The first two are worth indexing.',
      tags: ['Energy intelligence'],
      access: permitHeavyAccess,
      params: {
        state_code: t.String({ description: 'Two letters, in any case.', examples: ['TX'] }),
      },
      answers: {
        200: energyBody(StateActivity, 'StateWellPermitsAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      handle: ({ params, reply }) => state(params.state_code, reply),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/well-permits/:id',
      aliases: ['/v1/dark_data/well-permits/:id'],
      operationId: 'getWellPermit',
      summary: 'A well permit',
      description:
        'One permit by its number here. Numbers follow the permits in the order in which they came in.',
      tags: ['Energy intelligence'],
      access: permitAccess,
      params: { id: t.String({ description: 'Number of the permit.', examples: ['1'] }) },
      answers: {
        200: energyBody(Permit, 'WellPermitAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      handle: ({ params, reply }) => permit(params.id, reply),
    }),
  ]
}
