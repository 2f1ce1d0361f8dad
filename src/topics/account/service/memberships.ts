import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { keepsAdmin } from '../../../plans/roles/roles.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { Invitation, Member, Organization, OrganizationStore } from '../store/organizations.ts'

/** An organization as one of its members sees it. */
export interface Belonging {
  organization: Organization
  members: readonly Member[]
  /** Without those of people who are listed as members already. */
  invitations: readonly Invitation[]
  me: Member
}

/** Members who have accepted. Invited people are listed as members too, and have no access. */
export const activeMembers = (members: readonly Member[]): readonly Member[] =>
  members.filter(({ accountId }) => accountId !== null)

export type OrganizationRefusal =
  | { refused: 'already_member' | 'last_admin' | 'own_subscription' }
  | { refused: 'invitation_expired' | 'invitation_used'; why: string }
  | { refused: 'limit'; limit: number }

export interface OrganizationsDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  keys: Keyring
  store: OrganizationStore
  mail: Pick<Mail, 'post'>
  serviceName: string
  /** Whether a subscription continues: a member could neither see nor cancel it. */
  isSubscribed(accountId: string): boolean
}

export const invitationState = (
  invitation: Invitation,
  now: number,
): 'pending' | 'accepted' | 'expired' => {
  if (invitation.acceptedAt !== null) return 'accepted'
  return now >= invitation.expiresAt ? 'expired' : 'pending'
}

/** Carries a refusal out of a transaction that it undoes. */
export class Refused extends Error {
  constructor(readonly refusal: OrganizationRefusal) {
    super(refusal.refused)
  }
}

export type Reads = ReturnType<typeof createMemberships>

/** The memberships of accounts, and the only way to change them. */
export function createMemberships({ db, keys, store, clock }: OrganizationsDeps) {
  const belongingOf = (account: AccountState): Belonging | undefined => {
    const me = store.memberByAccount(account.account.id)
    const organization = me && store.byId(me.organizationId)
    if (!me || !organization) return undefined
    const invitations = store
      .invitations(organization.id)
      .filter(invitation => invitation.memberId === null)
    return { organization, members: store.members(organization.id), invitations, me }
  }

  /**
   * Where a change left no one in charge it is undone; where the owner is in charge no longer,
   * another admin's account takes over.
   */
  const settle = (organizationId: string) => {
    const organization = store.byId(organizationId)!
    const members = store.members(organizationId)
    if (!keepsAdmin(members)) throw new Refused({ refused: 'last_admin' })
    const inCharge = members.filter(member => member.role === 'admin' && member.accountId !== null)
    if (inCharge.some(member => member.accountId === organization.accountId)) return
    store.put({ ...organization, accountId: inCharge[0]!.accountId! })
  }

  /**
   * Runs in one transaction; afterwards the keys of all affected users act on the right account.
   */
  const changing = <T>(organizationId: string, work: () => T): T | OrganizationRefusal => {
    const before = store.members(organizationId)
    try {
      const result = transact(db, () => {
        const result = work()
        settle(organizationId)
        return result
      })
      for (const member of [...before, ...store.members(organizationId)])
        if (member.accountId !== null) keys.place(member.accountId)
      return result
    } catch (error) {
      if (error instanceof Refused) return error.refusal
      throw error
    }
  }
  const isOpen = (invitation: Invitation) => invitationState(invitation, clock.now()) === 'pending'
  return { of: belongingOf, changing, isOpen }
}
