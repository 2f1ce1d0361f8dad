import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { body, choice, noBody, text } from '../../../../http/input/body-schema.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { adminRoles } from '../../../../plans/roles/admin-roles.ts'
import type { AdminToken } from '../../store/admin-tokens.ts'

const access = { operator: 'service' } as const
const nameMax = 40

const roleTexts =
  'read: view everything. data: view everything and change prices, series, datasets and feeds. people: accounts, keys and payments. all: everything, including tokens.'

export const TokenShape = t.object('AdminToken', {
  id: t.String(),
  name: t.stringOrNull('Null for the token of the first start or of a rotation.', 'ci'),
  role: t.oneOf(adminRoles, roleTexts),
  token_hint: t.String({ examples: ['ab12…f00d'] }),
  created_at: t.String({ format: 'date-time' }),
  revoked_at: t.orNull(t.String({ format: 'date-time' })),
})
export type TokenShape = (typeof TokenShape)['static']
const MadeShape = t.object('NewAdminToken', {
  ...TokenShape.properties,
  plain_token: t.string('64 hexadecimal characters; returned only in this response.'),
})
const NewTokenBody = body({
  name: text(nameMax, { description: 'Name used in the audit trail.', examples: ['ci'] }),
  role: choice(adminRoles, { description: roleTexts, examples: ['data'] }),
})

const rowOf = (token: AdminToken): TokenShape =>
  answerRow(TokenShape, token, { token_hint: token.hint })

/** Tokens of the operator: each with a name and a role. */
export const tokenAdminOperations = [
  operation('GET /admin/v1/tokens', {
    operationId: 'listAdminTokens',
    summary: 'List admin tokens',
    description: 'Returns all admin tokens, including revoked ones, newest first.',
    access,
    answers: envelopeOf({ tokens: t.Array(TokenShape) }),
    handle: ({ at }) => success({ tokens: at.adminTokens.list().map(rowOf) }),
  }),
  operation('POST /admin/v1/tokens', {
    operationId: 'createAdminToken',
    summary: 'Create an admin token',
    description:
      'Creates a token with a name and a role; it is returned only in this response. Requests outside its role get 403 `ADMIN_ROLE_MISSING`.',
    access,
    idempotent: true,
    body: NewTokenBody.schema,
    answers: { 201: envelopeOf({ token: MadeShape }) },
    handle: ({ at, body }) => {
      const { adminTokens } = at
      const { name, role } = NewTokenBody.read(body)
      const { made, token } = adminTokens.create(name, role)
      return success({ token: { ...rowOf(made), plain_token: token } })
    },
  }),
  operation('DELETE /admin/v1/tokens/:id', {
    operationId: 'revokeAdminToken',
    summary: 'Revoke an admin token',
    description:
      'Revokes a token immediately. If none is left, run `wellhead token rotate` on the server.',
    access,
    params: {
      id: t.string('Id of the token.', '00000000-0000-4000-8000-000000000901'),
    },
    answers: envelopeOf({ token: TokenShape }),
    handle: ({ at, params: { id } }) => {
      const { adminTokens } = at
      const token = adminTokens.revoke(id)
      if (!token) throw notFound('admin token', id)
      return success({ token: rowOf(token) })
    },
  }),
  operation('POST /admin/v1/token/rotate', {
    operationId: 'rotateAdminToken',
    summary: 'Rotate the admin token',
    description:
      'Returns a new admin token with the role `all`, only in this response. All earlier tokens end immediately, including named ones and the one of this request. If the response is lost, run `wellhead token rotate` on the server.',
    access,
    idempotent: true,
    body: noBody,
    answers: envelopeOf({ admin_token: t.string('64 hexadecimal characters.') }),
    handle: ({ at }) => success({ admin_token: at.adminTokens.rotate() }),
  }),
]
