import { t } from '../../../http/answer/schema.ts'
import { body, field, nullable, optional, text } from '../../../http/input/body-schema.ts'
import { type Problem, stateForbids } from '../../../http/problem/problem.ts'
import { roleOf, roles } from '../../../plans/roles/roles.ts'
import type { OrganizationRefusal } from '../service/memberships.ts'
import { emailField } from './account-form.ts'
import { RoleName } from './organization-row.ts'

const messageMax = 500

const roleWordMax = 40

const roleField = field(t.Union([RoleName, t.Literal('read-only')]), (form, name) => {
  const word = form.text(name, roleWordMax)
  if (word === undefined) return undefined
  return roleOf(word) ?? form.wrongWord(name, roles)
})

export const RoleBody = body({ role: roleField })

/** The user to add or to invite. */
export const PersonBody = body({
  email: emailField,
  role: roleField,
  message: optional(nullable(text(messageMax, { examples: ['Welcome'] }))),
})

/** The result of a change, or its refusal thrown. */
export function resultOf<T extends object>(result: T | OrganizationRefusal): T {
  if ('refused' in result) throw refusalOf(result)
  return result
}

function refusalOf(refusal: OrganizationRefusal): Problem {
  switch (refusal.refused) {
    case 'already_member':
      return stateForbids(
        'already_member',
        'This person is already a member, or belongs to another organization and must leave it first.',
      )
    case 'own_subscription':
      return stateForbids(
        'own_subscription',
        'Your account has its own subscription, which would still be charged. Cancel it, then accept the invitation.',
      )
    case 'last_admin':
      return stateForbids(
        'last_admin',
        'An organization needs at least one admin. Promote another member first.',
      )
    case 'invitation_expired':
    case 'invitation_used':
      return stateForbids(refusal.refused, refusal.why)
    case 'limit':
      return stateForbids(
        'invitation_limit_reached',
        `The organization has ${refusal.limit} open invitations (the maximum).`,
        {
          limit: refusal.limit,
        },
      )
  }
}
