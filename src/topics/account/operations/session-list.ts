import { t } from '../../../http/answer/schema.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { selfAccess } from './session-row.ts'
import { sessionOf } from './sessions.ts'

const params = { id: t.string('The `id` of a sign-in.', '00000000-0000-4000-8000-000000000901') }
export const SignInRow = t.Object({
  id: t.string('Id of the session; refreshed tokens keep it.'),
  method: t.oneOf(['password', 'link', 'provider']),
  begun_at: t.instant('When the session began.'),
  refreshed_at: t.instant('When the current token was issued.'),
  expires_at: t.String({ format: 'date-time' }),
  current: t.boolean('Whether this session made the request.'),
})
export type SignInRow = (typeof SignInRow)['static']

/** The sign-ins of the signed-in user. */
export const sessionListOperations = [
  operation('GET /v1/auth/sessions', {
    operationId: 'listSessions',
    summary: 'List sessions',
    description:
      'Returns the active sessions of the account, newest first. Requires a session token; API keys get 401.',
    access: selfAccess,
    answers: envelopeOf({ sessions: t.Array(SignInRow) }),
    handle: ({ at, caller, reply }) => {
      const { sessions } = at
      reply.headers['cache-control'] = 'no-store'
      const mine = sessionOf(caller)
      return success({
        sessions: sessions.list(mine.accountId).map(session => ({
          id: session.familyId,
          method: session.method,
          begun_at: isoInstant(session.begunAt),
          refreshed_at: isoInstant(session.createdAt),
          expires_at: isoInstant(session.expiresAt),
          current: session.familyId === mine.familyId,
        })),
      })
    },
  }),
  operation('DELETE /v1/auth/sessions/:id', {
    operationId: 'endSession',
    summary: 'End a session',
    description:
      'Ends a session and all its tokens immediately. Requires a session token; API keys get 401.',
    access: selfAccess,
    params,
    answers: envelopeOf({ revoked: t.integer() }),
    handle: ({ at, caller, params: { id } }) => {
      const { sessions } = at
      const mine = sessionOf(caller)
      const session = sessions.list(mine.accountId).find(({ familyId }) => familyId === id)
      if (!session) throw notFound('sign-in', id)
      sessions.end(session)
      return success({ revoked: 1 })
    },
  }),
  operation('DELETE /v1/auth/sessions', {
    operationId: 'endOtherSessions',
    summary: 'End all other sessions',
    description:
      'Ends all sessions except the current one and returns their number. Requires a session token; API keys get 401.',
    access: selfAccess,
    answers: envelopeOf({ revoked: t.integer() }),
    handle: ({ at, caller }) => {
      const { sessions } = at
      const mine = sessionOf(caller)
      const others = sessions.list(mine.accountId).length - 1
      sessions.endAll(mine.accountId, mine)
      return success({ revoked: others })
    },
  }),
]
