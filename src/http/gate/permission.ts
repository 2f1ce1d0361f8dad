import {
  type AdminRole,
  mayOperate,
  type OperatorArea,
  rolesThatMay,
} from '../../plans/roles/admin-roles.ts'
import { type Action, may, type Role, rolesFor } from '../../plans/roles/roles.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import { Problem } from '../problem/problem.ts'

const deeds: Record<Action, string> = {
  read: 'view the data',
  self: 'change their own membership',
  change_view: 'change their own watchlist',
  change_keys: 'change API keys',
  change_admin_keys: 'change the API keys of admins',
  change_members: 'change members and invitations',
  change_billing: 'change plans and payments',
  change_data: 'change what the account holds',
  read_secrets: 'see secrets',
}

const people: Record<Role, string> = {
  admin: 'admins',
  member: 'members',
  read_only: 'read-only people',
}

/**
 * Throws 403 where the role of a key's holder does not allow an action. The gate checks every
 * request, handlers check what depends on the object.
 */
export function requireAction(key: KeyState, action: Action): void {
  const { role } = key.holder
  if (may(role, action)) return
  const allowed = rolesFor(action)
  throw new Problem(
    'FORBIDDEN_ROLE',
    `In this organization only ${allowed.map(role => people[role]).join(' and ')} may ${deeds[action]}; your role is ${role}.`,
    { role, action, required_role: allowed.at(-1), allowed_roles: allowed },
  )
}

/**
 * Throws 403 where the role of the operator's token does not allow a field that concerns another
 * area than its route does. Commands on this machine have no role and may set everything.
 */
export function requireArea(role: AdminRole | undefined, area: OperatorArea, field: string): void {
  if (role === undefined || mayOperate(role, area, true)) return
  const roles = rolesThatMay(area, true)
  throw new Problem(
    'ADMIN_ROLE_MISSING',
    `${field} must be set with an admin token of the role ${roles.join(' or ')}; this one has the role ${role}.`,
    { role, roles },
  )
}
