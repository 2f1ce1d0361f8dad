import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export interface SignInLink {
  tokenHash: Uint8Array
  accountId: string
  /** It went to the account's address, so that its use confirms the address. */
  mailed: boolean
  createdAt: number
  expiresAt: number
  usedAt: number | null
}

/** One-time links, found by the SHA-256 of their token. */
export type SignInLinkStore = ReturnType<typeof createSignInLinkStore>

export function createSignInLinkStore(db: Database) {
  const sql = statements(db)
  const links = recordTable<SignInLink>(db, 'sign_in_links', {
    columns: 'token_hash, account_id, mailed, created_at, expires_at, used_at',
    flags: ['mailed'],
  })
  const put = links.insert()
  const use = sql`
    UPDATE sign_in_links SET used_at = ?1 WHERE token_hash = ?2 AND used_at IS NULL AND expires_at > ?1`
  const mailed = sql<{ n: number }, [string, number]>`
    SELECT count(*) AS n FROM sign_in_links WHERE account_id = ? AND mailed = 1 AND created_at > ?`
  const forget = sql`DELETE FROM sign_in_links WHERE expires_at <= ?`
  return {
    /** A link that was neither used nor is over. */
    usable: links.where<[tokenHash: Uint8Array, now: number]>(
      'WHERE token_hash = ? AND used_at IS NULL AND expires_at > ?',
    ).get,
    put: (link: SignInLink) => void put(link),
    /** Uses a link; false if it was used already or has expired. */
    use: (tokenHash: Uint8Array, now: number) => use.run(now, tokenHash).changes === 1,
    /** Links that were mailed to an account after `since`. */
    mailedSince: (accountId: string, since: number) => mailed.get(accountId, since)?.n ?? 0,
    /** Forgets links that were over before `before`. */
    forget: (before: number) => void forget.run(before),
  }
}
