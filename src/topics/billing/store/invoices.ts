import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { InvoiceStatus } from '../../../plans/billing/invoice.ts'
import type { InvoiceTerms, Returned } from '../../../send/billing/processor.ts'

export interface Invoice extends InvoiceTerms, Returned {
  id: string
  accountId: string
  subscriptionId: string | null
  number: string
  /** Address that it was made out to. */
  billedTo: string
  attempts: number
  nextAttemptAt: number | null
  lastError: string | null
  provider: string
  providerRef: string | null
}

/** The fields of an invoice that may change. */
export type InvoicePayment = Pick<
  Invoice,
  'status' | 'dueAt' | 'paidAt' | 'attempts' | 'nextAttemptAt' | 'lastError'
>

export interface InvoiceFilter {
  accountId?: string | undefined
  status?: InvoiceStatus | undefined
}

export type InvoiceStore = ReturnType<typeof createInvoiceStore>

export function createInvoiceStore(db: Database) {
  const sql = statements(db)
  const invoices = recordTable<Invoice>(db, 'invoices', {
    columns: `id, account_id, subscription_id, invoice_number AS number, amount_cents, currency, status,
      starts_at, ends_at, lines, billed_to, created_at, due_at, paid_at, attempts, next_attempt_at,
      last_error, provider, provider_ref, refunded_cents, dispute`,
    json: ['lines'],
  })
  const add = invoices.insert()
  // Both filters may be absent; an account's page runs down its own index, the operator's down the
  // numbers.
  const ofAccount = invoices.where<[string, string | null, number, number]>(
    'WHERE account_id = ?1 AND (?2 IS NULL OR status = ?2) ORDER BY created_at DESC, invoices.number DESC LIMIT ?3 OFFSET ?4',
  )
  const all = invoices.where<[string | null, number, number]>(
    'WHERE (?1 IS NULL OR status = ?1) ORDER BY invoices.number DESC LIMIT ?2 OFFSET ?3',
  )
  const count = sql<{ n: number }, [string | null, string | null]>`
    SELECT count(*) AS n FROM invoices WHERE (?1 IS NULL OR account_id = ?1) AND (?2 IS NULL OR status = ?2)`
  const nextSeq = sql<{ n: number }, []>`SELECT coalesce(max(number), 0) + 1 AS n FROM invoices`
  const pay = sql`
    UPDATE invoices SET status = ?, due_at = ?, paid_at = ?, attempts = ?, next_attempt_at = ?, last_error = ? WHERE id = ?`
  const giveBack = sql`UPDATE invoices SET refunded_cents = ?, dispute = ? WHERE id = ?`
  const nextDue = sql<{ at: number | null }, [number]>`
    SELECT min(at) AS at FROM (SELECT min(due_at) AS at FROM invoices WHERE status = 'open' AND due_at > ?1
      UNION ALL SELECT min(next_attempt_at) FROM invoices WHERE status = 'open' AND next_attempt_at > ?1)`
  return {
    byId: invoices.where<[id: string]>('WHERE id = ?').get,
    byRef: invoices.where<[ref: string]>('WHERE provider_ref = ?').get,
    /** Newest first. */
    page: ({ accountId, status = undefined }: InvoiceFilter, limit: number, offset: number) =>
      accountId === undefined
        ? all.all(status ?? null, limit, offset)
        : ofAccount.all(accountId, status ?? null, limit, offset),
    count: ({ accountId, status }: InvoiceFilter) =>
      count.get(accountId ?? null, status ?? null)!.n,
    /**
     * The number that the next invoice gets; it is only taken by adding the invoice in the same
     * transaction.
     */
    nextSeq: () => nextSeq.get()!.n,
    add: (i: Invoice) => void add(i),
    pay: (id: string, p: InvoicePayment) =>
      void pay.run(p.status, p.dueAt, p.paidAt, p.attempts, p.nextAttemptAt, p.lastError, id),
    giveBack: (id: string, { refundedCents, dispute }: Returned) =>
      void giveBack.run(refundedCents, dispute, id),
    /** Those of a subscription for its time since a moment. */
    ofPeriod: invoices.where<[id: string, from: number]>(
      'WHERE subscription_id = ? AND invoices.starts_at >= ? ORDER BY invoices.number',
    ).all,
    openOf: invoices.where<[id: string]>(
      "WHERE subscription_id = ? AND status = 'open' ORDER BY invoices.number",
    ).all,
    /**
     * Open ones of running subscriptions that are overdue while the subscription is not known to
     * be.
     */
    newlyOverdue: invoices.where<[now: number, limit: number]>(
      `WHERE status = 'open' AND due_at <= ?1 AND subscription_id IN (SELECT id FROM subscriptions WHERE ended_at IS NULL AND status = 'active')
       ORDER BY due_at LIMIT ?2`,
    ).all,
    /** Those of the current period of a running subscription whose whole payment went back. */
    returned: invoices.where<[limit: number]>(
      `WHERE id IN (SELECT i.id FROM subscriptions s JOIN invoices i ON i.account_id = s.account_id AND i.created_at >= s.starts_at
         WHERE s.ended_at IS NULL AND s.provider <> 'manual' AND i.subscription_id = s.id AND i.status = 'paid' AND i.amount_cents > 0
           AND (i.refunded_cents >= i.amount_cents OR i.dispute = 'lost')) ORDER BY invoices.number LIMIT ?`,
    ).all,
    /** Open ones whose payment is to be tried again. */
    toRetry: invoices.where<[now: number, limit: number]>(
      "WHERE status = 'open' AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT ?",
    ).all,
    nextDue: (after: number) => nextDue.get(after)?.at ?? undefined,
  }
}
