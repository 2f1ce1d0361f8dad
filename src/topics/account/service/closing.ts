import type { Runtime } from '../../../config/runtime.ts'
import { transact, withoutTraces } from '../../../database/database.ts'
import { firstPlan } from '../../../plans/plans.ts'
import type { KeyChanges } from '../../keys/service/key-changes.ts'
import { type AccountState, heldKeys, type Keyring } from '../../keys/service/keyring.ts'
import type { ClosedAccountStore } from '../store/closed-accounts.ts'
import type { OrganizationStore } from '../store/organizations.ts'
import { activeMembers } from './memberships.ts'
import type { Organizations } from './organizations.ts'
import type { Sessions } from './sessions.ts'

/** Ends everything of one kind that an account has. */
export type Ending = (accountId: string) => void

export const endingOf =
  <T>({
    list,
    remove,
  }: {
    list(accountId: string): readonly T[]
    remove(thing: T): void
  }): Ending =>
  accountId => {
    for (const thing of [...list(accountId)]) remove(thing)
  }

/** Why an account cannot be closed or erased. */
export type ClosingRefusal = 'taken' | 'in_organization' | 'not_closed' | 'subscribed'

/** The address of an account, and its end. */
export type AccountClosing = ReturnType<typeof createAccountClosing>

export interface AccountClosingDeps extends Pick<Runtime, 'db' | 'clock'> {
  keys: Keyring
  keyChanges: KeyChanges
  sessions: Sessions
  organizations: Organizations
  organizationStore: OrganizationStore
  closedAccounts: ClosedAccountStore
  /** Whether a subscription continues: the account would be charged after its end. */
  isSubscribed(accountId: string): boolean
  endings: readonly Ending[]
}

/** The address of an erased account; nothing is ever sent there. */
const erasedAddress = (accountId: string) => `erased-${accountId}@invalid`

export function createAccountClosing(deps: AccountClosingDeps) {
  const { db, clock, keys, keyChanges, sessions, organizations, closedAccounts } = deps
  const { organizationStore } = deps
  function close(open: AccountState): ClosingRefusal | undefined {
    const { id } = open.account
    if (closedAccounts.find(id)) return undefined
    if (deps.isSubscribed(id)) return 'subscribed'
    const membership = organizations.of(open)
    if (membership && activeMembers(membership.members).length > 1) {
      // Others act on the account of an owner; a member leaves.
      if (membership.organization.accountId === id) return 'in_organization'
      organizations.remove(open, membership.me.id)
    }
    const state = keys.account(id)!
    const belonging = organizations.of(state)
    transact(db, () => {
      if (belonging) organizationStore.remove(belonging.organization.id)
      for (const end of deps.endings) end(id)
      for (const key of heldKeys(state))
        if (key.key.revokedAt === null) keyChanges.revokeKey(key, { evenLast: true })
      sessions.endAll(id)
      closedAccounts.endCredentials(id)
      keyChanges.changeAccount(state, { suspended: true, plan: firstPlan, addOns: [] })
      closedAccounts.close(id, clock.now())
    })
    if (belonging) keys.place(id)
    return undefined
  }

  return {
    /** The stage of an account's closing; undefined for an open one. */
    statusOf: ({ account }: AccountState) => closedAccounts.find(account.id),
    /** Changes the address; links to the old one do not sign in any more. */
    changeAddress(state: AccountState, email: string): ClosingRefusal | undefined {
      const { account } = state
      const address = email.toLowerCase()
      if (address === account.email) return undefined
      const holder = keys.accountByEmail(address)?.account.id ?? organizationStore.holderOf(address)
      if (holder !== undefined && holder !== account.id) return 'taken'
      transact(db, () => {
        closedAccounts.endCredentials(account.id, ['sign_in_links'])
        const member = organizationStore.memberByAccount(account.id)
        const listed = member && organizationStore.memberByAddress(member.organizationId, address)
        if (member && !listed?.accountId) {
          // The person was added by the new address too, and has not accepted.
          if (listed) organizationStore.removeMember(listed.id)
          organizationStore.putMember({ ...member, email: address })
        }
        keys.putAccount({ ...account, email: address })
      })
      return undefined
    },
    /**
     * Closes an account: revokes its keys, ends its sessions and stops its scheduled work. It stays
     * suspended, and the rest of its data is retained until it is erased.
     */
    close: (open: AccountState): ClosingRefusal | undefined => withoutTraces(db, () => close(open)),
    /** Forgets the person of a closed account. Invoices and counts of use stay. */
    erase(state: AccountState): ClosingRefusal | undefined {
      const { account } = state
      const closed = closedAccounts.find(account.id)
      if (!closed) return 'not_closed'
      if (closed.erasedAt !== null) return undefined
      withoutTraces(db, () =>
        transact(db, () => {
          for (const key of heldKeys(state))
            keys.changeKey(key, { name: null, allowedIps: [], allowedDomains: [] })
          closedAccounts.erase(account.id, account.email, clock.now())
          keys.putAccount({ ...account, email: erasedAddress(account.id), emailConfirmedAt: null })
        }),
      )
      return undefined
    },
  }
}
