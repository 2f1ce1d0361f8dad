import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Session, SessionStore, SignInMethod } from '../store/sessions.ts'
import { createSessionTokens } from './session-tokens.ts'

export interface SignedIn {
  /** The session token. It is nowhere at rest. */
  token: string
  session: Session
  account: AccountState
}

/**
 * Sign-ins while they last: tokens that are signed, and rows that can end them before their time.
 */
export type Sessions = ReturnType<typeof createSessions>

export interface SessionsDeps extends Pick<Runtime, 'db' | 'ids' | 'clock'> {
  keys: Keyring
  store: SessionStore
  masterKey: string
  /** How long a token lasts, and how long a sign-in with all its refreshed tokens. */
  lifetimes: { tokenMs: number; signInMs: number }
}

const forgottenAtOnce = 100
/** How long a token that was refreshed is still accepted. */
export const reuseGraceMs = 30 * secondMs

export function createSessions({
  db,
  keys,
  store,
  masterKey,
  clock,
  ids,
  lifetimes,
}: SessionsDeps) {
  const tokens = createSessionTokens(masterKey)

  /** Ends on a whole second, because a token expires with that precision. */
  const next = ({
    familyId,
    accountId,
    method,
    begunAt,
  }: Pick<Session, 'familyId' | 'accountId' | 'method' | 'begunAt'>): Session => {
    const createdAt = clock.now()
    const endsAt = Math.min(createdAt + lifetimes.tokenMs, begunAt + lifetimes.signInMs)
    const expiresAt = Math.floor(endsAt / secondMs) * secondMs
    return {
      id: ids.uuid(),
      familyId,
      accountId,
      method,
      begunAt,
      createdAt,
      expiresAt,
      endedAt: null,
      replaced: false,
    }
  }

  /**
   * The current token of the sign-in of a session that was refreshed moments ago. It is the same
   * for every caller: a sign-in never has two current tokens.
   */
  const followingOf = (session: Session, now: number): Session | undefined => {
    const isRecent = session.endedAt !== null && now - session.endedAt <= reuseGraceMs
    return session.replaced && isRecent ? store.newestInForce(session.familyId, now) : undefined
  }

  return {
    /**
     * The first token of a sign-in, good once `write` has written its session. Signing waits, and
     * no transaction may.
     */
    async issue(account: AccountState, method: SignInMethod): Promise<SignedIn> {
      const session = next({
        familyId: ids.uuid(),
        accountId: account.account.id,
        method,
        begunAt: clock.now(),
      })
      const token = await tokens.sign(session)
      keys.sessionKey(account)
      return { token, session, account }
    },
    write(session: Session) {
      store.forget(clock.now(), forgottenAtOnce)
      store.put(session)
    },
    /**
     * The session of a token. A refreshed token is accepted for another `reuseGraceMs`, for
     * requests and tabs that refresh at the same time; later use ends all tokens of the sign-in,
     * because the token has been stolen.
     */
    find(token: string) {
      const now = clock.now()
      const claims = tokens.read(token, now)
      const session = claims && store.byId(claims.jti)
      if (!session || session.accountId !== claims.sub) return undefined
      if (now >= session.expiresAt) return undefined
      if (session.endedAt !== null && !followingOf(session, now)) {
        if (session.replaced) store.endFamily(session.familyId, now)
        return undefined
      }
      const account = keys.account(session.accountId)
      return account && { key: keys.sessionKey(account), session }
    },
    /**
     * Whether a session's token is still valid. Unlike `find` this does not count as use of the
     * token, which might end the sign-in.
     */
    lasts(session: Session) {
      if (session.isForeign) return clock.now() < session.expiresAt
      const stored = store.byId(session.id)
      return stored !== undefined && stored.endedAt === null && clock.now() < stored.expiresAt
    },
    /**
     * Replaces the token of a session, or returns the token that replaced it within `reuseGraceMs`;
     * undefined when the session has ended in the meantime or the sign-in is too old.
     */
    async refresh(session: Session): Promise<SignedIn | undefined> {
      // Only the provider knows whether its user is still active, so it is queried instead.
      if (session.method === 'provider') return undefined
      const account = keys.account(session.accountId)
      const following = next(session)
      if (!account || following.expiresAt <= following.createdAt) return undefined
      const token = await tokens.sign(following)
      const now = following.createdAt
      const inForce = transact(db, () => {
        if (store.replace(session.id, now)) {
          store.put(following)
          return following
        }
        // Another tab refreshed the same token, or signed out.
        const ended = store.byId(session.id)
        return ended && followingOf(ended, now)
      })
      if (!inForce || inForce === following)
        return inForce && { token, session: following, account }
      return { token: await tokens.sign(inForce), session: inForce, account }
    },
    /** The time that sign-ins begin and end by, Unix ms. */
    now: clock.now,
    /** The sign-ins of an account that last, the newest first. */
    list: (accountId: string) => store.inForce(accountId, clock.now()),
    /** Ends one sign-in. */
    end: (session: Session) => store.endFamily(session.familyId, clock.now()),
    /** Ends all sign-ins of an account, but the one of `except`. */
    endAll: (accountId: string, except?: Session) =>
      store.endAccount(accountId, clock.now(), except?.familyId),
  }
}
