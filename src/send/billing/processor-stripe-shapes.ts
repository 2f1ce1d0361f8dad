import type { Stripe } from 'stripe'
import { secondMs } from '../../lib/time/instant.ts'
import { type InvoiceStatus, invoiceStatuses } from '../../plans/billing/invoice.ts'
import type { BillingPeriod } from '../../plans/billing/subscription.ts'
import { isPlanId } from '../../plans/plans.ts'
import type { PlanId } from '../../plans/tiers.ts'
import type {
  Charge,
  DisputeState,
  PaymentMethod,
  ProcessorEvent,
  RemoteInvoice,
  RemoteSubscription,
} from './processor.ts'

/** Metadata of a price: the plan that it is for. */
export const planKey = 'plan'

/** Names a price at the processor. */
export const priceKey = (plan: PlanId, billingPeriod: BillingPeriod, priceCents: number): string =>
  `${plan}_${billingPeriod}_${priceCents}`

/**
 * Metadata of a subscription that has the price of the next period already: the terms until the
 * running one ends.
 */
export const pendingTermsOf = ({ plan, priceCents, endsAt }: RemoteSubscription) => ({
  plan_now: plan,
  price_now: String(priceCents),
  until: String(endsAt / secondMs),
})

export const noPendingTerms = { plan_now: '', price_now: '', until: '' }

/** The id of something that is answered as an id, as the thing itself, or not at all. */
export const idOf = (value: string | { id: string } | null | undefined): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : value.id

export const methodOf = ({ id, card }: Stripe.PaymentMethod): PaymentMethod => ({
  id,
  type: 'card',
  brand: card?.brand ?? null,
  last4: card?.last4 ?? null,
  expMonth: card?.exp_month ?? null,
  expYear: card?.exp_year ?? null,
})

const statuses: Readonly<Record<string, RemoteSubscription['status']>> = {
  active: 'active',
  trialing: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  canceled: 'cancelled',
  incomplete_expired: 'cancelled',
}

/** Undefined for a subscription that this service knows nothing of. */
export function subscriptionOf(subscription: Stripe.Subscription): RemoteSubscription | undefined {
  const item = subscription.items.data[0]
  const plan = item?.price.metadata[planKey]
  const accountId = subscription.metadata.account_id
  if (!item || plan === undefined || !isPlanId(plan) || accountId === undefined) return undefined
  const { plan_now: planNow, price_now: priceNow, until } = subscription.metadata
  const waits =
    planNow !== undefined && isPlanId(planNow) && item.current_period_start < Number(until)
  return {
    ref: subscription.id,
    accountId,
    plan: waits ? planNow : plan,
    pendingPlan: waits ? plan : null,
    billingPeriod: item.price.recurring?.interval === 'year' ? 'yearly' : 'monthly',
    priceCents: waits ? Number(priceNow) : (item.price.unit_amount ?? 0),
    status: statuses[subscription.status] ?? 'incomplete',
    startsAt: item.current_period_start * secondMs,
    endsAt: item.current_period_end * secondMs,
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    createdAt: subscription.created * secondMs,
    endedAt: subscription.ended_at === null ? null : subscription.ended_at * secondMs,
  }
}

const momentOf = (seconds: number | null | undefined): number | null =>
  seconds === null || seconds === undefined ? null : seconds * secondMs

/** A bank debit is attempted days before its result is known: until then it does not count. */
const isProcessing = ({ payments, status }: Stripe.Invoice): boolean =>
  status === 'open' &&
  (payments?.data ?? []).some(({ payment: { payment_intent: intent } }) =>
    typeof intent === 'object' ? intent?.status === 'processing' : false,
  )

/**
 * The period of an invoice is that of the lines on it: its own fields look back at what was
 * gathered for it. What the customer's balance pays is a line, so that the amount is what is paid.
 */
export function invoiceOf(invoice: Stripe.Invoice): RemoteInvoice {
  const lines = invoice.lines.data
  const balance = {
    description: 'Account balance',
    amountCents: invoice.amount_due - invoice.total,
  }
  const createdAt = invoice.created * secondMs
  const status =
    invoiceStatuses.find(name => name === invoice.status) ?? ('draft' satisfies InvoiceStatus)
  return {
    ref: invoice.id ?? '',
    subscriptionRef: idOf(invoice.parent?.subscription_details?.subscription),
    customerRef: idOf(invoice.customer) ?? '',
    amountCents: invoice.amount_due,
    currency: invoice.currency.toUpperCase(),
    status,
    startsAt: Math.min(...lines.map(line => line.period.start), invoice.period_end) * secondMs,
    endsAt: Math.max(...lines.map(line => line.period.end), invoice.period_end) * secondMs,
    lines: [
      ...lines.map(line => ({
        description: line.description ?? 'Subscription',
        amountCents: line.amount,
      })),
      ...(balance.amountCents === 0 ? [] : [balance]),
    ],
    createdAt,
    dueAt: momentOf(invoice.due_date) ?? createdAt,
    paidAt: momentOf(invoice.status_transitions.paid_at),
    attempts: invoice.attempt_count - (isProcessing(invoice) ? 1 : 0),
    nextAttemptAt: momentOf(invoice.next_payment_attempt),
  }
}

const failedStatuses = ['requires_payment_method', 'canceled']

/** The result of a payment, and its purchase. */
export function paymentOf(paymentIntent: Stripe.PaymentIntent): {
  purchaseId: string | undefined
  charge: Charge
} {
  const purchaseId = paymentIntent.metadata.purchase_id
  if (paymentIntent.status === 'succeeded') return { purchaseId, charge: { outcome: 'paid' } }
  if (!failedStatuses.includes(paymentIntent.status))
    return { purchaseId, charge: { outcome: 'open' } }
  return {
    purchaseId,
    charge: {
      outcome: 'failed',
      error: paymentIntent.last_payment_error?.message ?? 'The payment was not made.',
    },
  }
}

const disputes: Readonly<Record<string, DisputeState>> = {
  lost: 'lost',
  won: 'won',
  warning_closed: 'won',
  prevented: 'won',
}

export const disputeOf = (dispute: Stripe.Dispute | undefined): DisputeState | null =>
  dispute ? (disputes[dispute.status] ?? 'open') : null

const kinds = {
  subscription: 'subscription',
  invoice: 'invoice',
  payment_intent: 'payment',
  charge: 'charge',
} as const

/** Refunds and disputes are about the charge that they name. */
export function eventOf({ id, type, data }: Stripe.Event): ProcessorEvent {
  const {
    object,
    id: own,
    charge,
  } = data.object as {
    object?: string
    id?: string
    charge?: string | { id: string } | null
  }
  const isOfCharge = object === 'dispute' || object === 'refund'
  const kind = isOfCharge ? 'charge' : kinds[object as keyof typeof kinds]
  const ref = isOfCharge ? idOf(charge) : own
  return { id, type, about: kind === undefined || !ref ? undefined : { kind, ref } }
}
