import type { Database } from 'bun:sqlite'
import { transact } from '../database.ts'
import { lazy } from '../statement.ts'

export interface KeptAnswer {
  keyId: string
  requestHash: Uint8Array
  sealed: Uint8Array
  createdAt: number
}

/** Sealed answers to creating requests, by API key and request. */
export interface IdempotencyStore {
  /** The answer kept after `since`. */
  find(keyId: string, requestHash: Uint8Array, since: number): Uint8Array | undefined
  /** Keeps an answer, in place of an older one to the same request. */
  put(answer: KeptAnswer): void
  /** Forgets answers kept until `before`, at most `limit` of them; the number forgotten. */
  forget(before: number, limit: number): number
  /** Makes what `work` writes and the answer kept of it one transaction. */
  together<T>(work: () => T): T
}

export function createIdempotencyStore(db: Database): IdempotencyStore {
  const find = lazy<{ sealed: Uint8Array }, [string, Uint8Array, number]>(
    db,
    'SELECT sealed FROM idempotency WHERE key_id = ? AND request_hash = ? AND created_at > ?',
  )
  const put = lazy(
    db,
    `INSERT INTO idempotency (key_id, request_hash, sealed, created_at) VALUES ($keyId, $requestHash, $sealed, $createdAt)
     ON CONFLICT DO UPDATE SET sealed = excluded.sealed, created_at = excluded.created_at`,
  )
  const forget = lazy(
    db,
    'DELETE FROM idempotency WHERE (key_id, request_hash) IN (SELECT key_id, request_hash FROM idempotency WHERE created_at <= ? LIMIT ?)',
  )
  return {
    find: (keyId, requestHash, since) => find.get(keyId, requestHash, since)?.sealed,
    put: answer => void put.run({ ...answer }),
    forget: (before, limit) => forget.run(before, limit).changes,
    together: work => transact(db, work),
  }
}
