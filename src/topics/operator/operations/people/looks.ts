import { t } from 'elysia'
import { idempotencyHeader } from '../../../../http/idempotency.ts'
import { body, optional, whole } from '../../../../http/input/body-schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { orNull } from '../../../../http/operations/schema.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../../http/problem/shape.ts'
import { RouteList } from '../../../../http/route-list.ts'
import { isoInstant, minuteMs } from '../../../../lib/time/instant.ts'
import type { Look } from '../../../account/service/looks.ts'

export type AdminLookDeps = Pick<Context, 'access' | 'looks' | 'keys' | 'idempotency'>

const operator = { operator: 'people' } as const
const minutesMax = 60
const minutesUsual = 30

const lookFields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000901'] }),
  account_id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
  email: orNull(t.String(), 'The address of the account.'),
  actor: t.String({ description: 'Who looks.', examples: ['operator ci'] }),
  begun_at: t.String({ format: 'date-time' }),
  expires_at: t.String({ format: 'date-time' }),
}
const LookShape = t.Object(lookFields, { title: 'Look' })
const Begun = envelope(
  t.Object({
    ...lookFields,
    token: t.String({ description: 'After `Bearer`, in place of a session; shown once.' }),
  }),
)
const LookBody = body({
  minutes: optional(
    whole(1, minutesMax, {
      description: `How long it lasts, ${minutesUsual} when absent.`,
      examples: [minutesUsual],
    }),
  ),
})

/** An operator sees what an account sees, for a while, and changes nothing. */
export function lookAdminRoutes({ access, looks, keys, idempotency }: AdminLookDeps) {
  const rowOf = ({ id, accountId, actor, begunAt, expiresAt }: Look) => ({
    id,
    account_id: accountId,
    email: keys.account(accountId)?.account.email ?? null,
    actor,
    begun_at: isoInstant(begunAt),
    expires_at: isoInstant(expiresAt),
  })
  return new RouteList({ tags: ['operator'] })
    .use(access)
    .get('/admin/v1/looks', () => success({ looks: looks.list().map(rowOf) }), {
      access: operator,
      response: { 200: envelope(t.Object({ looks: t.Array(LookShape) })) },
      detail: {
        operationId: 'listLooks',
        summary: 'Who looks at which account',
        description: 'Looks that are in force, the newest first. A start ends all of them.',
      },
    })
    .post(
      '/admin/v1/accounts/:id/look',
      ({ params: { id }, body, pass, request, set }) => {
        set.headers['cache-control'] = 'no-store'
        return idempotency.once({ pass, request, set }, body, () => {
          const { minutes = minutesUsual } = LookBody.read(body)
          const account = keys.account(id)
          if (!account) throw notFound('The account')
          set.status = 201
          const { look, token } = looks.begin(
            account,
            pass?.actor ?? 'operator',
            minutes * minuteMs,
          )
          return success({ ...rowOf(look), token })
        })
      },
      {
        access: operator,
        headers: idempotencyHeader,
        params: t.Object({
          id: t.String({ examples: ['00000000-0000-4000-8000-000000000001'] }),
        }),
        body: LookBody.schema,
        response: { 201: Begun, 404: NestedProblem, 422: ValidationProblem },
        detail: {
          operationId: 'lookAtAccount',
          summary: 'See what an account sees',
          description: `A token that reads as the account's own session would, for at most ${minutesMax} minutes. Whatever changes something or reads a secret is 403 \`KEY_READ_ONLY\`; nothing counts against the plan. The audit trail says who looked at whom; it stands in no table, and a start ends it.`,
        },
      },
    )
    .delete(
      '/admin/v1/looks/:id',
      ({ params: { id } }) => {
        if (!looks.end(id)) throw notFound('The look')
        return success({ id, ended: true as const })
      },
      {
        access: operator,
        params: t.Object({
          id: t.String({
            description: 'Id of the look.',
            examples: ['00000000-0000-4000-8000-000000000901'],
          }),
        }),
        response: {
          200: envelope(t.Object({ id: t.String(), ended: t.Literal(true) })),
          404: NestedProblem,
        },
        detail: {
          operationId: 'endLook',
          summary: 'End a look',
          description: 'Its token is good for nothing from now on.',
        },
      },
    )
}
