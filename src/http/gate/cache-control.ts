import { actionOf } from '../../plans/roles/roles.ts'
import { scopeOf } from '../../plans/roles/scopes.ts'
import type { Access } from './access-kind.ts'

/** Only the client may store the response, and it revalidates it before each use. */
export const revalidatedByClient = 'private, no-cache'
export const neverStored = 'no-store'

/**
 * The `Cache-Control` of routes that set none themselves; undefined: any cache may store the
 * response. A shared cache does not see that a response is for one key, because the key may be in
 * the address.
 */
export function cacheControlOf(access: Access, route: string, method: string): string | undefined {
  const isRead = method === 'GET' || method === 'HEAD'
  if ('open' in access) return isRead ? undefined : neverStored
  if ('operator' in access || scopeOf(route) === 'account') return neverStored
  return (access.action ?? actionOf(method)) === 'read' ? revalidatedByClient : neverStored
}
