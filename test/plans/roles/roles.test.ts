import { describe, expect, test } from 'bun:test'
import {
  type Action,
  actionOf,
  keepsAdmin,
  may,
  type Role,
  roleOf,
  roles,
} from '../../../src/plans/roles/roles.ts'

/**
 * By action, whether an admin, a member and a read-only person may. Written out here so that a slip
 * in the rule is seen. The type has every action, and no other.
 */
const expected: Record<Action, [admin: boolean, member: boolean, readOnly: boolean]> = {
  read: [true, true, true],
  self: [true, true, true],
  change_view: [true, true, true],
  change_keys: [true, true, false],
  change_admin_keys: [true, false, false],
  change_members: [true, false, false],
  change_billing: [true, false, false],
  change_data: [true, false, false],
  read_secrets: [true, false, false],
}

describe('may', () => {
  for (const [action, allowedTo] of Object.entries(expected) as [Action, boolean[]][]) {
    for (const [i, role] of roles.entries()) {
      const allowed = allowedTo[i]!
      test(`${role} ${allowed ? 'may' : 'may not'} ${action}`, () =>
        expect(may(role, action)).toBe(allowed))
    }
  }
})

test.each([
  ['GET', 'read'],
  ['HEAD', 'read'],
  ['POST', 'change_data'],
  ['PATCH', 'change_data'],
  ['PUT', 'change_data'],
  ['DELETE', 'change_data'],
] as const)(
  'a %s request requires the action %s unless its route specifies another',
  (method, action) => {
    expect(actionOf(method)).toBe(action)
  },
)

test.each([
  ['admin', 'admin'],
  ['member', 'member'],
  ['read_only', 'read_only'],
  ['read-only', 'read_only'],
  ['Admin', undefined],
  ['owner', undefined],
  ['', undefined],
])('%p is the role %p', (text, role) => {
  expect(roleOf(text)).toBe(role as Role | undefined)
})

test('an admin who has not accepted yet does not count as an admin of the organization', () => {
  expect(keepsAdmin([{ role: 'admin', accountId: null }])).toBe(false)
  expect(keepsAdmin([{ role: 'member', accountId: 'a' }])).toBe(false)
  expect(keepsAdmin([{ role: 'admin', accountId: 'a' }])).toBe(true)
})
