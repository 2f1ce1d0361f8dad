import type { OperatorKey as KeyLine } from '../../topics/operator/operations/people/account-row.ts'
import type { CommandEnvironment } from '../command.ts'
import { type Table, tableOf } from '../table.ts'

export type { KeyLine }

type MadeKey = KeyLine & { plain_token: string }

export interface NewKeyOptions {
  name?: string
  /** ISO 8601 with a zone. */
  expires?: string
  readOnly?: boolean
  allowIp?: readonly string[]
  allowDomain?: readonly string[]
  scope?: readonly string[]
}

function stateOf({ revoked_at, suspended_at, active }: KeyLine): string {
  if (revoked_at) return 'revoked'
  if (!active) return 'expired'
  return suspended_at ? 'suspended' : 'active'
}

/** The restrictions of a key and its expiry. */
function boundsOf(key: KeyLine): string {
  const { expires_at, read_only, allowed_ips, allowed_domains, scopes } = key
  const bounds = [
    read_only ? 'read-only' : '',
    ...allowed_ips,
    ...allowed_domains,
    ...scopes,
    expires_at ? `until ${expires_at}` : '',
  ]
  return bounds.filter(Boolean).join(' ') || '-'
}

const usageOf = ({ usage: { requests_used, request_limit } }: KeyLine) =>
  request_limit === null ? String(requests_used) : `${requests_used}/${request_limit}`

export const keyTable = (keys: readonly KeyLine[]): readonly [Table] =>
  tableOf(keys, {
    ID: 'id',
    TOKEN: 'token_hint',
    NAME: 'name',
    STATE: key => stateOf(key),
    'QUOTA USED': key => usageOf(key),
    'LAST USED': key => key.last_used_at ?? 'never',
    BOUNDS: key => boundsOf(key),
  })

/** A token, with the warning that it is shown only once. */
export const tokenLines = (label: string, token: string): string[] => [
  `${label}: ${token}`,
  'It is shown only once; only a hash is stored.',
]

const madeLines = (key: MadeKey) => [
  ...keyTable([key]),
  '',
  ...tokenLines('API key', key.plain_token),
]
const keyPath = (id: string) => `/admin/v1/keys/${encodeURIComponent(id)}`

/** Lists the keys of an account, named by its id or its address. */
export const listKeys = async (env: CommandEnvironment, who: string): Promise<void> =>
  env.showField('api_keys', keyTable, 'GET', `${await env.accountPath(who)}/keys`)

/** Makes a key for an account and prints its token, this once. */
export const createKey = async (
  env: CommandEnvironment,
  who: string,
  options: NewKeyOptions = {},
): Promise<void> => {
  const { name, expires, readOnly, allowIp, allowDomain, scope } = options
  const body = {
    name,
    expires_at: expires,
    read_only: readOnly,
    allowed_ips: allowIp,
    allowed_domains: allowDomain,
    scopes: scope,
  }
  const path = `${await env.accountPath(who)}/keys`
  await env.showField('api_key', madeLines, 'POST', path, body)
}

/**
 * Gives a key a new token and prints it, this once; the old one ends at once or `overlap` seconds
 * later.
 */
export const rollKey = (
  env: CommandEnvironment,
  id: string,
  { overlap }: { overlap?: number } = {},
): Promise<void> =>
  env.showField('api_key', madeLines, 'POST', `${keyPath(id)}/roll`, { overlap_seconds: overlap })

const oneKey = (key: KeyLine) => keyTable([key])

/** Revokes a key permanently. */
export const revokeKey = (env: CommandEnvironment, id: string): Promise<void> =>
  env.showField('api_key', oneKey, 'DELETE', keyPath(id))

/** Suspends or resumes a key. */
export const suspendKey = (env: CommandEnvironment, id: string, suspended = true): Promise<void> =>
  env.showField('api_key', oneKey, 'PATCH', keyPath(id), { suspended })
