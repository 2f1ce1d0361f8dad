import { t } from 'elysia'
import { type Form, formBody, formOf } from '../../http/input/form.ts'
import { type Problem, stateForbids } from '../../http/problem/problem.ts'
import { type Role, roleOf, roles } from '../../plan/roles.ts'
import type { OrganizationRefusal } from '../../service/account/memberships.ts'
import { emailMax, emailPattern } from './account-form.ts'
import { RoleName } from './organization-row.ts'

const messageMax = 500

const emailField = t.String({ maxLength: emailMax, examples: ['person@example.com'] })
const roleField = t.Union([RoleName, t.Literal('read-only')])

export const memberBody = formBody(t.Object({ email: emailField, role: roleField }))
export const roleBody = formBody(t.Object({ role: roleField }))
export const invitationBody = formBody(
  t.Object({
    email: emailField,
    role: roleField,
    message: t.Optional(
      t.Union([t.String({ maxLength: messageMax, examples: ['Welcome'] }), t.Null()]),
    ),
  }),
)

/** Who is meant by a body, as what. */
export function personOf(body: unknown): { email: string; role: Role; message: string | null } {
  const form = formOf(body)
  if (!form.has('email')) form.fault('email', 'is required.')
  const email = form.text('email', emailMax)
  if (email !== undefined && !emailPattern.test(email))
    form.fault('email', 'must be an e-mail address.')
  const role = roleIn(form)
  const message = form.isNull('message') ? null : (form.text('message', messageMax) ?? null)
  form.check()
  return { email: email ?? '', role, message }
}

/** The role that a body names. */
export function roleIn(form: Form): Role {
  const text = form.has('role') ? form.text('role', 40) : undefined
  const role = text === undefined ? undefined : roleOf(text)
  if (!form.has('role')) form.fault('role', 'is required.')
  else if (text !== undefined && role === undefined)
    form.fault('role', `must be one of ${roles.join(', ')}.`)
  return role ?? 'read_only'
}

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
        'This person is a member already, or is in another organization, which they would have to leave first.',
      )
    case 'last_admin':
      return stateForbids(
        'last_admin',
        'An organization keeps at least one admin: make somebody else an admin first.',
      )
    case 'invitation_expired':
      return stateForbids('invitation_expired', 'The invitation is over; ask for a new one.')
    case 'invitation_used':
      return stateForbids(
        'invitation_used',
        'The invitation has been accepted before; it is good once.',
      )
    case 'limit':
      return stateForbids(
        'invitation_limit_reached',
        `The organization has ${refusal.limit} open invitations, the most there may be.`,
        {
          limit: refusal.limit,
        },
      )
  }
}
