import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export type SignInMethod = 'password' | 'link' | 'provider'

/**
 * One token of a sign-in. A refresh puts a new one in its place; all tokens of one sign-in are a
 * family.
 */
export interface Session {
  /** The token's `jti`. */
  id: string
  familyId: string
  accountId: string
  method: SignInMethod
  /** When the person signed in; a refresh does not move it. */
  begunAt: number
  createdAt: number
  expiresAt: number
  endedAt: number | null
  /** A refresh ended it. */
  replaced: boolean
  /** An access token of the identity provider, which has no row. */
  isForeign?: true
}

export type SessionStore = ReturnType<typeof createSessionStore>

export function createSessionStore(db: Database) {
  const sql = statements(db)
  const sessions = recordTable<Session>(db, 'sessions', {
    columns: `id, family_id, account_id, method, begun_at, created_at, expires_at, ended_at, replaced`,
    flags: ['replaced'],
  })
  const put = sessions.insert()
  const replace = sql`
    UPDATE sessions SET ended_at = ?, replaced = 1 WHERE id = ? AND ended_at IS NULL`
  const endFamily = sql`UPDATE sessions SET ended_at = ? WHERE family_id = ? AND ended_at IS NULL`
  const endAccount = sql`
    UPDATE sessions SET ended_at = ? WHERE account_id = ? AND ended_at IS NULL AND family_id != ?`
  const forget = sql`
    DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ? LIMIT ?)`
  return {
    byId: sessions.where<[id: string]>('WHERE id = ?').get,
    /** Tokens of an account that are in force, those of the newest sign-in first. */
    inForce: sessions.where<[accountId: string, now: number]>(
      'WHERE account_id = ? AND ended_at IS NULL AND expires_at > ? ORDER BY begun_at DESC, id',
    ).all,
    /** The newest token of a sign-in that is in force. */
    newestInForce: sessions.where<[familyId: string, now: number]>(
      `WHERE family_id = ? AND ended_at IS NULL AND expires_at > ?
       ORDER BY created_at DESC, id DESC LIMIT 1`,
    ).get,
    put: (session: Session) => void put(session),
    /** Ends a session for the one that takes its place; false when it had ended already. */
    replace: (id: string, now: number) => replace.run(now, id).changes === 1,
    /** Ends every token of one sign-in. */
    endFamily: (familyId: string, now: number) => void endFamily.run(now, familyId),
    /** Ends every token of an account; `exceptFamilyId` stays. */
    endAccount: (accountId: string, now: number, exceptFamilyId: string = '') =>
      void endAccount.run(now, accountId, exceptFamilyId),
    /** Forgets tokens that were over before `before`, at most `limit` of them. */
    forget: (before: number, limit: number) => void forget.run(before, limit),
  }
}
