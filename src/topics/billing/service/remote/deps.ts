import type { Runtime } from '../../../../config/runtime.ts'
import type { Plans } from '../../../../plans/plans.ts'
import type { Processor } from '../../../../send/billing/processor.ts'
import type { Keyring } from '../../../keys/service/keyring.ts'
import type { CreditStore } from '../../../keys/store/credits.ts'
import type { InvoiceStore } from '../../store/invoices.ts'
import type { PaymentStore } from '../../store/payments.ts'
import type { SubscriptionStore } from '../../store/subscriptions.ts'
import type { BillingEntries } from '../entries.ts'

export interface RemoteDeps extends Pick<Runtime, 'ids' | 'log' | 'clock'> {
  processor: Processor
  entries: BillingEntries
  subscriptions: SubscriptionStore
  invoices: InvoiceStore
  purchases: Pick<CreditStore, 'byId'>
  payments: PaymentStore
  plans: Plans
  keys: Pick<Keyring, 'account' | 'addressChanges'>
}

/** How many accounts or subscriptions a run of the job handles. */
export const atOnceMax = 20
