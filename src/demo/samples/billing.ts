import type { Clock } from '../../lib/time/clock.ts'
import { dayMs } from '../../lib/time/instant.ts'
import { sampleId } from './id.ts'

interface Account {
  account: { id: string; plan: string }
}

/** The services that create the sample purchases of the demo account. */
export interface BillingSamplesDeps<A extends Account> {
  keys: { account(id: string): A | undefined }
  billing: {
    ledger: {
      agree(
        account: A,
        terms: { plan: 'enterprise'; billingPeriod: 'monthly'; priceCents: number },
        options: { id: string },
      ): unknown
      issue(
        account: A,
        wanted: {
          description: string
          amountCents: number
          startsAt: number
          endsAt: number
          id: string
        },
      ): unknown
    }
    invoices: { byId(id: string): unknown }
  }
  clock: Clock
}

const invoiceId = sampleId(901)
const subscriptionId = sampleId(902)
const monthDays = 30

/**
 * The demo account's subscription at an agreed price, and an earlier paid invoice. Existing records
 * are kept.
 */
export function sampleBilling<A extends Account>(
  { keys, billing, clock }: BillingSamplesDeps<A>,
  accountId: string,
): void {
  const account = keys.account(accountId)
  if (!account || billing.invoices.byId(invoiceId)) return
  const now = clock.now()
  billing.ledger.issue(account, {
    id: invoiceId,
    description: 'Enterprise plan, monthly',
    amountCents: 120_000,
    startsAt: now - monthDays * dayMs,
    endsAt: now,
  })
  const terms = { plan: 'enterprise', billingPeriod: 'monthly', priceCents: 120_000 } as const
  billing.ledger.agree(account, terms, { id: subscriptionId })
}
