import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import type { Caller } from '../../../http/gate/gate.ts'
import { requireAction } from '../../../http/gate/permission.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { KeyState } from '../service/keyring.ts'
import { createKeyBody, RollBody, readKeyChange, readOverlapMs, resultOf } from './form.ts'
import { ApiKeyShape, createKeyRows, NewApiKeyShape } from './row.ts'

const access = { meter: false, header: true } as const
const changing = { ...access, action: 'change_keys' } as const
const params = t.Object({
  id: t.String({
    description: 'Id of the key.',
    examples: ['00000000-0000-4000-8000-000000000102'],
  }),
})
const Listed = envelope(t.Object({ api_keys: t.Array(ApiKeyShape), total_count: integer() }))
const One = envelope(t.Object({ api_key: ApiKeyShape }))
const CreatedKey = envelope(t.Object({ api_key: NewApiKeyShape }))
const Revoked = envelope(
  t.Object({
    id: t.String(),
    revoked: t.Literal(true),
    revoked_at: t.String({ format: 'date-time' }),
    api_key: ApiKeyShape,
  }),
)
/** The keys of the caller's account. */
export const keyOperations = (deps: Context) => [...listAndCreate(deps), ...changeOne(deps)]

function listAndCreate({ meter, keyChanges: changes, nameMax, now }: Context) {
  const { rows, createdKey } = createKeyRows(meter, now)
  const keyBody = createKeyBody(nameMax)
  return [
    operation('GET /v1/api-keys', {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description:
        "Every key of the account, or of all members of the organization, revoked ones too: active ones first, then the newest. Tokens are never listed; `token_hint` shows a token's ends.",
      access,
      answers: { 200: Listed },
      handle: ({ caller }) =>
        success({
          api_keys: rows(caller.key.account.keys),
          total_count: caller.key.account.keys.length,
        }),
    }),
    operation('POST /v1/api-keys', {
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        'A new key for the account; in an organization it belongs to the caller, acts on the account of the organization with the role of the caller, and leaves with its holder. `plain_token` is shown in this answer only. A key with an expiry, networks, domains, `read_only` or `scopes` is limited: it manages no keys, people or payments and reads no secrets (403 `KEY_LIMITED`). Only active keys count towards the most that one account may hold (422 `api_key_limit_reached`). Repeating the request with its `Idempotency-Key` and token answers the same key again.',
      access: changing,
      idempotent: true,
      body: keyBody.schema,
      answers: { 200: CreatedKey },
      handle: ({ body, caller }) =>
        success({
          api_key: createdKey(
            resultOf(changes.createKey(caller.key.holder, readKeyChange(keyBody, body, now()))),
          ),
        }),
    }),
  ]
}

function changeOne({ keys, meter, keyChanges: changes, nameMax, now }: Context) {
  const { row, createdKey } = createKeyRows(meter, now)
  const keyBody = createKeyBody(nameMax)

  /**
   * A key of the caller's own account, or of a member of the caller's organization; unknown,
   * malformed and foreign ids look the same. Keys of admins are for admins: their token would make
   * an admin of whoever rolls them.
   */
  const own = (id: string, caller: Caller): KeyState => {
    const key = keys.byId(id)
    if (key?.account !== caller.key.account) throw notFound('The API key')
    if (key.holder.role === 'admin') requireAction(caller.key, 'change_admin_keys')
    return key
  }

  return [
    operation('PATCH /v1/api-keys/:id', {
      operationId: 'changeApiKey',
      summary: 'Change an API key',
      description:
        'In an organization members change keys of people who are no admins, read-only people none (403 `FORBIDDEN_ROLE`). Sets the name, expiry or restrictions of a key; what the body does not name stays. An empty list lifts a restriction, null an expiry.',
      access: changing,
      params: params.properties,
      body: keyBody.schema,
      answers: { 200: One },
      handle: ({ body, caller, params: { id } }) => {
        const change = readKeyChange(keyBody, body, now())
        return success({ api_key: row(resultOf(changes.changeKey(own(id, caller), change))) })
      },
    }),
    operation('DELETE /v1/api-keys/:id', {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'Ends a key for good. The last active key stays (422 `last_active_key`), and so does a revoked one (422 `api_key_already_revoked`).',
      access: changing,
      params: params.properties,
      answers: { 200: Revoked, 422: ValidationProblem },
      handle: ({ caller, params: { id } }) => {
        const state = resultOf(changes.revokeKey(own(id, caller)), 'api_key_already_revoked')
        return success({
          id,
          revoked: true as const,
          revoked_at: isoInstant(state.key.revokedAt ?? now()),
          api_key: row(state),
        })
      },
    }),
    operation('POST /v1/api-keys/:id/roll', {
      operationId: 'rollApiKey',
      summary: 'Roll an API key',
      description:
        'A new token for the same key, with the same id and counters; `plain_token` is shown in this answer only. The old token ends at once, or `overlap_seconds` later.',
      access: changing,
      idempotent: true,
      params: params.properties,
      body: RollBody.schema,
      answers: { 200: CreatedKey },
      handle: ({ body, caller, params: { id } }) => {
        const overlapMs = readOverlapMs(body)
        return success({
          api_key: createdKey(resultOf(changes.rollKey(own(id, caller), overlapMs))),
        })
      },
    }),
  ]
}
