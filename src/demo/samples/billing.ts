import { dayMs } from '../../lib/time/instant.ts'
import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const invoiceId = sampleId(901)
const subscriptionId = sampleId(902)
const monthDays = 30

/**
 * The demo account's subscription at an agreed price, and an earlier paid invoice. Existing records
 * are kept.
 */
export function sampleBilling({ billing, clock }: SampleServices, account: AccountState): void {
  if (billing.invoices.byId(invoiceId)) return
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
