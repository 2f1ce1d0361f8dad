import type { Clock } from '../../../lib/time/clock.ts'
import type { Terms } from '../../../plans/billing/subscription.ts'
import type { Charge } from '../../../send/billing/processor.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import type { Invoice } from '../store/invoices.ts'
import type { BillingEntries } from './entries.ts'
import type { AgreementOptions, BillingRefusal, Changed } from './terms.ts'

export interface WantedInvoice {
  description: string
  amountCents: number
  startsAt: number
  endsAt: number
  id?: string
}

/** The entries that the operator may make. */
export interface Ledger {
  /**
   * An invoice for anything, which is open; in a demo instance it pays itself like every other.
   */
  issue(account: AccountState, wanted: WantedInvoice): Invoice
  /** Refused for an invoice that is settled, and for one whose money the processor takes. */
  mark(invoice: Invoice, status: 'paid' | 'void' | 'uncollectible'): Invoice | BillingRefusal
  /**
   * Puts an account on a plan at an agreed price. The running subscription stays where it has these
   * terms; otherwise it ends, and `openInvoices` decides what happens to its open invoices. Without
   * that choice an agreement is refused while there are any.
   */
  agree(account: AccountState, terms: Terms, options?: AgreementOptions): Changed | BillingRefusal
}

export interface LedgerDeps {
  entries: BillingEntries
  clock: Clock
  charge(accountId: string): Charge
  agree: Ledger['agree']
}

export function createBillingLedger({ entries, clock, charge, agree }: LedgerDeps): Ledger {
  return {
    agree,
    issue({ account }, { description, ...invoice }) {
      return entries.together(() => {
        const lines = [{ description, amountCents: invoice.amountCents }]
        const issued = entries.issue({
          ...invoice,
          accountId: account.id,
          subscriptionId: null,
          lines,
        })
        const charged = charge(account.id)
        if (charged.outcome === 'open') entries.notifyOpen(issued)
        return entries.attempted(issued, charged)
      })
    },
    mark(invoice, status) {
      if (invoice.provider !== 'manual')
        return { refused: 'invoice_closed', why: 'The payment processor collects this invoice.' }
      // An uncollectible invoice may still be paid.
      const isOpen =
        invoice.status === 'open' || (invoice.status === 'uncollectible' && status === 'paid')
      if (!isOpen)
        return {
          refused: 'invoice_closed',
          why: `The invoice is ${invoice.status} and cannot be changed.`,
        }
      const paidAt = status === 'paid' ? clock.now() : null
      return entries.together(() =>
        entries.settle(invoice, { status, paidAt, nextAttemptAt: null }),
      )
    },
  }
}
