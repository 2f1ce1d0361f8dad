import { t } from '../../../http/answer/schema.ts'
import { requireAction } from '../../../http/gate/permission.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { KeyState } from '../service/keyring.ts'
import { createKeyBody, RollBody, readKeyChange, readOverlapMs, resultOf } from './form.ts'
import { ApiKeyShape, createKeyRows, inOrder, NewApiKeyShape } from './row.ts'
import { createWindowRows, WindowList } from './windows.ts'

const access = { meter: false, header: true } as const
const changing = { ...access, action: 'change_keys' } as const
const params = { id: t.string('Id of the key.', '00000000-0000-4000-8000-000000000102') }
const Listed = envelopeOf({
  api_keys: t.Array(t.object('ListedApiKey', { ...ApiKeyShape.properties, windows: WindowList })),
  total_count: t.integer(),
})
export type ListedKey = (typeof Listed)['static']['data']['api_keys'][number]
const One = envelopeOf({ api_key: ApiKeyShape })
const CreatedKey = envelopeOf({ api_key: NewApiKeyShape })
const Revoked = envelopeOf({
  id: t.String(),
  revoked: t.Literal(true),
  revoked_at: t.String({ format: 'date-time' }),
  api_key: ApiKeyShape,
})
/** The keys of the caller's account. */
export const keyOperations: Operations = [listAndCreate, changeOne]

function listAndCreate(context: Context) {
  const { meter, keyChanges: changes, nameMax, now } = context
  const { row, createdKey } = createKeyRows(meter, now)
  const windowsOf = createWindowRows(context)
  const keyBody = createKeyBody(nameMax)
  return [
    operation('GET /v1/api-keys', {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description:
        'Returns the keys of the account, or of all members of the organization, including revoked ones: active keys first, then newest first, each with its use of the quota and of every rolling window. Tokens are never listed; `token_hint` shows the first and last characters.',
      access,
      answers: Listed,
      handle: ({ caller }) =>
        success({
          api_keys: inOrder(caller.key.account.keys, now()).map(state => ({
            ...row(state),
            windows: windowsOf(state),
          })),
          total_count: caller.key.account.keys.length,
        }),
    }),
    operation('POST /v1/api-keys', {
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        "Creates an API key and returns it with its token; `plain_token` is returned only in this response. In an organization the key belongs to the caller and acts on the organization's account with the caller's role. A key with an expiry, networks, domains, `read_only` or `scopes` is limited: it cannot manage keys, people or payments, or read secrets (403 `KEY_LIMITED`). Active keys count towards the account's maximum (422 `api_key_limit_reached`). Repeating the request with the same `Idempotency-Key` and token returns the same key.",
      access: changing,
      idempotent: true,
      body: keyBody.schema,
      answers: CreatedKey,
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
   * malformed and foreign ids look the same. Keys of admins are for admins: rolling one would make
   * its user an admin.
   */
  const keyOf = (id: string, caller: Caller): KeyState => {
    const key = keys.byId(id)
    if (key?.account !== caller.key.account) throw notFound('API key', id)
    if (key.holder.role === 'admin') requireAction(caller.key, 'change_admin_keys')
    return key
  }

  return [
    operation('PATCH /v1/api-keys/:id', {
      operationId: 'updateApiKey',
      summary: 'Update an API key',
      description:
        'Updates the name, expiry or restrictions of a key; other fields keep their values. An empty list removes a restriction, null an expiry. In an organization, members can change keys of non-admins; read-only members can change none (403 `FORBIDDEN_ROLE`).',
      access: changing,
      params,
      body: keyBody.schema,
      answers: One,
      handle: ({ body, caller, params: { id } }) => {
        const change = readKeyChange(keyBody, body, now())
        return success({ api_key: row(resultOf(changes.changeKey(keyOf(id, caller), change))) })
      },
    }),
    operation('DELETE /v1/api-keys/:id', {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'Revokes a key permanently. The last active key (422 `last_active_key`) and revoked keys (422 `api_key_already_revoked`) are refused.',
      access: changing,
      params,
      answers: { 200: Revoked, 422: ValidationProblem },
      handle: ({ caller, params: { id } }) => {
        const state = resultOf(changes.revokeKey(keyOf(id, caller)), 'api_key_already_revoked')
        return success({
          id,
          revoked: true as const,
          revoked_at: isoInstant(state.key.revokedAt ?? now()),
          api_key: row(state),
        })
      },
    }),
    operation('POST /v1/api-keys/:id/roll', {
      operationId: 'rotateApiKey',
      summary: 'Rotate an API key',
      description:
        'Returns a new token for the key, which keeps its id and counters; `plain_token` is returned only in this response. The old token ends immediately, or after `overlap_seconds`.',
      access: changing,
      idempotent: true,
      params,
      body: RollBody.schema,
      answers: CreatedKey,
      handle: ({ body, caller, params: { id } }) => {
        const overlapMs = readOverlapMs(body)
        return success({
          api_key: createdKey(resultOf(changes.rollKey(keyOf(id, caller), overlapMs))),
        })
      },
    }),
  ]
}
