import type { InvoiceLine, InvoiceStatus } from '../../plans/billing/invoice.ts'
import type { BillingPeriod } from '../../plans/billing/subscription.ts'
import type { PlanId } from '../../plans/tiers.ts'

/** A payment method of an account. */
export interface PaymentMethod {
  id: string
  type: 'card' | 'invoice' | 'manual'
  brand: string | null
  last4: string | null
  expMonth: number | null
  expYear: number | null
}

export interface PaymentMethods {
  methods: readonly PaymentMethod[]
  defaultId: string | null
}

export interface SetupIntent {
  id: string
  clientSecret: string
  status: 'requires_payment_method' | 'succeeded'
}

/** The result of a payment. `open`: not known yet. */
export type Charge =
  | { outcome: 'paid' }
  | { outcome: 'open' }
  | { outcome: 'failed'; error: string }

/** The processor is unreachable, or its response cannot be parsed: the effect is unknown. */
export class ProcessorUnavailable extends Error {}

/** The processor has refused a payment, in words for the person who pays. */
export class PaymentRefused extends Error {}

/** A subscription as the processor runs it. */
export interface RemoteSubscription {
  ref: string
  accountId: string
  plan: PlanId
  billingPeriod: BillingPeriod
  priceCents: number
  pendingPlan: PlanId | null
  /** `incomplete`: its first payment has not been made, and it gives nothing. */
  status: 'active' | 'past_due' | 'cancelled' | 'incomplete'
  startsAt: number
  endsAt: number
  cancelAtPeriodEnd: boolean
  createdAt: number
  endedAt: number | null
}

/** The fields that every invoice has, from any issuer. */
export interface InvoiceTerms {
  amountCents: number
  currency: string
  status: InvoiceStatus
  startsAt: number
  endsAt: number
  lines: readonly InvoiceLine[]
  createdAt: number
  dueAt: number
  paidAt: number | null
}

export interface RemoteInvoice extends InvoiceTerms {
  ref: string
  subscriptionRef: string | null
  customerRef: string
  attempts: number
  nextAttemptAt: number | null
}

/** A payment that its payer contests at the bank; `lost`: the money went back. */
export const disputeStates = ['open', 'won', 'lost'] as const
export type DisputeState = (typeof disputeStates)[number]

/** How much of a payment went back to the payer. */
export interface Returned {
  refundedCents: number
  dispute: DisputeState | null
}

/** A payment that was made, for an invoice of the processor or for a sale. */
export interface RemoteCharge extends Returned {
  invoiceRef: string | undefined
  purchaseId: string | undefined
}

/**
 * The subject of a message from the processor. The message only announces an event; its details are
 * fetched from the processor.
 */
export interface ProcessorEvent {
  id: string
  type: string
  about: { kind: 'subscription' | 'invoice' | 'payment' | 'charge'; ref: string } | undefined
}

/** A sale that is not a subscription. */
export interface Sale {
  /** The same key is the same sale, however often it is requested. */
  key: string
  purchaseId: string
  amountCents: number
  currency: string
  description: string
}

export interface RemoteTerms {
  plan: PlanId
  planName: string
  billingPeriod: BillingPeriod
  priceCents: number
}

/** Runs subscriptions, invoices and payments, and reports their events by signed messages. */
export interface Processor {
  readonly name: string
  /** Makes the customer of an account, once, and returns its reference. */
  customer(accountId: string): Promise<string>
  /**
   * Sets the e-mail address of a customer; an empty one removes it. False if the processor does not
   * accept the address, or no longer has the customer.
   */
  setEmail(customerRef: string, email: string): Promise<boolean>
  methods(customerRef: string): Promise<PaymentMethods>
  /** False for a method that is not one of the customer's. */
  useMethod(customerRef: string, methodId: string): Promise<boolean>
  /** Tries an open invoice again with the default method, or throws PaymentRefused. */
  payInvoice(ref: string): Promise<void>
  /** Pays the customer's next invoices. The same key is the same credit, however late. */
  addCredit(customerRef: string, cents: number, key: string): Promise<void>
  setupIntent(customerRef: string): Promise<SetupIntent>
  portal(customerRef: string, returnUrl: string): Promise<{ url: string; expiresAt: number }>
  /** Pays the first period, or throws PaymentRefused. The same key is the same subscription. */
  subscribe(
    customerRef: string,
    accountId: string,
    terms: RemoteTerms,
    key: string,
  ): Promise<RemoteSubscription>
  /** Applies at once and charges the difference, or throws PaymentRefused and changes nothing. */
  upgrade(ref: string, terms: RemoteTerms, key: string): Promise<RemoteSubscription>
  /** Applies from the next period on; the current plan reverts a pending change. */
  changeNext(ref: string, terms: RemoteTerms): Promise<RemoteSubscription>
  cancelAtPeriodEnd(ref: string, cancel: boolean): Promise<RemoteSubscription>
  /** Ends it at once, without a refund. */
  end(ref: string): Promise<RemoteSubscription>
  voidInvoice(ref: string): Promise<void>
  /** Undefined if it does not exist, like the methods below. */
  subscription(ref: string): Promise<RemoteSubscription | undefined>
  invoice(ref: string): Promise<RemoteInvoice | undefined>
  /** The invoice that was made last. */
  latestInvoice(subscriptionRef: string): Promise<RemoteInvoice | undefined>
  sell(customerRef: string, sale: Sale): Promise<Charge>
  /** The purchase that a payment was for, and its result. */
  payment(ref: string): Promise<{ purchaseId: string; charge: Charge } | undefined>
  charge(ref: string): Promise<RemoteCharge | undefined>
  /** Undefined for a message that is not signed by the processor, or long ago. */
  event(raw: string, signature: string): Promise<ProcessorEvent | undefined>
}
