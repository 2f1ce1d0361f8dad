import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

/** The customer record of an account at a processor, with its payment method. */
export interface BillingCustomer {
  accountId: string
  provider: string
  providerRef: string | null
  paymentMethodId: string | null
  /** The address that the processor has; null: none was sent. */
  email: string | null
}

export type PaymentStore = ReturnType<typeof createPaymentStore>

export function createPaymentStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<BillingCustomer>(db, 'billing_customers', {
    columns: 'account_id, provider, provider_ref, payment_method_id, email',
  })
  const customer = table.where<[string, string]>('WHERE account_id = ? AND provider = ?')
  const byRef = table.where<[string, string]>('WHERE provider = ? AND provider_ref = ?')
  const put = sql`
    INSERT INTO billing_customers (account_id, provider, provider_ref, payment_method_id, email)
    VALUES ($accountId, $provider, $providerRef, $paymentMethodId, $email)
    ON CONFLICT DO UPDATE SET provider_ref = excluded.provider_ref, payment_method_id = excluded.payment_method_id,
      email = excluded.email`
  // The address of an erased person is removed there too.
  const readdressed = sql<
    { accountId: string; providerRef: string; newEmail: string },
    [string, number]
  >`
    SELECT c.account_id AS accountId, c.provider_ref AS providerRef, iif(k.erased_at IS NULL, a.email, '') AS newEmail
    FROM billing_customers c JOIN accounts a ON a.id = c.account_id LEFT JOIN closed_accounts k ON k.account_id = a.id
    WHERE c.provider = ? AND c.provider_ref IS NOT NULL AND c.email IS NOT iif(k.erased_at IS NULL, a.email, '') LIMIT ?`
  const event = sql`SELECT 1 FROM processor_events WHERE id = ?`
  const note = sql`
    INSERT INTO processor_events (id, type, received_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
  const forget = sql`
    DELETE FROM processor_events WHERE id IN (SELECT id FROM processor_events WHERE received_at < ? LIMIT ?)`
  return {
    customer: (accountId: string, provider: string) => customer.get(accountId, provider),
    customerByRef: (provider: string, ref: string) => byRef.get(provider, ref),
    putCustomer: (customer: BillingCustomer) => void put.run({ ...customer }),
    /** Customers whose account has another address than the processor. */
    readdressed: (provider: string, limit: number) => readdressed.all(provider, limit),
    /** Whether a message of the processor has been dealt with. */
    hasEvent: (id: string) => event.get(id) !== undefined,
    /** False when it is there already. */
    noteEvent: (id: string, type: string, receivedAt: number) =>
      note.run(id, type, receivedAt).changes === 1,
    /** Drops at most `rowsMax` that are older than a moment; how many there were. */
    forgetEvents: (before: number, rowsMax: number) => forget.run(before, rowsMax).changes,
  }
}
