import { bodyOf, type FrontDoor } from '../../instance/front-door.ts'

export interface Key {
  id: string
  name: string | null
  token_hint: string
  active: boolean
  created_at: string
  revoked_at: string | null
  expires_at: string | null
  read_only: boolean
  allowed_ips: string[]
  allowed_domains: string[]
  usage: { requests_used: number; request_limit: number | null }
  plain_token: string
  windows?: object[]
}

/** The key in an answer. */
export const keyOf = async (response: Response): Promise<Key> =>
  ((await response.json()) as { data: { api_key: Key } }).data.api_key

export const create = (
  door: FrontDoor,
  caller: string,
  body?: unknown,
  headers?: Record<string, string>,
) =>
  door.ask('POST', '/v1/api-keys', {
    token: caller,
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
  })

export const listed = async (door: FrontDoor, caller: string): Promise<Key[]> =>
  ((await (await door.get('/v1/api-keys', caller)).json()) as { data: { api_keys: Key[] } }).data
    .api_keys

export const codeOf = async (response: Response) =>
  ((await bodyOf(response)) as Record<string, unknown>).error_code
