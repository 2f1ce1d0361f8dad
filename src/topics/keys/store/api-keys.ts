import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

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
  /** Names of the parts of the API that it is good for; empty: all. */
  scopes: string[]
}

/** A key as it is read, with the values of its counters. */
export interface StoredApiKey extends ApiKey {
  lastUsedAt: number | null
}

type Row = Omit<StoredApiKey, 'readOnly' | 'allowedIps' | 'allowedDomains' | 'scopes'> & {
  readOnly: number
  allowedIps: string
  allowedDomains: string
  scopes: string
}

const columns = `id, account_id AS accountId, kind, name, token_hash AS tokenHash, token_hint AS tokenHint,
  previous_hash AS previousHash, previous_until AS previousUntil, created_at AS createdAt,
  revoked_at AS revokedAt, suspended_at AS suspendedAt, expires_at AS expiresAt,
  (SELECT max(last_used_at) FROM quota_counters WHERE key_id = id) AS lastUsedAt, read_only AS readOnly, allowed_ips AS allowedIps,
  allowed_domains AS allowedDomains, scopes`

const keyOf = (row: Row): StoredApiKey => ({
  ...row,
  readOnly: row.readOnly === 1,
  allowedIps: JSON.parse(row.allowedIps) as string[],
  allowedDomains: JSON.parse(row.allowedDomains) as string[],
  scopes: JSON.parse(row.scopes) as string[],
})

export type ApiKeyStore = ReturnType<typeof createApiKeyStore>

export function createApiKeyStore(db: Database) {
  const sql = statements(db)
  const all = sql<Row, []>`SELECT ${columns} FROM api_keys ORDER BY created_at, id`
  const put = sql`
    INSERT INTO api_keys (id, account_id, kind, name, token_hash, token_hint, previous_hash, previous_until, created_at, revoked_at, suspended_at,
      expires_at, read_only, allowed_ips, allowed_domains, scopes)
    VALUES ($id, $accountId, $kind, $name, $tokenHash, $tokenHint, $previousHash, $previousUntil, $createdAt, $revokedAt, $suspendedAt,
      $expiresAt, $readOnly, $allowedIps, $allowedDomains, $scopes)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, token_hash = excluded.token_hash, token_hint = excluded.token_hint,
      previous_hash = excluded.previous_hash, previous_until = excluded.previous_until, revoked_at = excluded.revoked_at,
      suspended_at = excluded.suspended_at, expires_at = excluded.expires_at, read_only = excluded.read_only,
      allowed_ips = excluded.allowed_ips, allowed_domains = excluded.allowed_domains, scopes = excluded.scopes`
  return {
    all: () => all.all().map(keyOf),
    /** Adds the key, or replaces what may change when the id is known. */
    put: (key: ApiKey) =>
      void put.run({
        ...key,
        readOnly: key.readOnly ? 1 : 0,
        allowedIps: JSON.stringify(key.allowedIps),
        allowedDomains: JSON.stringify(key.allowedDomains),
        scopes: JSON.stringify(key.scopes),
      }),
  }
}
