import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

export interface SealedAnswer {
  /** The caller: an API key by its id, an admin token, or a command. */
  owner: string
  requestHash: Uint8Array
  sealed: Uint8Array
  createdAt: number
}

/** Sealed responses to requests that may be sent again, by caller and request. */
export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>

export function createIdempotencyStore(db: Database) {
  const sql = statements(db)
  const find = sql<{ sealed: Uint8Array }, [string, Uint8Array, number]>`
    SELECT sealed FROM idempotency WHERE owner = ? AND request_hash = ? AND created_at > ?`
  const put = sql`
    INSERT INTO idempotency (owner, request_hash, sealed, created_at) VALUES ($owner, $requestHash, $sealed, $createdAt)
    ON CONFLICT DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at`
  const forget = sql`
    DELETE FROM idempotency WHERE (owner, request_hash) IN (SELECT owner, request_hash FROM idempotency WHERE created_at <= ? LIMIT ?)`
  return {
    /** The answer stored after `since`. */
    find: (owner: string, requestHash: Uint8Array, since: number): Uint8Array | undefined =>
      find.get(owner, requestHash, since)?.sealed,
    /** Keeps an answer, instead of an older one to the same request. */
    put: (answer: SealedAnswer) => void put.run({ ...answer }),
    /** Forgets answers stored until `before`, at most `limit` of them; the number forgotten. */
    forget: (before: number, limit: number) => forget.run(before, limit).changes,
    /** Makes what `work` writes and its stored answer one transaction. */
    together: <T>(work: () => T): T => transact(db, work),
  }
}
