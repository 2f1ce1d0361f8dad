import { mayOperate, rolesThatMay } from '../../plans/roles/admin-roles.ts'
import type { AdminTokens } from '../../topics/operator/service/admin-tokens.ts'
import { Problem } from '../problem/problem.ts'
import type { OperatorAccess } from './access-kind.ts'
import { clientAddress, type TrustedProxies } from './address.ts'
import { changesByOperator, whatOf } from './audited.ts'
import type { RequestContext } from './request-context.ts'
import type { Unauthorized } from './unauthorized.ts'

export interface OperatorEntryDeps {
  adminTokens: AdminTokens
  /** Sessions that may be used instead of an admin token. */
  operators?: { admits(request: Request, changes: boolean): boolean }
  trusted: TrustedProxies
  /**
   * Requests that came through the socket in the data directory: a user who can open it owns the
   * data.
   */
  local: WeakSet<Request>
}

/** The header in which a command on this machine names its user. */
export const commandUserHeader = 'x-wellhead-user'

const operatorOnly =
  'The admin token is required; send it as "Authorization: Bearer <ADMIN_TOKEN>".'

/** Admits requests to the operator's routes. */
export function createOperatorEntry(deps: OperatorEntryDeps, unauthorized: Unauthorized) {
  const { adminTokens, operators, trusted, local } = deps

  /** The operator who sent the request, where their role permits it. */
  const actorOf = (context: RequestContext, area: OperatorAccess['operator'], changes: boolean) => {
    const { request } = context
    if (local.has(request)) return commandOf(request)
    const [scheme, text] = (request.headers.get('authorization') ?? '').split(' ')
    const token = scheme?.toLowerCase() === 'bearer' && text ? adminTokens.find(text) : undefined
    if (!text && operators?.admits(request, changes)) return 'operator'
    if (!token) return unauthorized(context, operatorOnly, 'operator')
    if (!mayOperate(token.role, area, changes))
      throw new Problem(
        'ADMIN_ROLE_MISSING',
        `This admin token has the role ${token.role}, which cannot ${changes ? 'change' : 'read'} ${area}.`,
        { role: token.role, roles: rolesThatMay(area, changes) },
      )
    context.adminTokenId = token.id
    context.adminRole = token.role
    return token.name === null ? 'operator' : `operator ${token.name}`
  }

  return (context: RequestContext, access: OperatorAccess) => {
    const { request, peer, route } = context
    const changes = changesByOperator(access, request.method)
    const actor = actorOf(context, access.operator, changes)
    context.actor = actor
    if (!changes || access.unaudited) return
    const place = local.has(request) ? 'this machine' : clientAddress(request, peer, trusted)
    context.action = { actor, place, ...whatOf(request, route) }
  }
}

/** The user of a command on this machine: only its programs can name one. */
function commandOf(request: Request): string {
  const user = request.headers.get(commandUserHeader) ?? ''
  return /^[\w.-]{1,64}$/.test(user) ? `command ${user}` : 'command'
}
