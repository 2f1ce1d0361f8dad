import { t } from 'elysia'
import type { Caller } from '../../../http/gate/gate.ts'
import { requireAction } from '../../../http/gate/permission.ts'
import { body, optional, text } from '../../../http/input/body-schema.ts'
import { textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant, startOfMonth } from '../../../lib/time/instant.ts'
import type { Belonging } from '../service/memberships.ts'
import { PersonBody, RoleBody, resultOf } from './organization-form.ts'
import {
  Dashboard,
  InvitationShape,
  invitationRow,
  MemberShape,
  memberRow,
  Named,
} from './organization-row.ts'

export type OrganizationsDeps = Pick<
  Context,
  'organizations' | 'meter' | 'idempotency' | 'ownUrl' | 'now'
>

const read = { meter: false } as const
const change = { meter: false, header: true, action: 'change_members' } as const
/** The membership of the caller; whether it is theirs shows when the member is found. */
const own = { meter: false, header: true, action: 'self' } as const

const tokenMax = 200
const tokenDescription = 'The token in the letter, for an account with another address.'
const AcceptBody = body({ token: optional(text(tokenMax, { description: tokenDescription })) })

const memberId = t.Object({
  id: t.String({
    description: 'Id of the member.',
    examples: ['00000000-0000-4000-8000-000000000601'],
  }),
})
const invitationId = t.Object({
  id: t.String({
    description: 'Id of the invitation.',
    examples: ['00000000-0000-4000-8000-000000000603'],
  }),
})
/** People who act on one account together. */
export const organizationOperations = (deps: OrganizationsDeps) => [
  ...dashboard(deps),
  ...members(deps),
  ...invitations(deps),
]

function dashboard({ organizations, meter, now }: OrganizationsDeps) {
  const row = (
    { organization, members: people, invitations: openInvitations, me }: Belonging,
    caller: Caller,
  ) => ({
    organization: {
      id: organization.id,
      name: organization.name,
      created_at: isoInstant(organization.createdAt),
      plan: caller.entitled.planId,
      member_count: people.length,
      api_calls_this_month: meter.monthly(caller.key.account, startOfMonth(now())),
      your_role: me.role,
    },
    members: people.map(memberRow),
    invitations: openInvitations.map(invitation => invitationRow(invitation, now())),
  })
  return [
    operation('GET /organizations/dashboard', {
      operationId: 'getOrganization',
      summary: 'The organization',
      description:
        "The caller's organization with its members and invitations; 404 where the account is in none. An organization acts on the account of its owner, who is one of its admins: the owner's plan counts for every member, and the API keys and sessions of all members see and change the owner's data as far as their role goes. Keys stay with who made them: whoever leaves takes theirs along, and they act on that person's own account again. An account is in one organization at most.",
      tags: ['organizations'],
      access: read,
      answers: { 200: Dashboard, 404: NestedProblem },
      handle: ({ caller }) => {
        const belonging = organizations.of(caller.key.holder)
        if (!belonging) throw notFound('An organization of this account')
        return row(belonging, caller)
      },
    }),
  ]
}

function members({ organizations, ownUrl }: OrganizationsDeps) {
  const One = t.Object({ member: MemberShape })
  return [
    operation('POST /organizations/members', {
      operationId: 'addMember',
      summary: 'Add a member',
      description:
        'Lists a person at once and mails them. Their keys act for the organization only after they have accepted: nobody is moved without consent. The first call of an account that is in no organization makes one, named after the domain of its address, with the caller as its admin. Admins only.',
      tags: ['organizations'],
      access: change,
      idempotent: true,
      body: PersonBody.schema,
      answers: { 201: t.Object({ member: MemberShape, message: t.String() }) },
      handle: ({ body, caller, reply }) => {
        const person = PersonBody.read(body)
        const member = resultOf(
          organizations.addMember(caller.key.holder, { ...person, baseUrl: ownUrl() }),
        )
        reply.status = 201
        return {
          member: memberRow(member),
          message: `${member.email} is listed and acts for the organization once they accept by the letter that they get.`,
        }
      },
    }),
    operation('PATCH /organizations/members/:id', {
      operationId: 'changeMember',
      summary: "Change a member's role",
      description:
        'Takes effect with the next request of the member. The last admin stays one (422 `last_admin`). Where the owner is no admin any more, the organization goes on with the account of the admin who has been there longest, its plan and its data. Admins only.',
      tags: ['organizations'],
      access: change,
      params: memberId.properties,
      body: RoleBody.schema,
      answers: { 200: One },
      handle: ({ body, caller, params: { id } }) => {
        const { role } = RoleBody.read(body)
        const changed = organizations.changeRole(caller.key.holder, id, role)
        if (!changed) throw notFound('The member')
        return { member: memberRow(resultOf(changed)) }
      },
    }),
    operation('DELETE /organizations/members/:id', {
      operationId: 'removeMember',
      summary: 'Remove a member, or leave',
      description:
        "Ends a membership; with the id of an open invitation it withdraws that. Everybody may leave, only admins remove others, and the last admin stays (422 `last_admin`). The member's keys and sessions act on their own account from the next request on. When the owner leaves, the organization goes on with the account of the admin who has been there longest, its plan and its data.",
      tags: ['organizations'],
      access: own,
      params: memberId.properties,
      answers: {
        200: t.Object({ id: t.String(), deleted: t.Literal(true) }),
        422: ValidationProblem,
      },
      handle: ({ caller, params: { id } }) => {
        if (organizations.of(caller.key.holder)?.me.id !== id)
          requireAction(caller.key, 'change_members')
        const removed = organizations.remove(caller.key.holder, id)
        if (removed === undefined) throw notFound('The member')
        resultOf(removed === true ? { id } : removed)
        return { id, deleted: true as const }
      },
    }),
  ]
}

function invitations({ organizations, ownUrl, now }: OrganizationsDeps) {
  return [
    operation('POST /organizations/invitations', {
      operationId: 'inviteMember',
      summary: 'Invite somebody',
      description:
        'Mails an invitation that is open for 14 days and can be accepted once; it takes the place of an earlier one to the same address. An account that is in no organization gets one with its first invitation. Admins only.',
      tags: ['organizations'],
      access: change,
      idempotent: true,
      body: PersonBody.schema,
      answers: { 201: t.Object({ invitation: InvitationShape, message: t.String() }) },
      handle: ({ body, caller, reply }) => {
        const person = PersonBody.read(body)
        const invitation = resultOf(
          organizations.invite(caller.key.holder, { ...person, baseUrl: ownUrl() }),
        )
        reply.status = 201
        return {
          invitation: invitationRow(invitation, now()),
          message: `A letter is on its way to ${invitation.email}.`,
        }
      },
    }),
    operation('GET /organizations/invitations/:id/accept', {
      operationId: 'getInvitation',
      summary: 'Look at an invitation',
      description:
        "An invitation and what to do to accept it; changes nothing. It is there for the account with the invited address, for whoever shows the letter's token, and for the organization's members; for all others it does not exist.",
      tags: ['organizations'],
      access: read,
      params: invitationId.properties,
      query: {
        token: textParameter({ description: tokenDescription, maxLength: tokenMax }),
      },
      answers: {
        200: t.Object({
          invitation: InvitationShape,
          organization: Named,
          can_accept: t.Boolean({ description: 'Whether the caller may accept it now.' }),
          next: t.Object({ method: t.Literal('POST'), path: t.String() }),
        }),
      },
      handle: ({ caller, params: { id }, query }) => {
        const view = organizations.invitation(id, caller.key.holder, query.token)
        if (!view) throw notFound('The invitation')
        const { organization, invitation, canAccept } = view
        return {
          invitation: invitationRow(invitation, now()),
          organization: { id: organization.id, name: organization.name },
          can_accept: canAccept,
          next: {
            method: 'POST' as const,
            path: `/organizations/invitations/${invitation.id}/confirm_accept`,
          },
        }
      },
    }),
    operation('POST /organizations/invitations/:id/confirm_accept', {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation',
      description:
        "The caller's account becomes a member: from the next request on its keys and sessions act on the organization's account. Once only; after 14 days 422 `invitation_expired`. Who is in another organization leaves it first (422 `already_member`); who is a member already keeps the higher of the two roles.",
      tags: ['organizations'],
      access: own,
      params: invitationId.properties,
      body: AcceptBody.schema,
      answers: {
        200: t.Object({ invitation: InvitationShape, member: MemberShape, organization: Named }),
      },
      handle: ({ body, caller, params: { id } }) => {
        const { token } = AcceptBody.read(body)
        const accepted = organizations.accept(id, caller.key.holder, token)
        if (!accepted) throw notFound('The invitation')
        const { invitation, member, organization } = resultOf(accepted)
        return {
          invitation: invitationRow(invitation, now()),
          member: memberRow(member),
          organization: { id: organization.id, name: organization.name },
        }
      },
    }),
  ]
}
