import { t } from 'elysia'
import { body, choice, text } from '../../../../http/input/body-schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../../http/operations/operation.ts'
import { oneOf, orNull } from '../../../../http/operations/schema.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { isoInstant, isoOrNull } from '../../../../lib/time/instant.ts'
import { adminRoles } from '../../../../plans/admin-roles.ts'
import type { AdminToken } from '../../store/admin-tokens.ts'

const access = { operator: 'service' } as const
const nameMax = 40

const roleTexts =
  'read: looks at everything. data: looks at and changes prices, series, datasets and feeds. people: accounts, keys and payments. all: everything, tokens too.'

const TokenShape = t.Object(
  {
    id: t.String(),
    name: orNull(
      t.String({ examples: ['ci'] }),
      'Null: that of the first start, or of a rotation.',
    ),
    role: oneOf(adminRoles, roleTexts),
    token_hint: t.String({ examples: ['ab12…f00d'] }),
    created_at: t.String({ format: 'date-time' }),
    revoked_at: orNull(t.String({ format: 'date-time' })),
  },
  { title: 'AdminToken' },
)
const MadeShape = t.Object(
  {
    ...TokenShape.properties,
    plain_token: t.String({ description: '64 hexadecimal characters, in this answer only.' }),
  },
  { title: 'NewAdminToken' },
)
const NewTokenBody = body({
  name: text(nameMax, { description: 'By which the audit trail names it.', examples: ['ci'] }),
  role: choice(adminRoles, { description: roleTexts, examples: ['data'] }),
})

const rowOf = (token: AdminToken): (typeof TokenShape)['static'] => ({
  id: token.id,
  name: token.name,
  role: token.role,
  token_hint: token.hint,
  created_at: isoInstant(token.createdAt),
  revoked_at: isoOrNull(token.revokedAt),
})

/** Tokens of the operator: each with a name and a role. */
export const tokenAdminOperations: readonly Operation[] = [
  operation('GET /admin/v1/tokens', {
    operationId: 'listAdminTokens',
    summary: 'List admin tokens',
    description: 'Every token of the operator there ever was, the newest first.',
    access,
    answers: { 200: envelope(t.Object({ tokens: t.Array(TokenShape) })) },
    handle: ({ at }) => success({ tokens: at.adminTokens.list().map(rowOf) }),
  }),
  operation('POST /admin/v1/tokens', {
    operationId: 'createAdminToken',
    summary: 'Make an admin token',
    description:
      'A token with a name and a role, shown in this answer only. A request that its role is not for is 403 `ADMIN_ROLE_MISSING`.',
    access,
    idempotent: true,
    body: NewTokenBody.schema,
    answers: { 201: envelope(t.Object({ token: MadeShape })) },
    handle: ({ at, body, reply }) => {
      const { adminTokens } = at
      const { name, role } = NewTokenBody.read(body)
      const { made, token } = adminTokens.create(name, role)
      reply.status = 201
      return success({ token: { ...rowOf(made), plain_token: token } })
    },
  }),
  operation('DELETE /admin/v1/tokens/:id', {
    operationId: 'revokeAdminToken',
    summary: 'Revoke an admin token',
    description:
      'Ends a token at once. A copy without one gets another by `wellhead token rotate` on its machine.',
    access,
    params: {
      id: t.String({
        description: 'Id of the token.',
        examples: ['00000000-0000-4000-8000-000000000901'],
      }),
    },
    answers: { 200: envelope(t.Object({ token: TokenShape })) },
    handle: ({ at, params: { id } }) => {
      const { adminTokens } = at
      const token = adminTokens.revoke(id)
      if (!token) throw notFound('The admin token')
      return success({ token: rowOf(token) })
    },
  }),
  operation('POST /admin/v1/token/rotate', {
    operationId: 'rotateAdminToken',
    summary: 'Rotate the admin token',
    description:
      'A new admin token that is good for everything, shown in this answer only; every earlier one ends at once, those with names and the one of this request too: a repeat with it is 401, and who lost the answer rotates on the machine itself (`wellhead token rotate`).',
    access,
    idempotent: true,
    answers: {
      200: envelope(
        t.Object({ admin_token: t.String({ description: '64 hexadecimal characters.' }) }),
      ),
    },
    handle: ({ at }) => success({ admin_token: at.adminTokens.rotate() }),
  }),
]
