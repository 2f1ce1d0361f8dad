import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

export interface CreditPurchase {
  id: string
  accountId: string
  packId: string
  quantity: number
  /** The number of requests in all packs together. */
  requests: number
  amountCents: number
  currency: string
  status: 'pending' | 'completed' | 'failed'
  invoiceId: string | null
  createdAt: number
  expiresAfterDays: number | null
  completedAt: number | null
  expiresAt: number | null
}

/** Bought requests that are left. */
export interface CreditLot {
  purchaseId: string
  remaining: number
  expiresAt: number | null
}

export type CreditStore = ReturnType<typeof createCreditStore>

const columns = `p.id, p.account_id AS accountId, pack_id AS packId, quantity, requests, p.amount_cents AS amountCents, p.currency, p.status,
  invoice_id AS invoiceId, p.created_at AS createdAt, expires_after_days AS expiresAfterDays, completed_at AS completedAt, expires_at AS expiresAt`

export function createCreditStore(db: Database) {
  const sql = statements(db)
  const add = sql`
    INSERT INTO credit_purchases (id, account_id, pack_id, quantity, requests, amount_cents, currency, status, invoice_id, created_at,
      expires_after_days, completed_at, expires_at, remaining)
    VALUES ($id, $accountId, $packId, $quantity, $requests, $amountCents, $currency, 'pending', $invoiceId, $createdAt,
      $expiresAfterDays, NULL, NULL, 0)`
  const settle = sql`
    UPDATE credit_purchases SET status = ?1, completed_at = ?2, expires_at = ?3, remaining = CASE WHEN ?1 = 'completed' THEN requests ELSE 0 END
    WHERE id = ?4 AND status <> 'completed'`
  const write = sql`UPDATE credit_purchases SET remaining = ? WHERE id = ?`
  const lapse = sql`
    UPDATE credit_purchases SET lapsed = lapsed + remaining, remaining = 0 WHERE id = ?`
  const nextExpiry = sql<{ at: number | null }, [number]>`
    SELECT min(expires_at) AS at FROM credit_purchases WHERE remaining > 0 AND expires_at > ?`
  const completed = sql<CreditPurchase & { expired: number }, [number, string]>`
    SELECT ${columns}, lapsed + CASE WHEN expires_at <= ? THEN remaining ELSE 0 END AS expired
    FROM credit_purchases p WHERE account_id = ? AND status = 'completed' ORDER BY completed_at DESC, p.id`
  return {
    byId: sql<CreditPurchase, [id: string]>`SELECT ${columns} FROM credit_purchases p WHERE id = ?`
      .get,
    byInvoice: sql<CreditPurchase, [id: string]>`
      SELECT ${columns} FROM credit_purchases p WHERE invoice_id = ?`.get,
    add: (p: CreditPurchase) => void add.run({ ...p }),
    /** Its status; a completed purchase begins with all of its requests, and stays completed. */
    settle: (p: CreditPurchase) => void settle.run(p.status, p.completedAt, p.expiresAt, p.id),
    /**
     * Those of which something is left, in the order in which they are used: the first to expire
     * first.
     */
    lots: sql<CreditLot, [accountId: string]>`
      SELECT id AS purchaseId, remaining, expires_at AS expiresAt FROM credit_purchases WHERE account_id = ? AND remaining > 0
      ORDER BY expires_at IS NULL, expires_at, completed_at, id`.all,
    /** Writes remaining requests, after the fact. */
    write: (changed: readonly Pick<CreditLot, 'purchaseId' | 'remaining'>[]) =>
      transact(db, () => {
        for (const { purchaseId, remaining } of changed) write.run(remaining, purchaseId)
      }),
    /** Completed ones whose time was over before or at a moment, with something left. */
    expired: sql<CreditLot & { accountId: string }, [now: number, limit: number]>`
      SELECT id AS purchaseId, account_id AS accountId, remaining, expires_at AS expiresAt FROM credit_purchases
      WHERE remaining > 0 AND expires_at <= ? ORDER BY expires_at LIMIT ?`.all,
    lapse: (id: string) => void lapse.run(id),
    nextExpiry: (after: number) => nextExpiry.get(after)?.at ?? undefined,
    /** All that an account ever had, newest first, with what expired unused by now. */
    completed: (accountId: string, now: number) => completed.all(now, accountId),
    /** Those that began before a moment and have not been settled. */
    pending: sql<CreditPurchase, [provider: string, before: number, limit: number]>`
      SELECT ${columns} FROM credit_purchases p JOIN invoices i ON i.id = p.invoice_id
      WHERE p.status = 'pending' AND i.provider = ? AND p.created_at < ? ORDER BY p.created_at LIMIT ?`
      .all,
  }
}
