import { transact } from '../../../database/database.ts'
import { isToken, tokenHash } from '../../../lib/secrets/token.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { firstPlan } from '../../../plans/plans.ts'
import { memberWords, type Role } from '../../../plans/roles/roles.ts'
import { type AccountState, confirmedAccount } from '../../keys/service/keyring.ts'
import type { Invitation, Member, Organization } from '../store/organizations.ts'
import {
  activeMembers,
  type Belonging,
  createMemberships,
  invitationState,
  type OrganizationRefusal,
  type OrganizationsDeps,
  type Reads,
  Refused,
} from './memberships.ts'
import { invitationMessage } from './sign-in-messages.ts'

/** An invitation as a permitted user sees it. */
export interface SeenInvitation {
  invitation: Invitation
  organization: Organization
  canAccept: boolean
}

/** The recipient of an invitation e-mail, and the target of its link. */
export interface MemberRequest {
  email: string
  role: Role
  message?: string | null
  /** Address of this service, for the link in the e-mail. */
  baseUrl: string
}

/**
 * Organizations: several users act on one account. It is the account of one of the admins, the
 * owner: its plan applies, the keys of all members act on its data, and it stays the owner's. A
 * user who leaves takes their keys and their account along; when the owner leaves or stops being an
 * admin, the organization continues with the account of the longest-standing admin.
 */
export type Organizations = ReturnType<typeof createOrganizations>

const invitationDays = 14
/**
 * The open invitations of one organization: anonymous users must not use this service to send mail.
 */
const openInvitationsMax = 50

export const invitationUrl = (baseUrl: string, token: string): string =>
  `${baseUrl}/invitation?token=${token}`

export function createOrganizations(deps: OrganizationsDeps) {
  const reads = createMemberships(deps)
  return {
    /** Undefined for an account that is in none. */
    of: reads.of,
    ...invitingOf(deps, reads),
    ...membershipsOf(deps, reads),
    ...newcomersOf(deps, reads),
    ...invitationsOf(deps, reads),
    ...placingOf(deps, reads),
  }
}

/** The organization that an account is in, made where it is in none. */
const createOwnOrganization =
  ({ store, ids, clock }: OrganizationsDeps, of: Reads['of']) =>
  (account: AccountState): Belonging => {
    const belonging = of(account)
    if (belonging) return belonging
    const { id: accountId, email } = account.account
    const now = clock.now()
    const organization: Organization = {
      id: ids.uuid(),
      name: email.split('@').at(-1)!,
      accountId,
      createdAt: now,
    }
    store.put(organization)
    const me: Member = {
      id: ids.uuid(),
      organizationId: organization.id,
      accountId,
      email,
      role: 'admin',
      joinedAt: now,
    }
    store.putMember(me)
    return { organization, members: [me], invitations: [], me }
  }

/** Writes an invitation with its letter. */
const createInviter =
  ({ store, ids, clock, mail, serviceName }: OrganizationsDeps) =>
  (
    belonging: Belonging,
    { email, role, message = null, baseUrl }: MemberRequest,
    memberId: string | null,
  ): Invitation => {
    const { organization, me } = belonging
    const now = clock.now()
    const token = ids.token()
    const invitation: Invitation = {
      id: ids.uuid(),
      organizationId: organization.id,
      email,
      role,
      message,
      memberId,
      tokenHash: tokenHash(token),
      invitedBy: me.email,
      createdAt: now,
      expiresAt: now + invitationDays * dayMs,
      acceptedAt: null,
    }
    store.endInvitations(organization.id, email, now)
    store.putInvitation(invitation)
    const mailMessage = invitationMessage({
      serviceName,
      organization: organization.name,
      invitedBy: me.email,
      hasMessage: message !== null && message.trim() !== '',
      days: invitationDays,
      role: memberWords[role],
      url: invitationUrl(baseUrl, token),
    })
    mail.post({
      ...mailMessage,
      to: email,
      accountId: organization.accountId,
      dedupe: `invitation:${invitation.id}`,
      confidential: true,
    })
    return invitation
  }

/** Adding people and inviting them. */
function invitingOf(deps: OrganizationsDeps, { of, isOpen }: Reads) {
  const { store, ids, clock, db } = deps
  const ownOrganization = createOwnOrganization(deps, of)
  const sendInvitation = createInviter(deps)

  /**
   * Does the work if the user may be invited: is not a member yet, and there is room. `listed`: a
   * member whose invitation ended before they accepted it.
   */
  const whereRoom = <T>(
    account: AccountState,
    { email }: MemberRequest,
    work: (belonging: Belonging, listed: Member | undefined) => T,
  ): T | OrganizationRefusal => {
    const current = of(account)
    const open = current ? store.invitations(current.organization.id).filter(isOpen) : []
    const listed = current?.members.find(member => member.email === email)
    const isExpected = open.some(invitation => invitation.memberId === listed?.id)
    if (account.account.email === email || (listed && (listed.accountId !== null || isExpected)))
      return { refused: 'already_member' }
    if (open.length >= openInvitationsMax) return { refused: 'limit', limit: openInvitationsMax }
    return transact(db, () => work(ownOrganization(account), listed))
  }

  return {
    /** The open invitation of a listed member. */
    invitationFor: ({ id, organizationId }: Member): Invitation | undefined =>
      store
        .invitations(organizationId)
        .filter(isOpen)
        .find(({ memberId }) => memberId === id),
    /**
     * Lists a user as a member at once; they act for the organization once they have accepted the
     * invitation e-mail. The first call of an account without an organization creates one, with the
     * account as its owner.
     */
    addMember(account: AccountState, wish: MemberRequest): Member | OrganizationRefusal {
      const person = { ...wish, email: wish.email.toLowerCase() }
      return whereRoom(account, person, (belonging, listed) => {
        const { email, role } = person
        const organizationId = belonging.organization.id
        const member: Member = {
          id: listed?.id ?? ids.uuid(),
          organizationId,
          accountId: null,
          email,
          role,
          joinedAt: clock.now(),
        }
        store.putMember(member)
        sendInvitation(belonging, person, member.id)
        return member
      })
    },
    /**
     * Invites a person, who is listed after accepting. Replaces an earlier invitation of the
     * address.
     */
    invite(account: AccountState, wish: MemberRequest): Invitation | OrganizationRefusal {
      const person = { ...wish, email: wish.email.toLowerCase() }
      return whereRoom(account, person, (belonging, listed) =>
        sendInvitation(belonging, person, listed?.id ?? null),
      )
    },
  }
}

/** Why an account cannot join an organization. */
export type JoinRefusal = 'already_member' | 'own_subscription'

/**
 * An account alone in its organization may join another one, unless it would be charged for a
 * subscription that its person could no longer see or cancel.
 */
const joining =
  ({ isSubscribed }: OrganizationsDeps, of: Reads['of']) =>
  (account: AccountState, organization: Organization): JoinRefusal | undefined => {
    const belonging = of(account)
    const { id } = account.account
    const isElsewhere = belonging && belonging.organization.id !== organization.id
    if (isElsewhere && activeMembers(belonging.members).length > 1) return 'already_member'
    return organization.accountId !== id && isSubscribed(id) ? 'own_subscription' : undefined
  }

/** Memberships that an identity provider grants, which need no acceptance. */
function placingOf(deps: OrganizationsDeps, { of, changing }: Reads) {
  const { store, ids, clock } = deps
  const ownOrganization = createOwnOrganization(deps, of)
  const whyNot = joining(deps, of)
  return {
    /**
     * Gives an account its role in an organization, and makes it a member if it is in none. Without
     * an organization, an admin's account makes one.
     */
    placeIn(
      organizationId: string | undefined,
      account: AccountState,
      role: Role,
    ): { organization?: Organization; refused?: JoinRefusal } {
      const belonging = of(account)
      const target = organizationId === undefined ? undefined : store.byId(organizationId)
      if (!target)
        return role === 'admin' ? { organization: ownOrganization(account).organization } : {}
      const isMember = belonging?.organization.id === target.id
      const refused = isMember ? undefined : whyNot(account, target)
      if (refused) return { organization: target, refused }
      const { id: accountId, email } = account.account
      changing(target.id, () => {
        if (belonging && belonging.organization.id !== target.id)
          store.remove(belonging.organization.id)
        // A person who was added by this address before is listed already.
        const listed = store.memberByAddress(target.id, email)
        const member = store.memberByAccount(accountId) ?? {
          id: listed?.id ?? ids.uuid(),
          organizationId: target.id,
          accountId,
          email,
          joinedAt: clock.now(),
        }
        store.putMember({ ...member, role })
      })
      return { organization: target }
    },
  }
}

/** Changes to members, and to invitations that are revoked. */
function membershipsOf({ store, clock }: OrganizationsDeps, { of, changing, isOpen }: Reads) {
  return {
    /** Undefined where the id belongs to no member of the account's organization; so also below. */
    changeRole(
      account: AccountState,
      memberId: string,
      role: Role,
    ): Member | OrganizationRefusal | undefined {
      const belonging = of(account)
      const member = belonging?.members.find(member => member.id === memberId)
      if (!belonging || !member) return undefined
      const changed = { ...member, role }
      return changing(belonging.organization.id, () => {
        store.putMember(changed)
        return changed
      })
    },
    /** Takes a member out, or withdraws an invitation. */
    remove(account: AccountState, id: string): true | OrganizationRefusal | undefined {
      const belonging = of(account)
      if (!belonging) return undefined
      const { organization, members, invitations } = belonging
      const member = members.find(member => member.id === id)
      const invitation = invitations.find(invitation => invitation.id === id && isOpen(invitation))
      if (!member && !invitation) return undefined
      return changing(organization.id, () => {
        if (member) store.removeMember(member.id)
        store.endInvitations(organization.id, (member ?? invitation)!.email, clock.now())
        return true as const
      })
    },
  }
}

/** Accounts for people who have been invited and have none. */
function newcomersOf({ store, keys, ids, clock }: OrganizationsDeps, { isOpen }: Reads) {
  return {
    /**
     * The account of an invited address, created when there is none. Undefined where it belongs to
     * another user.
     */
    newcomer(token: string): AccountState | undefined {
      const invitation = isToken(token) ? store.invitationByToken(tokenHash(token)) : undefined
      if (!invitation || !isOpen(invitation)) return undefined
      if (keys.accountByEmail(invitation.email) || store.holderOf(invitation.email))
        return undefined
      const now = clock.now()
      return keys.putAccount(
        confirmedAccount({ id: ids.uuid(), email: invitation.email, plan: firstPlan }, now),
      )
    },
  }
}

const used = 'The invitation has already been accepted.'

const ranks: Record<Role, number> = { read_only: 0, member: 1, admin: 2 }

function invitationsOf(deps: OrganizationsDeps, { of, changing, isOpen }: Reads) {
  const { store, clock, ids } = deps
  const whyNot = joining(deps, of)
  const byToken = (token: string | undefined) =>
    token !== undefined && isToken(token) ? store.invitationByToken(tokenHash(token)) : undefined

  const isAddressee = ({ account }: AccountState, email: string) =>
    account.email === email || store.addresses(account.id).includes(email)

  const seenInvitation = (
    id: string,
    account: AccountState,
    token?: string,
  ): SeenInvitation | undefined => {
    const invitation = store.invitation(id)
    if (!invitation) return undefined
    const organization = store.byId(invitation.organizationId)!
    const invited = isAddressee(account, invitation.email) || byToken(token)?.id === id
    if (!invited && store.memberByAccount(account.account.id)?.organizationId !== organization.id)
      return undefined
    return {
      invitation,
      organization,
      canAccept: invited && isOpen(invitation) && whyNot(account, organization) === undefined,
    }
  }

  /**
   * The future member: the existing membership of the account, the one listed for the invitation,
   * or a new one.
   */
  const memberOf = (invitation: Invitation, account: AccountState): Member => {
    const now = clock.now()
    const { organizationId, email, role, memberId } = invitation
    const membership = store.memberByAccount(account.account.id)
    const listed = store.members(organizationId).find(member => member.id === memberId)
    if (membership?.organizationId === organizationId) {
      if (listed && listed.id !== membership.id) store.removeMember(listed.id)
      return ranks[role] > ranks[membership.role] ? { ...membership, role } : membership
    }
    const accountId = account.account.id
    if (listed) return { ...listed, accountId, joinedAt: now }
    return { id: ids.uuid(), organizationId, accountId, email, role, joinedAt: now }
  }

  /** Why an invitation can no longer be accepted, as a sentence; undefined: it can. */
  const whyOver = (invitation: Invitation): string | undefined => {
    const state = invitationState(invitation, clock.now())
    if (state === 'pending') return undefined
    if (state === 'accepted') return used
    if (store.isReplaced(invitation))
      return `A newer invitation was sent to ${invitation.email}. Use the link in that e-mail.`
    return invitation.expiresAt < invitation.createdAt + invitationDays * dayMs
      ? 'The invitation was withdrawn. Ask for a new one.'
      : 'The invitation has expired. Ask for a new one.'
  }

  return {
    whyOver,
    /**
     * Undefined where the account was not invited, has no membership and does not present the token
     * of the e-mail.
     */
    invitation: seenInvitation,
    invitationByToken(token: string): Omit<SeenInvitation, 'canAccept'> | undefined {
      const invitation = byToken(token)
      return invitation && { invitation, organization: store.byId(invitation.organizationId)! }
    },
    accept(
      id: string,
      account: AccountState,
      token?: string,
    ): (SeenInvitation & { member: Member }) | OrganizationRefusal | undefined {
      const view = seenInvitation(id, account, token)
      if (!view) return undefined
      const { invitation, organization } = view
      if (!isAddressee(account, invitation.email) && byToken(token)?.id !== id) return undefined
      const why = whyOver(invitation)
      if (why !== undefined)
        return { refused: why === used ? 'invitation_used' : 'invitation_expired', why }
      const refused = whyNot(account, organization)
      if (refused) return { refused }
      const belonging = of(account)
      const now = clock.now()
      const done = changing(organization.id, () => {
        if (!store.accept(id, now)) throw new Refused({ refused: 'invitation_used', why: used })
        if (belonging && belonging.organization.id !== organization.id)
          store.remove(belonging.organization.id)
        const member = memberOf(invitation, account)
        store.putMember(member)
        store.addAddress(invitation.email, account.account.id, now)
        return {
          organization,
          invitation: { ...invitation, acceptedAt: now },
          canAccept: false,
          member,
        }
      })
      return done
    },
  }
}
