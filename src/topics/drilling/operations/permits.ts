import type { Static, TSchema } from 'elysia'
import { t } from '../../../http/answer/schema.ts'
import { parsed } from '../../../http/input/typed.ts'
import type { Feature } from '../../../plans/tiers.ts'
import { energy } from '../../energy/operations/frame.ts'
import type { CountedKind } from '../store/permit-counts.ts'
import {
  latestPermits,
  markedPermits,
  permitList,
  permitShares,
  permitSummary,
  stateActivity,
} from './permit-answers.ts'
import { permitQuery, statesOf, statesQuery } from './permit-query.ts'
import {
  ByFormation,
  ByOperator,
  ByState,
  LatestPermits,
  Permit,
  PermitList,
  PermitSummary,
  permitRow,
  StateActivity,
} from './permit-row.ts'

export const permitAccess = { ...energy.access, feature: 'well_permits' as Feature }
const permitHeavyAccess = { ...permitAccess, heavy: true } as const

const listNote =
  'Returns permits, newest first, with the total number of matches. `as_of` is the newest stored permit date of the states in the response. States publish on different schedules, some only every quarter: `stale_states` names those without a permit of the last 30 days.'

const listRefusals = { 400: energy.refusals[400], 403: energy.refusals[403] }
const recordRefusals = { 403: energy.refusals[403], 404: energy.refusals[404] }

const listOperation = (
  path: string,
  words: { operationId: string; summary: string; description: string },
) =>
  energy.operation({
    path,
    ...words,
    access: permitHeavyAccess,
    page: { max: 100, default: 25 },
    map: true,
    query: permitQuery,
    answers: { 200: PermitList, ...listRefusals },
    handle: permitList,
  })

const shares = <Row extends TSchema>(
  kind: CountedKind,
  row: Row,
  shape: (count: ReturnType<ReturnType<typeof permitShares>['rows']>[number]) => Static<Row>,
) => {
  const name = `${kind[0]!.toUpperCase()}${kind.slice(1)}`
  return energy.pages({
    path: `/v1/ei/well-permits/by-${kind}`,
    operationId: `getWellPermitsBy${name}`,
    summary: `Count well permits by ${kind}`,
    description: `Returns how many permits each ${kind} has, largest first.`,
    access: permitHeavyAccess,
    title: `WellPermitsBy${name}`,
    row,
    refusals: listRefusals,
    list(call) {
      const { total, rows } = permitShares(call, kind)
      return { total, rows: (limit, offset) => rows(limit, offset).map(shape) }
    },
  })
}

/** Permits to drill wells in 26 states. */
export const permitOperations = [
  listOperation('/v1/ei/well-permits', {
    operationId: 'listWellPermits',
    summary: 'List well permits',
    description: `${listNote} Takes the filters of the search.`,
  }),
  listOperation('/v1/ei/well-permits/search', {
    operationId: 'searchWellPermits',
    summary: 'Search well permits',
    description: `Returns permits that match all filters. ${listNote} A circle is exact to the great-circle distance. Parts of names are found in any case; parts of operators and formations of fewer than three letters are looked for at the beginning of the name.`,
  }),
  energy.operation({
    path: '/v1/ei/well-permits/latest',
    operationId: 'getLatestWellPermits',
    summary: 'Get the latest well permits',
    description:
      'Returns permits of the last days, newest first; `meta.total_count` counts those beyond the limit too. `data_quality` says for each state what days are covered and whether its list has fallen behind.',
    access: permitAccess,
    query: {
      days: parsed.integer('Days back from today', [1, 90], 7),
      ...statesQuery,
      limit: parsed.integer('Maximum number of permits', [1, 500], 50),
    },
    answers: { 200: LatestPermits, ...listRefusals },
    handle(call) {
      const { days, limit, states } = call.query
      return latestPermits(call, { days, limit, states: statesOf(states) })
    },
  }),
  energy.record({
    path: '/v1/ei/well-permits/summary',
    operationId: 'getWellPermitSummary',
    summary: 'Get well permit statistics',
    description: 'Returns statistics of all permits by state and operator.',
    access: permitHeavyAccess,
    title: 'WellPermitSummaryAnswer',
    data: PermitSummary,
    refusals: { 403: energy.refusals[403] },
    handle: permitSummary,
  }),
  shares('state', ByState, ({ label, ...counts }) => ({ state: label, ...counts })),
  shares('operator', ByOperator, ({ label, ...counts }) => ({ operator: label, ...counts })),
  shares('formation', ByFormation, ({ label, ...counts }) => ({ formation: label, ...counts })),
  energy.record({
    path: '/v1/ei/well-permits/states/:state_code',
    operationId: 'getStateWellPermits',
    summary: 'Get the drilling activity of a state',
    description:
      "Returns the drilling activity of a state, from its permits.\n\n| Activity | Meaning |\n|---|---|\n| `active` | at least 10 permits in the last 30 days, or at least half the usual number for 30 days of the last 365 |\n| `slow` | fewer permits |\n| `inactive` | none in the last 30 days, and the state's list is up to date |\n| `unknown` | no recent data |",
    access: permitHeavyAccess,
    params: {
      state_code: t.string('Two letters, in any case.', 'TX'),
    },
    title: 'StateWellPermitsAnswer',
    data: StateActivity,
    refusals: recordRefusals,
    handle: call => stateActivity(call, call.params.state_code),
  }),
  energy.byId({
    path: '/v1/ei/well-permits/:id',
    operationId: 'getWellPermit',
    summary: 'Get a well permit',
    description:
      'Returns one permit by its number. Record numbers are assigned in the order of arrival.',
    access: permitAccess,
    subject: 'well permit',
    what: 'Number of the permit.',
    title: 'WellPermitAnswer',
    data: Permit,
    refusals: recordRefusals,
    find: (id, call) => markedPermits(call, [id])[0],
    shape: permitRow,
  }),
]
