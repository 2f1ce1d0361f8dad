import { t } from '../../../http/answer/schema.ts'
import { requireAction } from '../../../http/gate/permission.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { body, optional, text } from '../../../http/input/body-schema.ts'
import { textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import { isoInstant, startOfMonth } from '../../../lib/time/instant.ts'
import { activeMembers, type Belonging } from '../service/memberships.ts'
import { PersonBody, RoleBody, resultOf } from './organization-form.ts'
import {
  Dashboard,
  InvitationShape,
  invitationRow,
  MemberShape,
  memberRow,
  Named,
} from './organization-row.ts'
import { selfAccess } from './session-row.ts'

const read = { meter: false } as const
const change = { meter: false, header: true, action: 'change_members' } as const

const tokenMax = 200
const tokenDescription = 'The token from the e-mail; required if the account has another address.'
const AcceptBody = body({ token: optional(text(tokenMax, { description: tokenDescription })) })

const memberId = { id: t.string('Id of the member.', '00000000-0000-4000-8000-000000000601') }
const invitationId = {
  id: t.string('Id of the invitation.', '00000000-0000-4000-8000-000000000603'),
}

function dashboard({ organizations, meter, now }: Context) {
  const row = (
    { organization, members: people, invitations: openInvitations, me }: Belonging,
    caller: Caller,
  ) => ({
    organization: {
      id: organization.id,
      name: organization.name,
      created_at: isoInstant(organization.createdAt),
      owner: people.find(({ accountId }) => accountId === organization.accountId)?.email ?? '',
      plan: caller.entitled.planId,
      member_count: activeMembers(people).length,
      api_calls_this_month: meter.monthly(caller.key.account, startOfMonth(now())),
      your_role: me.role,
    },
    members: people.map(memberRow),
    invitations: openInvitations.map(invitation => invitationRow(invitation, now())),
  })
  return [
    operation('GET /organizations/dashboard', {
      operationId: 'getOrganization',
      summary: 'Get the organization',
      description:
        "Returns the caller's organization with its members and invitations; 404 if the account belongs to none. An organization acts on the account of its owner, who is one of its admins: the owner's plan applies to every member, and members' API keys and sessions see and change the owner's data within their role. Keys belong to the person who created them and act on that person's own account after they leave. An account belongs to at most one organization.",
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

/**
 * How an invitation is accepted without an e-mail. The address has no token: it opens nothing for
 * anyone who is not signed in with the invited address.
 */
const unsentText = ({ id, email }: { id: string; email: string }, baseUrl: string) =>
  `No e-mail was sent to ${email}, because this service has no mail provider. They accept the invitation on ${baseUrl}/account/members?invitation=${id}, signed in with this address.`

function members({ organizations, mail, ownUrl }: Context) {
  const One = t.Object({ member: MemberShape })
  return [
    operation('POST /organizations/members', {
      operationId: 'addMember',
      summary: 'Add a member',
      description:
        'Adds a person as a pending member and sends an invitation by e-mail; without a mail provider, `message` has the address where they accept. Their keys act for the organization only after they accept. If the account has no organization, one is created, named after the domain of its address, with the caller as admin. Admins only.',
      access: change,
      idempotent: true,
      body: PersonBody.schema,
      answers: { 201: t.Object({ member: MemberShape, message: t.String() }) },
      handle: ({ body, caller }) => {
        const person = PersonBody.read(body)
        const member = resultOf(
          organizations.addMember(caller.key.holder, { ...person, baseUrl: ownUrl() }),
        )
        const invitation = organizations.invitationFor(member)
        return {
          member: memberRow(member),
          message:
            mail.reaches || !invitation
              ? `${member.email} was added and acts for the organization once they accept the invitation sent by e-mail.`
              : `${member.email} was added. ${unsentText(invitation, ownUrl())}`,
        }
      },
    }),
    operation('PATCH /organizations/members/:id', {
      operationId: 'updateMember',
      summary: "Update a member's role",
      description:
        "Changes the role of a member, effective with their next request. You cannot demote the last admin (422 `last_admin`). If the owner is demoted, ownership passes to the longest-serving admin, with that account's plan and data. Admins only.",
      access: change,
      params: memberId,
      body: RoleBody.schema,
      answers: One,
      handle: ({ body, caller, params: { id } }) => {
        const { role } = RoleBody.read(body)
        const changed = organizations.changeRole(caller.key.holder, id, role)
        if (!changed) throw notFound('member', id)
        return { member: memberRow(resultOf(changed)) }
      },
    }),
    operation('DELETE /organizations/members/:id', {
      operationId: 'removeMember',
      summary: 'Remove a member or leave',
      description:
        "Ends a membership or, given the id of an open invitation, withdraws the invitation. Members can leave; only admins can remove others. The last admin cannot leave (422 `last_admin`). The member's keys and sessions then act on their own account. If the owner leaves, ownership passes to the longest-serving admin, with that account's plan and data.",
      access: selfAccess,
      params: memberId,
      answers: {
        200: t.Object({ id: t.String(), deleted: t.Literal(true) }),
        422: ValidationProblem,
      },
      handle: ({ caller, params: { id } }) => {
        if (organizations.of(caller.key.holder)?.me.id !== id)
          requireAction(caller.key, 'change_members')
        const removed = organizations.remove(caller.key.holder, id)
        if (removed === undefined) throw notFound('member', id)
        resultOf(removed === true ? { id } : removed)
        return { id, deleted: true as const }
      },
    }),
  ]
}

/** People who act on one account together. */
export const organizationOperations: Operations = [
  dashboard,
  members,
  operation('POST /organizations/invitations', {
    operationId: 'inviteMember',
    summary: 'Invite a member',
    description:
      'Sends an invitation by e-mail; without a mail provider, `message` has the address where it is accepted. It is valid for 14 days, can be accepted once, and replaces an earlier invitation to the same address. If the account has no organization, one is created. Admins only.',
    access: change,
    idempotent: true,
    body: PersonBody.schema,
    answers: { 201: t.Object({ invitation: InvitationShape, message: t.String() }) },
    handle: ({ at: { organizations, mail, ownUrl, now }, body, caller }) => {
      const person = PersonBody.read(body)
      const invitation = resultOf(
        organizations.invite(caller.key.holder, { ...person, baseUrl: ownUrl() }),
      )
      return {
        invitation: invitationRow(invitation, now()),
        message: mail.reaches
          ? `An invitation has been sent to ${invitation.email}.`
          : unsentText(invitation, ownUrl()),
      }
    },
  }),
  operation('GET /organizations/invitations/:id/accept', {
    operationId: 'getInvitation',
    summary: 'Get an invitation',
    description:
      "Returns an invitation and how to accept it. Visible to the account with the invited address, to holders of the e-mail's token and to members of the organization; 404 for everyone else.",
    access: read,
    params: invitationId,
    query: {
      token: textParameter(tokenDescription, undefined, { maxLength: tokenMax }),
    },
    answers: t.Object({
      invitation: InvitationShape,
      organization: Named,
      can_accept: t.boolean('Whether the caller can accept it now.'),
      next: t.Object({ method: t.Literal('POST'), path: t.String() }),
    }),
    handle: ({ at: { organizations, now }, caller, params: { id }, query }) => {
      const view = organizations.invitation(id, caller.key.holder, query.token)
      if (!view) throw notFound('invitation', id)
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
      "Returns the membership. The caller's account becomes a member: from the next request on, its keys and sessions act on the organization's account. Once only; after 14 days, when it was withdrawn or a newer one was sent 422 `invitation_expired`, whose message says which. A member of another organization must leave it first (422 `already_member`), and an account with its own subscription must cancel it first (422 `own_subscription`); an existing member keeps the higher of the two roles.",
    access: selfAccess,
    params: invitationId,
    body: AcceptBody.schema,
    answers: t.Object({ invitation: InvitationShape, member: MemberShape, organization: Named }),
    handle: ({ at: { organizations, now }, body, caller, params: { id } }) => {
      const { token } = AcceptBody.read(body)
      const accepted = organizations.accept(id, caller.key.holder, token)
      if (!accepted) throw notFound('invitation', id)
      const { invitation, member, organization } = resultOf(accepted)
      return {
        invitation: invitationRow(invitation, now()),
        member: memberRow(member),
        organization: { id: organization.id, name: organization.name },
      }
    },
  }),
]
