import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Limits } from '../../../plans/limits.ts'
import { firstPlan } from '../../../plans/plans.ts'
import type { AddOnId, PlanId } from '../../../plans/tiers.ts'
import type { Account } from '../store/accounts.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { type AccountState, heldKeys, type Keyring, type KeyState, type NewKey } from './keyring.ts'

export interface MadeKey {
  state: KeyState
  /** The whole token, here and nowhere else. */
  token: string
}

/** Why a change of a key is refused. */
export type KeyRefusal =
  | { refused: 'limit'; limit: number; active: number }
  | { refused: 'last_active' }
  | { refused: 'revoked' }

export type KeyChange = Partial<
  Pick<ApiKey, 'name' | 'expiresAt' | 'readOnly' | 'allowedIps' | 'allowedDomains' | 'scopes'>
>

export interface AccountChange {
  plan?: PlanId
  addOns?: readonly AddOnId[]
  /** True starts a trial of the service's length now, false ends the running one. */
  trial?: boolean
  suspended?: boolean
  emailConfirmed?: boolean
}

export interface NewAccount extends AccountChange {
  /** Kept in lower case. */
  email: string
  keyName?: string | null
}

/**
 * The rules by which accounts and keys change, one for the customer, the operator and the command
 * line.
 */
export type KeyChanges = ReturnType<typeof createKeyChanges>

export interface KeyChangeDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  keys: Keyring
  limits: Pick<Limits, 'trialDays'>
}

/**
 * Neither revoked nor expired. A suspended key is active, so that its owner cannot replace it by
 * another.
 */
export const isActive = ({ key }: KeyState, now: number): boolean =>
  key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt)

export function createKeyChanges({ db, keys, limits, clock, ids }: KeyChangeDeps) {
  const activeOf = (states: readonly KeyState[]) =>
    states.filter(state => isActive(state, clock.now())).length

  /**
   * Undefined when there is room for one more. In an organization each member may hold as many keys
   * as its plan allows.
   */
  const noRoom = (holder: AccountState): KeyRefusal | undefined => {
    const limit = keys.entitlements(holder.actsOn).apiKeys
    const active = activeOf(heldKeys(holder))
    return active < limit ? undefined : { refused: 'limit', limit, active }
  }

  const blank = (email: string): Account => ({
    id: ids.uuid(),
    email,
    plan: firstPlan,
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: null,
    suspendedAt: null,
    createdAt: clock.now(),
  })

  const changed = (
    account: Account,
    { plan, addOns, trial, suspended, emailConfirmed }: AccountChange,
  ): Account => {
    const now = clock.now()
    const runs = account.trialEndsAt !== null && now < account.trialEndsAt
    return {
      ...account,
      ...(plan !== undefined && { plan }),
      ...(addOns && { addOns: [...new Set(addOns)] }),
      ...(trial === true && { trialStartedAt: now, trialEndsAt: now + limits.trialDays * dayMs }),
      ...(trial === false && runs && { trialEndsAt: now }),
      ...(suspended !== undefined && { suspendedAt: since(account.suspendedAt, suspended, now) }),
      ...(emailConfirmed !== undefined && {
        emailConfirmedAt: since(account.emailConfirmedAt, emailConfirmed, now),
      }),
    }
  }

  return {
    /**
     * A key that the account holds; refused when it holds as many active ones as the plan allows.
     */
    createKey: (account: AccountState, options: NewKey = {}): MadeKey | KeyRefusal =>
      noRoom(account) ?? keys.addKey(account, options),
    /** Refused for a revoked key and for the last active one; `evenLast` is the operator's. */
    revokeKey(
      state: KeyState,
      { evenLast = false }: { evenLast?: boolean } = {},
    ): KeyState | KeyRefusal {
      const now = clock.now()
      if (state.key.revokedAt !== null) return { refused: 'revoked' }
      if (!evenLast && isActive(state, now) && activeOf(state.account.keys) === 1)
        return { refused: 'last_active' }
      keys.changeKey(state, { revokedAt: now, previousHash: null, previousUntil: null })
      return state
    },
    /**
     * Same id and counters, new token. The old one ends at once, or after `overlapMs`. Refused for
     * a revoked key.
     */
    rollKey(state: KeyState, overlapMs: number = 0): MadeKey | KeyRefusal {
      if (state.key.revokedAt !== null) return { refused: 'revoked' }
      return { state, token: keys.rollKey(state, overlapMs) }
    },
    /**
     * Refused for a revoked key, and where a new expiry would bring back a key for which there is
     * no room.
     */
    changeKey(state: KeyState, change: KeyChange): KeyState | KeyRefusal {
      const now = clock.now()
      if (state.key.revokedAt !== null) return { refused: 'revoked' }
      const { expiresAt } = change
      const returns =
        expiresAt !== undefined && !isActive(state, now) && (expiresAt === null || now < expiresAt)
      const refusal = returns ? noRoom(state.holder) : undefined
      if (refusal) return refusal
      keys.changeKey(state, change)
      return state
    },
    suspendKey(state: KeyState, suspended: boolean) {
      keys.changeKey(state, { suspendedAt: since(state.key.suspendedAt, suspended, clock.now()) })
      return state
    },
    /** An account with its first key; undefined when the address has an account already. */
    createAccount({
      email,
      keyName = null,
      ...change
    }: NewAccount): { account: AccountState; key: MadeKey } | undefined {
      const address = email.toLowerCase()
      if (keys.accountByEmail(address)) return undefined
      try {
        return transact(db, () => {
          const account = keys.putAccount(changed(blank(address), change))
          return { account, key: keys.addKey(account, { name: keyName }) }
        })
      } catch (error) {
        // The account may be in memory while its row was undone.
        keys.reload()
        throw error
      }
    },
    /** All of it in one write. */
    /** An account of a confirmed address, without a key: its person signs in. */
    addPerson: (email: string): AccountState =>
      keys.putAccount(changed(blank(email), { emailConfirmed: true })),
    changeAccount: (account: AccountState, change: AccountChange) =>
      keys.putAccount(changed(account.account, change)),
  }
}

/** A state that already holds keeps its beginning. */
const since = (before: number | null, holds: boolean, now: number): number | null =>
  holds ? (before ?? now) : null
