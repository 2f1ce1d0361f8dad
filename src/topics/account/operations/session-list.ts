import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sessionOf } from './sessions.ts'

const own = { meter: false, header: true, action: 'self' } as const
const params = t.Object({
  id: t.String({
    description: 'The `id` of a sign-in.',
    examples: ['00000000-0000-4000-8000-000000000901'],
  }),
})
const SignInRow = t.Object({
  id: t.String({ description: 'Of the sign-in; refreshed tokens of it have the same.' }),
  method: t.Union([t.Literal('password'), t.Literal('link')]),
  begun_at: t.String({ format: 'date-time', description: 'When somebody signed in.' }),
  refreshed_at: t.String({ format: 'date-time', description: 'When its token was made.' }),
  expires_at: t.String({ format: 'date-time' }),
  current: t.Boolean({ description: 'It is the one that asks.' }),
})

/** The sign-ins of whoever is signed in. */
export const sessionListOperations: readonly Operation[] = [
  operation('GET /v1/auth/sessions', {
    operationId: 'listSessions',
    summary: 'List your sign-ins',
    description:
      'Every sign-in of the account that lasts, the newest first. Takes a session token, no API key (401).',
    access: own,
    answers: { 200: envelope(t.Object({ sessions: t.Array(SignInRow) })) },
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
    summary: 'End a sign-in',
    description:
      'Signs one device out: every token of that sign-in ends at once. Takes a session token, no API key (401).',
    access: own,
    params: params.properties,
    answers: { 200: envelope(t.Object({ revoked: integer() })) },
    handle: ({ at, caller, params: { id } }) => {
      const { sessions } = at
      const mine = sessionOf(caller)
      const session = sessions.list(mine.accountId).find(({ familyId }) => familyId === id)
      if (!session) throw notFound('The sign-in')
      sessions.end(session)
      return success({ revoked: 1 })
    },
  }),
  operation('DELETE /v1/auth/sessions', {
    operationId: 'endOtherSessions',
    summary: 'End all other sign-ins',
    description:
      'Signs every device out but the one that asks, and says how many. Takes a session token, no API key (401).',
    access: own,
    answers: { 200: envelope(t.Object({ revoked: integer() })) },
    handle: ({ at, caller }) => {
      const { sessions } = at
      const mine = sessionOf(caller)
      const others = sessions.list(mine.accountId).length - 1
      sessions.endAll(mine.accountId, mine)
      return success({ revoked: others })
    },
  }),
]
