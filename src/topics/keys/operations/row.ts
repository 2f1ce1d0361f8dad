import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoOrNull } from '../../../lib/time/instant.ts'
import { scopes } from '../../../plans/roles/scopes.ts'
import { isActive, type MadeKey } from '../service/key-changes.ts'
import type { KeyState } from '../service/keyring.ts'
import type { Meter } from '../service/meter.ts'

const keyFields = {
  id: t.string('Stays the same when the key is rotated.', '00000000-0000-4000-8000-000000000101'),
  name: t.orNull(t.String({ examples: ['trading desk'] })),
  held_by: t.string("E-mail address of the key's owner.", 'eval@example.com'),
  token_hint: t.string('First and last four characters of the token.', '3f9a…c07e'),
  active: t.boolean('Neither revoked nor expired.'),
  created_at: t.String({ format: 'date-time' }),
  revoked_at: t.instantOrNull('When the key was revoked.'),
  last_used_at: t.instantOrNull('When the key was last used, accurate to a second.'),
  expires_at: t.instantOrNull('From this time requests with the key get 401.'),
  read_only: t.boolean(
    'Allows only requests that change nothing: GET, HEAD, and POST operations that only read, such as a batch of prices or MCP.',
  ),
  allowed_ips: t.Array(t.String({ examples: ['203.0.113.0/24'] }), {
    description: 'Networks the key may be used from; empty: any.',
  }),
  allowed_domains: t.Array(t.String({ examples: ['example.com'] }), {
    description: 'Hosts whose pages may use the key, with their subdomains; empty: any.',
  }),
  scopes: t.Array(t.String({ enum: scopes, examples: ['prices'] }), {
    description: 'Scopes of the key; empty for all.',
  }),
  usage: t.Object({
    requests_used: t.integer('Of the running quota window.', 1234),
    request_limit: t.integerOrNull('Null: no quota.'),
  }),
}

export const ApiKeyShape = t.Object(keyFields, {
  title: 'ApiKey',
  description: 'An API key, without its token.',
})

export const NewApiKeyShape = t.Object(
  {
    ...keyFields,
    plain_token: t.string('The token, 64 hexadecimal characters; returned only once.'),
  },
  {
    title: 'NewApiKey',
    description: 'An API key with its token, which is returned only in this response.',
  },
)

/** Active ones first, then the newest. */
export function inOrder(states: readonly KeyState[], now: number): KeyState[] {
  const rank = (state: KeyState) => (isActive(state, now) ? 0 : 1)
  return [...states].sort((a, b) => rank(a) - rank(b) || b.key.createdAt - a.key.createdAt)
}

/** Makes the wire form of keys. */
export function createKeyRows(meter: Meter, now: () => number) {
  const row = (state: KeyState): (typeof ApiKeyShape)['static'] => {
    const { key } = state
    const { used, window } = meter.quotaUsage(state)
    return answerRow(ApiKeyShape, key, {
      held_by: state.holder.account.email,
      active: isActive(state, now()),
      last_used_at: isoOrNull(state.lastUsedAt),
      usage: { requests_used: used, request_limit: window.limit },
    })
  }
  return {
    row,
    rows: (states: readonly KeyState[]) => inOrder(states, now()).map(row),
    createdKey: ({ state, token }: MadeKey): (typeof NewApiKeyShape)['static'] => ({
      ...row(state),
      plain_token: token,
    }),
  }
}
