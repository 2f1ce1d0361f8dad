import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { textParameter, wordParameter } from '../../../http/input/typed.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { type RecentRequest, requestsOfAccountMax } from '../../keys/service/recent-requests.ts'

const outcomes = ['success', 'refused', 'failed'] as const
type Outcome = (typeof outcomes)[number]

export const RequestRow = t.object('AccountRequest', {
  at: t.instant('When it was answered.'),
  key: t.orNull(
    t.Object({ id: t.String(), name: t.orNull(t.String(), 'Null: the key has none.') }),
    'Null: by a signed-in person, or with a key that was deleted.',
  ),
  method: t.String({ examples: ['GET'] }),
  route: t.string('Path with the names of its parameters.', '/v1/prices/latest'),
  status: t.integer('HTTP status of the response.', 200),
  ms: t.number('Milliseconds from the check of the key to the response.', 0.42),
  request_id: t.orNull(t.String(), 'As in `x-request-id`.'),
  refusal: t.orNull(t.String(), 'Body of the response if `status` is 400 or more.'),
})
export type RequestRow = (typeof RequestRow)['static']

const outcomeOf = (status: number): Outcome =>
  status < 400 ? 'success' : status < 500 ? 'refused' : 'failed'

const isOutcome = (text: string): text is Outcome => outcomes.some(outcome => outcome === text)

/** The latest requests of an account. */
export const requestOperations = [
  operation('GET /v1/account/requests', {
    operationId: 'listAccountRequests',
    summary: 'List requests of the account',
    description: `Returns the last ${requestsOfAccountMax.toLocaleString('en')} requests of the account, newest first. They are held in memory: the list begins again at a restart, and each instance of a cluster has its own. Requests of console pages are not included.`,
    access: { meter: false },
    page: { max: 1000 },
    query: {
      key: textParameter('Id of a key of the account.', '00000000-0000-4000-8000-000000000101'),
      route: textParameter('Part of the route.', '/v1/prices'),
      outcome: wordParameter(
        outcomes,
        '`success`: status below 400, `refused`: 400 to 499, `failed`: 500 or more.',
        'refused',
      ),
    },
    answers: t.Object({
      status: t.Literal('success'),
      data: t.Object({ requests: t.Array(RequestRow) }),
      meta: PageMetaShape,
    }),
    handle: ({ at, caller, query, page }) => {
      const { key, route, outcome } = query
      if (outcome && !isOutcome(outcome)) throw invalidParameter('outcome', outcome, outcomes)
      const { keys } = at
      const accountId = caller.key.account.account.id
      const matching = at.recentRequests
        .of(accountId)
        .filter(
          request =>
            (!key || request.keyId === key) &&
            (!route || request.route.includes(route)) &&
            (!outcome || outcomeOf(request.status) === outcome),
        )
      const row = (request: RecentRequest) => {
        const state = keys.byId(request.keyId)
        return answerRow(RequestRow, request, {
          at: isoInstant(request.at),
          key: state ? { id: state.key.id, name: state.key.name } : null,
          ms: Math.round(request.durationMs * 100) / 100,
        })
      }
      return {
        status: 'success' as const,
        data: { requests: matching.slice(page.offset, page.offset + page.perPage).map(row) },
        meta: page.meta(matching.length),
      }
    },
  }),
]
