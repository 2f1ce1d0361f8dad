import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { idempotencyHeader } from '../../../../http/idempotency.ts'
import { body, optional, whole } from '../../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { minuteMs } from '../../../../lib/time/instant.ts'
import type { Impersonation } from '../../../account/service/impersonations.ts'

const operator = { operator: 'people' } as const
const minutesMax = 60
const minutesUsual = 30

const impersonationFields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000901'] }),
  account_id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
  email: t.orNull(t.String(), 'The address of the account.'),
  actor: t.string('Who started the impersonation.', 'operator ci'),
  begun_at: t.String({ format: 'date-time' }),
  expires_at: t.String({ format: 'date-time' }),
}
const ImpersonationShape = t.object('Look', impersonationFields)
const Begun = envelopeOf({
  ...impersonationFields,
  token: t.string('Use it after `Bearer`; returned only once.'),
})
const ImpersonationBody = body({
  minutes: optional(
    whole(1, minutesMax, {
      description: `Duration in minutes. Default: ${minutesUsual} when absent.`,
      examples: [minutesUsual],
    }),
  ),
})

/** An operator sees what an account sees, for a while, and changes nothing. */
export function impersonationOperations({ impersonations, keys, idempotency }: Context) {
  const rowOf = (impersonation: Impersonation) =>
    answerRow(ImpersonationShape, impersonation, {
      email: keys.account(impersonation.accountId)?.account.email ?? null,
    })
  return [
    operation('GET /admin/v1/looks', {
      operationId: 'listImpersonations',
      summary: 'List impersonations',
      description: 'Returns active impersonations, newest first. A restart ends all of them.',
      access: operator,
      answers: envelopeOf({ looks: t.Array(ImpersonationShape) }),
      handle: () => success({ looks: impersonations.list().map(rowOf) }),
    }),
    operation('POST /admin/v1/accounts/:id/look', {
      operationId: 'impersonateAccount',
      summary: 'Impersonate an account',
      description: `Returns a read-only token for viewing the API as this account, valid for at most ${minutesMax} minutes. Requests that change data or read a secret get 403 \`KEY_READ_ONLY\`; nothing counts against the plan. The token is held in memory only, ends at a restart, and is recorded in the audit trail.`,
      access: operator,
      headers: idempotencyHeader,
      params: {
        id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
      },
      body: ImpersonationBody.schema,
      answers: { 201: Begun },
      handle: ({ params: { id }, body, requestContext, request, reply }) => {
        reply.headers['cache-control'] = 'no-store'
        return idempotency.once({ requestContext, request, reply }, body, () => {
          const { minutes = minutesUsual } = ImpersonationBody.read(body)
          const account = keys.account(id)
          if (!account) throw notFound('account', id)
          const { impersonation, token } = impersonations.begin(
            account,
            requestContext?.actor ?? 'operator',
            minutes * minuteMs,
          )
          return success({ ...rowOf(impersonation), token })
        })
      },
    }),
    operation('DELETE /admin/v1/looks/:id', {
      operationId: 'endImpersonation',
      summary: 'End an impersonation',
      description: 'Ends an impersonation; its token stops working.',
      access: operator,
      params: {
        id: t.string('Id of the impersonation.', '00000000-0000-4000-8000-000000000901'),
      },
      answers: envelopeOf({ id: t.String(), ended: t.Literal(true) }),
      handle: ({ params: { id } }) => {
        if (!impersonations.end(id)) throw notFound('impersonation', id)
        return success({ id, ended: true as const })
      },
    }),
  ]
}
