import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { BillingPeriod } from '../../../plans/billing/subscription.ts'
import type { RemoteSubscription } from '../../../send/billing/processor.ts'

export interface Subscription extends Omit<RemoteSubscription, 'ref' | 'status'> {
  id: string
  /** The price was agreed with the operator and does not follow the plan table. */
  agreed: boolean
  status: 'active' | 'past_due' | 'cancelled'
  anchorAt: number
  /** When the end was requested, or came. */
  cancelledAt: number | null
  pendingBillingPeriod: BillingPeriod | null
  pastDueAt: number | null
  provider: string
  providerRef: string | null
  updatedAt: number
  /** The rest of the price of replaced subscriptions, in minor units; it stays after the end. */
  creditCents: number
}

export interface SubscriptionFilter {
  accountId?: string | undefined
  status?: Subscription['status'] | undefined
  plan?: string | undefined
}

export type SubscriptionStore = ReturnType<typeof createSubscriptionStore>

export function createSubscriptionStore(db: Database) {
  const sql = statements(db)
  const subscriptions = recordTable<Subscription>(db, 'subscriptions', {
    columns: `id, account_id, plan, billing_period, price_cents, agreed, status, anchor_at, starts_at,
      ends_at, cancel_at_period_end, cancelled_at, pending_plan, pending_billing_period, past_due_at,
      ended_at, provider, provider_ref, created_at, updated_at, credit_cents`,
    flags: ['agreed', 'cancelAtPeriodEnd'],
  })
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM subscriptions WHERE account_id = ?`
  const filtered =
    '(?1 IS NULL OR account_id = ?1) AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR plan = ?3)'
  type Filter = [string | null, string | null, string | null]
  const page = subscriptions.where<[...Filter, number, number]>(
    `WHERE ${filtered} ORDER BY created_at DESC, id DESC LIMIT ?4 OFFSET ?5`,
  )
  const countOf = sql<{ n: number }, Filter>`
    SELECT count(*) AS n FROM subscriptions WHERE ${filtered}`
  const valuesOf = ({ accountId, status, plan }: SubscriptionFilter): Filter => [
    accountId ?? null,
    status ?? null,
    plan ?? null,
  ]
  const hasCredit = 'ended_at IS NOT NULL AND credit_cents > 0'
  const takeCredit = sql`UPDATE subscriptions SET credit_cents = 0 WHERE id = ?`
  const creditors = sql<{ accountId: string }, [string, number]>`
    SELECT DISTINCT account_id AS accountId FROM subscriptions WHERE ${hasCredit}
      AND account_id IN (SELECT account_id FROM subscriptions WHERE ended_at IS NULL AND provider = ?) LIMIT ?`
  const put = subscriptions.upsert('accountId', 'provider', 'providerRef', 'createdAt')
  const nextEnd = sql<{ at: number | null }, [number]>`
    SELECT min(ends_at) AS at FROM subscriptions WHERE ended_at IS NULL AND ends_at > ?`
  const nextPastDue = sql<{ at: number | null }, [number]>`
    SELECT min(past_due_at) AS at FROM subscriptions WHERE ended_at IS NULL AND past_due_at > ?`
  return {
    byId: subscriptions.where<[id: string]>('WHERE id = ?').get,
    byRef: subscriptions.where<[ref: string]>('WHERE provider_ref = ?').get,
    /** The one that has not ended. */
    running: subscriptions.where<[accountId: string]>('WHERE account_id = ? AND ended_at IS NULL')
      .get,
    /** The running one, else the one that ended last. */
    latest: subscriptions.where<[accountId: string]>(
      'WHERE account_id = ? ORDER BY ended_at IS NULL DESC, ended_at DESC, created_at DESC LIMIT 1',
    ).get,
    count: (accountId: string) => count.get(accountId)!.n,
    /** The credits that ended subscriptions left: together, the balance of the account. */
    credits: sql<{ id: string; cents: number }, [accountId: string]>`
      SELECT id, credit_cents AS cents FROM subscriptions WHERE account_id = ? AND ${hasCredit} ORDER BY ended_at, id`
      .all,
    takeCredit: (id: string) => void takeCredit.run(id),
    /** Accounts with such a credit and a running subscription of a provider. */
    creditors: (provider: string, limit: number) =>
      creditors.all(provider, limit).map(({ accountId }) => accountId),
    /** Newest first. */
    page: (filter: SubscriptionFilter, limit: number, offset: number) =>
      page.all(...valuesOf(filter), limit, offset),
    countOf: (filter: SubscriptionFilter) => countOf.get(...valuesOf(filter))!.n,
    put: (subscription: Subscription) => void put(subscription),
    /** Those of a provider whose period is over. */
    over: subscriptions.where<[provider: string, now: number, limit: number]>(
      'WHERE ended_at IS NULL AND provider = ? AND ends_at <= ? ORDER BY ends_at LIMIT ?',
    ).all,
    /** Running ones that have been past due since `before` or longer. */
    pastDueSince: subscriptions.where<[provider: string, before: number, limit: number]>(
      'WHERE ended_at IS NULL AND provider = ? AND past_due_at <= ? ORDER BY past_due_at LIMIT ?',
    ).all,
    /** The next end of a period after a moment, and the first moment since when one is past due. */
    nextEnd: (after: number) => nextEnd.get(after)?.at ?? undefined,
    nextPastDue: (after: number) => nextPastDue.get(after)?.at ?? undefined,
  }
}
