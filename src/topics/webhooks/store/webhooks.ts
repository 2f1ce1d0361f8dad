import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { Condition } from '../../alerts/math/threshold.ts'

export type SignatureScheme = 'timestamped' | 'body'

/** The editable fields of an endpoint. */
export interface EndpointSettings {
  url: string
  /** Names as they were subscribed to: types, aliases, patterns, and names that never fire. */
  events: readonly string[]
  /** Canonical codes; empty: all. */
  commodityFilters: readonly string[]
  /** Two letters each; empty: all. */
  stateFilters: readonly string[]
  description: string | null
  conditions: readonly Condition[]
  conditionLogic: 'any' | 'all'
  debugMode: boolean
  active: boolean
  signatureScheme: SignatureScheme
  ordered: boolean
  honorRetryAfter: boolean
  rateLimitPerSecond: number
  timeoutSeconds: number
  maxRetries: number
}

/** The settings of an endpoint by default. */
export const defaultSettings = {
  commodityFilters: [],
  stateFilters: [],
  description: null,
  conditions: [],
  conditionLogic: 'any',
  debugMode: false,
  active: true,
  signatureScheme: 'timestamped',
  ordered: false,
  honorRetryAfter: false,
  rateLimitPerSecond: 10,
  timeoutSeconds: 30,
  maxRetries: 5,
} as const satisfies Omit<EndpointSettings, 'url' | 'events'>

/** A webhook endpoint: where the events of an account are sent. */
export interface Endpoint extends EndpointSettings {
  id: string
  accountId: string
  disabledReason: string | null
  /** Sealed by the vault. */
  secret: Uint8Array
  secretHint: string
  previousSecret: Uint8Array | null
  previousSecretUntil: number | null
  createdAt: number
  updatedAt: number
}

/** Statistics of the deliveries to an endpoint. */
export interface EndpointRecord {
  delivered: number
  failed: number
  failedInARow: number
  lastStatus: 'success' | 'failed' | null
  lastAt: number | null
}

export interface FailingEndpoint {
  id: string
  accountId: string
  url: string
  isSwitchedOff: boolean
  failedInARow: number
}

export type WebhookStore = ReturnType<typeof createWebhookStore>

/** Endpoints of webhooks and how their deliveries went. */
export function createWebhookStore(db: Database) {
  const sql = statements(db)
  const endpoints = recordTable<Endpoint>(db, 'webhooks', {
    columns: `id, account_id, url, events, commodity_filters, state_filters, description, conditions,
      condition_logic, debug_mode, active, disabled_reason, secret, secret_hint, previous_secret,
      previous_secret_until, signature_scheme, ordered, honor_retry_after, rate_limit_per_second,
      timeout_seconds, max_retries, created_at, updated_at`,
    flags: ['debugMode', 'active', 'ordered', 'honorRetryAfter'],
    json: ['events', 'commodityFilters', 'stateFilters', 'conditions'],
  })
  const put = endpoints.upsert('accountId', 'createdAt')
  const remove = sql`DELETE FROM webhooks WHERE id = ?`
  const disable = sql`
    UPDATE webhooks SET active = 0, disabled_reason = ?, updated_at = ? WHERE id = ? AND active = 1`
  const records = sql<EndpointRecord & { id: string }, [string]>`
    SELECT id, delivered, failed, failed_in_a_row AS failedInARow, last_status AS lastStatus, last_at AS lastAt
    FROM webhooks WHERE account_id = ?`
  const failing = sql<Omit<FailingEndpoint, 'isSwitchedOff'> & { active: number }, [number]>`
    SELECT id, account_id AS accountId, url, active, failed_in_a_row AS failedInARow FROM webhooks
    WHERE (active = 0 AND disabled_reason IS NOT NULL) OR (active = 1 AND failed_in_a_row > 0)
    ORDER BY active, updated_at DESC LIMIT ?`
  const tally = sql<Record<'active' | 'failing' | 'disabled', number>, []>`
    SELECT count(*) FILTER (WHERE active = 1 AND failed_in_a_row = 0) AS active,
      count(*) FILTER (WHERE active = 1 AND failed_in_a_row > 0) AS failing,
      count(*) FILTER (WHERE active = 0) AS disabled FROM webhooks`
  const ended = (counter: 'delivered' | 'failed', inARow: string, status: 'success' | 'failed') =>
    sql<{ inARow: number }, [number, string]>`
      UPDATE webhooks SET ${counter} = ${counter} + 1, failed_in_a_row = ${inARow}, last_status = '${status}', last_at = ?
      WHERE id = ? RETURNING failed_in_a_row AS inARow`
  const delivered = ended('delivered', '0', 'success')
  const failed = ended('failed', 'failed_in_a_row + 1', 'failed')
  const failedBlameless = ended('failed', 'failed_in_a_row', 'failed')
  const forgive = sql`UPDATE webhooks SET failed_in_a_row = 0 WHERE id = ?`
  return {
    /** Every endpoint, oldest first. */
    all: endpoints.where<[]>('ORDER BY created_at, id').all,
    find: endpoints.where<[id: string]>('WHERE id = ?').get,
    /**
     * Adds the endpoint, or replaces everything but its id, its account, its creation and its
     * record.
     */
    put: (endpoint: Endpoint) => void put(endpoint),
    remove: (id: string) => void remove.run(id),
    /** Disables an active endpoint; false if it is disabled already or deleted. */
    disable: (id: string, reason: string, at: number) => disable.run(reason, at, id).changes === 1,
    /** Endpoints by how they do; failing: active, and the last delivery failed. */
    tally: (): Record<'active' | 'failing' | 'disabled', number> => tally.get()!,
    /** Endpoints that the service switched off, the latest first, at most `limit`. */
    switchedOff: sql<{ id: string; url: string }, [limit: number]>`
      SELECT id, url FROM webhooks WHERE active = 0 AND disabled_reason IS NOT NULL
      ORDER BY updated_at DESC LIMIT ?`.all,
    /** Endpoints that the service switched off, and active ones whose last deliveries failed. */
    failing: (limit: number): FailingEndpoint[] =>
      failing.all(limit).map(({ active, ...row }) => ({ ...row, isSwitchedOff: active === 0 })),
    /** By endpoint. */
    records: (accountId: string): Map<string, EndpointRecord> =>
      new Map(records.all(accountId).map(({ id, ...record }) => [id, record])),
    /** Counts a delivery that ended; how many ended failed in a row since. */
    settle(id: string, state: 'delivered' | 'failed', isBlameless: boolean, at: number) {
      const statement = state === 'delivered' ? delivered : isBlameless ? failedBlameless : failed
      return statement.get(at, id)?.inARow ?? 0
    },
    /**
     * Resets the failures in a row, after a 2xx response to something other than a delivery and
     * after a restart.
     */
    forgive: (id: string) => void forgive.run(id),
  }
}
