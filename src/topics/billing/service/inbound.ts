import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Processor } from '../../../send/billing/processor.ts'
import type { PaymentStore } from '../store/payments.ts'
import type { CreditSales } from './credit-packs.ts'
import type { BillingEntries } from './entries.ts'
import type { RemoteSubscriptions } from './remote.ts'

/** The result of a message from the processor. `nobody`: no processor is configured. */
export type Receipt = 'done' | 'known' | 'bad_signature' | 'nobody'

export interface InboundDeps {
  processor: Processor | undefined
  remote: RemoteSubscriptions | undefined
  payments: PaymentStore
  sales: CreditSales
  entries: BillingEntries
  clock: Clock
}

/** Longer than a processor repeats a message. */
const retentionMs = 30 * dayMs
const forgottenAtOnce = 500

/**
 * A message only triggers a read: the facts are read from the processor. So a message that arrives
 * late, twice or before its cause leaves the same state as there, and a forged message has no
 * effect.
 */
export function createInboundBilling({
  processor,
  remote,
  payments,
  sales,
  entries,
  clock,
}: InboundDeps) {
  return {
    async receive(raw: string, signature: string): Promise<Receipt> {
      if (!processor || !remote) return 'nobody'
      const event = await processor.event(raw, signature)
      if (!event) return 'bad_signature'
      if (payments.hasEvent(event.id)) return 'known'
      const note = () => payments.noteEvent(event.id, event.type, clock.now())
      if (event.about?.kind === 'payment') {
        const payment = await processor.payment(event.about.ref)
        entries.together(() => {
          if (note() && payment) sales.learned(payment.purchaseId, payment.charge)
        })
      } else if (event.about?.kind === 'charge') await remote.refreshCharge(event.about.ref, note)
      else if (event.about) await remote.refresh(event.about.kind, event.about.ref, note)
      else note()
      return 'done'
    },
    forget: () => void payments.forgetEvents(clock.now() - retentionMs, forgottenAtOnce),
  }
}
