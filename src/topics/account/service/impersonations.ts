import type { Ids } from '../../../lib/ids.ts'
import { tokenName } from '../../../lib/secrets/token.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'

/** An operator's temporary view of an account; instants are Unix ms. */
export interface Impersonation {
  id: string
  accountId: string
  /** The impersonating operator, in the words of the audit trail. */
  actor: string
  begunAt: number
  expiresAt: number
}

/**
 * Impersonations of accounts. They are only in memory: a restart ends all of them, and nothing of
 * them is stored.
 */
export type Impersonations = ReturnType<typeof createImpersonations>

export interface ImpersonationsDeps {
  keys: Pick<Keyring, 'account' | 'sessionKey'>
  clock: Pick<Clock, 'now'>
  ids: Pick<Ids, 'uuid' | 'token'>
}

const impersonationsMax = 50

export function createImpersonations({ keys, clock, ids }: ImpersonationsDeps) {
  /** By the hash of the token, in the order in which they were begun. */
  const impersonations = new Map<string, Impersonation>()
  const forget = (isOver: (impersonation: Impersonation) => boolean) => {
    for (const [hash, impersonation] of impersonations)
      if (isOver(impersonation)) impersonations.delete(hash)
  }
  return {
    /** The token is returned only here. Beyond the maximum the oldest impersonation ends. */
    begin(account: AccountState, actor: string, lastsMs: number) {
      const now = clock.now()
      forget(({ expiresAt }) => now >= expiresAt)
      const [oldest] = impersonations.keys()
      if (impersonations.size >= impersonationsMax && oldest !== undefined)
        impersonations.delete(oldest)
      // Made here: looking itself writes nothing.
      keys.sessionKey(account)
      const impersonation: Impersonation = {
        id: ids.uuid(),
        accountId: account.account.id,
        actor,
        begunAt: now,
        expiresAt: now + lastsMs,
      }
      const token = ids.token()
      impersonations.set(tokenName(token), impersonation)
      return { impersonation, token }
    },
    /** The account that a token impersonates. */
    find(token: string) {
      if (impersonations.size === 0) return undefined
      const impersonation = impersonations.get(tokenName(token))
      if (!impersonation || clock.now() >= impersonation.expiresAt) return undefined
      const account = keys.account(impersonation.accountId)
      return account && { impersonation, key: keys.sessionKey(account) }
    },
    /** Those in force, the newest first. */
    list() {
      const now = clock.now()
      forget(({ expiresAt }) => now >= expiresAt)
      return [...impersonations.values()].reverse()
    },
    /** False where there is not one of this id. */
    end(id: string) {
      const before = impersonations.size
      forget(impersonation => impersonation.id === id)
      return impersonations.size < before
    },
  }
}
