import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'

export interface ApiKey {
  id: string
  accountId: string
  /**
   * `session` represents all users signed in to the account: it is counted like a key, and has no
   * token.
   */
  kind: 'api' | 'session'
  name: string | null
  tokenHash: Uint8Array
  tokenHint: string
  /** The hash before a roll with an overlap, valid until `previousUntil`. */
  previousHash: Uint8Array | null
  previousUntil: number | null
  createdAt: number
  revokedAt: number | null
  suspendedAt: number | null
  expiresAt: number | null
  readOnly: boolean
  allowedIps: string[]
  allowedDomains: string[]
  /** Scopes that the key is limited to; empty: none. */
  scopes: string[]
}

/** A key as it is read, with the values of its counters. */
export interface StoredApiKey extends ApiKey {
  lastUsedAt: number | null
}

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>

export function createApiKeyStore(db: Database) {
  const keys = recordTable<ApiKey>(db, 'api_keys', {
    columns: `id, account_id, kind, name, token_hash, token_hint, previous_hash, previous_until,
      created_at, revoked_at, suspended_at, expires_at, read_only, allowed_ips, allowed_domains, scopes`,
    flags: ['readOnly'],
    json: ['allowedIps', 'allowedDomains', 'scopes'],
  })
  const all = keys.where<[], StoredApiKey>(
    'ORDER BY created_at, id',
    '(SELECT max(last_used_at) FROM quota_counters WHERE key_id = id) AS lastUsedAt',
  )
  const put = keys.upsert('accountId', 'kind', 'createdAt')
  return {
    all: () => all.all(),
    /** Adds the key, or replaces what may change when the id is known. */
    put: (key: ApiKey) => void put(key),
  }
}
