import type { Ids } from '../../../lib/ids.ts'
import { tokenName } from '../../../lib/secrets/token.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import type { AccountState, Keyring, KeyState } from '../../keys/service/keyring.ts'

/** An operator who sees what an account sees, for a while; instants are Unix ms. */
export interface Look {
  id: string
  accountId: string
  /** Who looks, in the words of the audit trail. */
  actor: string
  begunAt: number
  expiresAt: number
}

/**
 * Looks at accounts. They live in memory: a start ends all of them, and nothing of them is at rest.
 */
export interface Looks {
  /** The token is nowhere else. The oldest look ends where there are too many. */
  begin(account: AccountState, actor: string, lastsMs: number): { look: Look; token: string }
  /** Whose eyes a token lends. */
  find(token: string): { look: Look; key: KeyState } | undefined
  /** Those in force, the newest first. */
  list(): Look[]
  /** False where there is none of this id. */
  end(id: string): boolean
}

export interface LooksDeps {
  keys: Pick<Keyring, 'account' | 'sessionKey'>
  clock: Pick<Clock, 'now'>
  ids: Pick<Ids, 'uuid' | 'token'>
}

const looksMax = 50

export function createLooks({ keys, clock, ids }: LooksDeps): Looks {
  /** By the hash of the token, in the order in which they were begun. */
  const looks = new Map<string, Look>()
  const forget = (isOver: (look: Look) => boolean) => {
    for (const [hash, look] of looks) if (isOver(look)) looks.delete(hash)
  }
  return {
    begin(account, actor, lastsMs) {
      const now = clock.now()
      forget(({ expiresAt }) => now >= expiresAt)
      const [oldest] = looks.keys()
      if (looks.size >= looksMax && oldest !== undefined) looks.delete(oldest)
      // Made here: looking itself writes nothing.
      keys.sessionKey(account)
      const look: Look = {
        id: ids.uuid(),
        accountId: account.account.id,
        actor,
        begunAt: now,
        expiresAt: now + lastsMs,
      }
      const token = ids.token()
      looks.set(tokenName(token), look)
      return { look, token }
    },
    find(token) {
      if (looks.size === 0) return undefined
      const look = looks.get(tokenName(token))
      if (!look || clock.now() >= look.expiresAt) return undefined
      const account = keys.account(look.accountId)
      return account && { look, key: keys.sessionKey(account) }
    },
    list() {
      const now = clock.now()
      forget(({ expiresAt }) => now >= expiresAt)
      return [...looks.values()].reverse()
    },
    end(id) {
      const before = looks.size
      forget(look => look.id === id)
      return looks.size < before
    },
  }
}
