import type { Runtime } from '../../../config/runtime.ts'
import { transact } from '../../../database/database.ts'
import { dayMs, isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { type InvoiceLine, invoiceNumber, money } from '../../../plans/billing/invoice.ts'
import { isHigher, paymentRetriesMs } from '../../../plans/billing/subscription.ts'
import { firstPlan, type Plans, tierOf } from '../../../plans/plans.ts'
import type { PlanId } from '../../../plans/tiers.ts'
import type { Charge, DisputeState, Returned } from '../../../send/billing/processor.ts'
import type { Credits } from '../../keys/service/credits.ts'
import type { KeyChanges } from '../../keys/service/key-changes.ts'
import type { Keyring } from '../../keys/service/keyring.ts'
import type { CreditPurchase, CreditStore } from '../../keys/store/credits.ts'
import type { Mail } from '../../messages/service/mail.ts'
import type { Notices } from '../../messages/service/notices.ts'
import type { Events } from '../../webhooks/service/events.ts'
import type { Invoice, InvoicePayment, InvoiceStore } from '../store/invoices.ts'
import type { Subscription, SubscriptionStore } from '../store/subscriptions.ts'

export interface EntriesDeps extends Pick<Runtime, 'db' | 'ids' | 'log' | 'clock'> {
  keys: Keyring
  changes: Pick<KeyChanges, 'changeAccount'>
  plans: Plans
  subscriptions: SubscriptionStore
  invoices: InvoiceStore
  purchases: CreditStore
  credits: Credits
  events: Pick<Events, 'emit'>
  notices: Notices
  mail: Pick<Mail, 'post' | 'pageUrl'>
  serviceName: string
  /** Where this service is reached; empty: it is not known, and events name no address. */
  baseUrl: string
  termsMs: number
}

export interface InvoiceDraft {
  accountId: string
  subscriptionId: string | null
  startsAt: number
  endsAt: number
  /** Those that cost nothing are left out. */
  lines: readonly InvoiceLine[]
  /** Made here when absent. */
  id?: string
  /** The payment provider; absent: the operator collects. */
  provider?: string
}

/**
 * The billing records, and the only way to create each kind of entry: with its plan, events and
 * notices in one transaction.
 */
export type BillingEntries = ReturnType<typeof createBillingEntries>

export const currency = 'USD'

export function createBillingEntries(deps: EntriesDeps) {
  const { db, keys, invoices, clock } = deps
  const subscribed = subscriptionEntries(deps)
  const invoiced = invoiceEntries(deps)
  const credited = creditEntries(deps)

  /** One transaction; what the keys had in memory is read again when it is undone. */
  const together = <T>(work: () => T): T => {
    try {
      return transact(db, work)
    } catch (error) {
      keys.reload()
      deps.credits.reset()
      throw error
    }
  }

  /** Writes the outcome of the payment of an invoice, and its consequences. */
  const settle = (invoice: Invoice, payment: Partial<InvoicePayment>): Invoice => {
    const settled = { ...invoice, ...payment }
    invoices.pay(invoice.id, settled)
    if (settled.status === 'paid' && invoice.status !== 'paid') invoiced.paid(settled)
    if (settled.status !== 'open') credited.follow(settled)
    if (settled.subscriptionId !== null) subscribed.refresh(settled.subscriptionId)
    return settled
  }

  return {
    ...subscribed,
    together,
    settle,
    purchase: credited.add,
    /** An attempt to be paid. A refusal is tried again by the schedule. */
    attempted(invoice: Invoice, charge: Charge): Invoice {
      if (charge.outcome === 'open') return invoice
      const now = clock.now()
      const attempts = invoice.attempts + 1
      if (charge.outcome === 'paid') {
        return settle(invoice, {
          status: 'paid',
          paidAt: now,
          attempts,
          nextAttemptAt: null,
          lastError: null,
        })
      }
      const waitMs = paymentRetriesMs[invoice.attempts]
      const nextAttemptAt = waitMs === undefined ? null : now + waitMs
      const failed = settle(invoice, {
        attempts,
        nextAttemptAt,
        lastError: charge.error,
        dueAt: Math.min(invoice.dueAt, now),
      })
      invoiced.failed(failed, charge.error)
      return failed
    },
    /** What the processor reports of the money of a paid invoice, and its consequences. */
    returned(invoice: Invoice, { refundedCents, dispute }: Returned): void {
      const after = { ...invoice, refundedCents, dispute }
      invoices.giveBack(invoice.id, after)
      if (refundedCents > invoice.refundedCents)
        invoiced.refunded(after, refundedCents - invoice.refundedCents)
      if (dispute !== invoice.dispute) {
        const { accountId: account, number } = invoice
        deps.log.warn('payment_disputed', { account, invoice: number, dispute })
        invoiced.disputed(after)
      }
      if (refundedCents >= invoice.amountCents || dispute === 'lost') credited.withdraw(invoice)
    },
    /** The time to pay is over. */
    overdue(invoice: Invoice): void {
      invoiced.failed(invoice, 'It was not paid in time.')
      if (invoice.subscriptionId !== null) subscribed.refresh(invoice.subscriptionId)
    },
    ...documents(deps),
    notifyOpen: invoiced.notifyOpen,
    notifyPaid: invoiced.paid,
    notifyFailed: invoiced.failed,
  }
}

/** New invoices. The number is taken in the transaction that adds one. */
function documents({ keys, invoices, ids, clock, termsMs }: EntriesDeps) {
  const billedTo = (accountId: string) => keys.account(accountId)?.account.email ?? ''
  return {
    /** A new invoice, which is open until its payment is known. */
    issue(draft: InvoiceDraft): Invoice {
      const now = clock.now()
      const seq = invoices.nextSeq()
      const lines = draft.lines.filter(line => line.amountCents !== 0)
      const invoice: Invoice = {
        id: draft.id ?? ids.uuid(),
        accountId: draft.accountId,
        subscriptionId: draft.subscriptionId,
        number: invoiceNumber(now, seq),
        amountCents: lines.reduce((sum, line) => sum + line.amountCents, 0),
        currency,
        status: 'open',
        lines,
        startsAt: draft.startsAt,
        endsAt: draft.endsAt,
        billedTo: billedTo(draft.accountId),
        createdAt: now,
        dueAt: now + termsMs,
        paidAt: null,
        attempts: 0,
        nextAttemptAt: null,
        lastError: null,
        provider: draft.provider ?? 'manual',
        providerRef: null,
        refundedCents: 0,
        dispute: null,
      }
      invoices.add(invoice)
      return invoice
    },
    /** An invoice that the processor has made. */
    copyInvoice(invoice: Omit<Invoice, 'id' | 'number' | 'billedTo'>): Invoice {
      const number = invoiceNumber(invoice.createdAt, invoices.nextSeq())
      const copy = { ...invoice, id: ids.uuid(), number, billedTo: billedTo(invoice.accountId) }
      invoices.add(copy)
      return copy
    },
  }
}

/** The data of the events of a subscription. */
function subscriptionData(plans: Plans, subscription: Subscription) {
  return {
    subscription_id: subscription.id,
    plan_id: subscription.plan,
    plan_name: tierOf(plans, subscription.plan).name,
    status: subscription.status,
    billing_period: subscription.billingPeriod,
    current_period_start: isoInstant(subscription.startsAt),
    current_period_end: isoInstant(subscription.endsAt),
  }
}

/** Notifies the account that it is on the free plan, unless it is closed. */
function notifyEnded(
  { keys, plans, notices, mail, clock, serviceName }: EntriesDeps,
  { id, accountId, plan, creditCents }: Subscription,
): void {
  const account = keys.account(accountId)?.account
  if (account?.plan !== firstPlan || account.suspendedAt !== null) return
  const title = `The ${tierOf(plans, plan).name} plan has ended`
  const credit =
    creditCents === 0 ? '' : ` The credit of ${money(creditCents, currency)} stays on the account.`
  const message = `${title}, and the account is on the free plan. Its keys and data stay.${credit}`
  notices.post(
    { accountId, type: 'invoice', title, message, data: { subscription_id: id } },
    clock.now(),
  )
  mail.post({
    to: account.email,
    subject: `${serviceName}: ${title[0]!.toLowerCase()}${title.slice(1)}`,
    accountId,
    dedupe: `subscription-ended:${id}`,
    text: `${message}\n\nChoose a plan: ${mail.pageUrl('/account/plan')}\n`,
    isNotice: true,
  })
}

function subscriptionEntries(deps: EntriesDeps) {
  const { keys, changes, plans, subscriptions, invoices, events, clock, ids } = deps

  /**
   * Moves an account to the plan of its subscription; a plan that the operator set in the meantime
   * is kept.
   */
  const move = (accountId: string, from: PlanId | undefined, to: PlanId) => {
    const state = keys.account(accountId)
    if (!state || state.account.plan === to || (from !== undefined && state.account.plan !== from))
      return
    changes.changeAccount(state, { plan: to })
  }
  const emit = (type: string, subscription: Subscription, data: Record<string, unknown>) => {
    // Each entry is made once, in the transaction that makes it true.
    events.emit({
      type,
      data,
      dedupe: ids.uuid(),
      accountId: subscription.accountId,
      at: clock.now(),
    })
  }
  const emitUpdated = (subscription: Subscription, previousPlan: PlanId | null) =>
    emit('subscription.updated', subscription, {
      ...subscriptionData(plans, subscription),
      previous_plan_id: previousPlan,
      cancel_at_period_end: subscription.cancelAtPeriodEnd,
      updated_at: isoInstant(clock.now()),
    })
  const emitCancelled = (subscription: Subscription, effectiveAt: number) =>
    emit('subscription.cancelled', subscription, {
      subscription_id: subscription.id,
      plan_id: subscription.plan,
      plan_name: tierOf(plans, subscription.plan).name,
      cancelled_at: isoInstant(subscription.cancelledAt ?? clock.now()),
      effective_end_date: isoDay(effectiveAt),
    })

  const revise = (before: Subscription, change: Partial<Subscription>): Subscription => {
    const after = { ...before, ...change, updatedAt: clock.now() }
    const previous = before.plan === after.plan ? null : before.plan
    subscriptions.put(after)
    // An account that gains or loses webhooks is notified of it by them.
    const gains = previous !== null && isHigher(after.plan, before.plan)
    if (gains) move(after.accountId, before.plan, after.plan)
    if (after.cancelAtPeriodEnd && !before.cancelAtPeriodEnd) emitCancelled(after, after.endsAt)
    else emitUpdated(after, previous)
    if (previous !== null && !gains) move(after.accountId, before.plan, after.plan)
    return after
  }

  return {
    begin(subscription: Subscription): Subscription {
      subscriptions.put(subscription)
      move(subscription.accountId, undefined, subscription.plan)
      emit('subscription.created', subscription, {
        ...subscriptionData(plans, subscription),
        created_at: isoInstant(subscription.createdAt),
      })
      return subscription
    },
    revise,
    /**
     * Ends all rights of the subscription. `unpaid`: it was not cancelled by the account;
     * `replaced`: another one follows, and the account is not notified of the end.
     */
    end(before: Subscription, { unpaid = false, replaced = false } = {}): Subscription {
      const now = clock.now()
      const after: Subscription = {
        ...before,
        status: 'cancelled',
        endedAt: now,
        cancelledAt: before.cancelledAt ?? now,
        updatedAt: now,
        pendingPlan: null,
        pendingBillingPeriod: null,
        pastDueAt: null,
      }
      subscriptions.put(after)
      if (unpaid) emitCancelled(after, now)
      else emitUpdated(after, null)
      move(after.accountId, after.plan, firstPlan)
      if (!replaced) notifyEnded(deps, after)
      return after
    },
    /** Whether it is past due follows from its invoices. */
    refresh(subscriptionId: string): void {
      const subscription = subscriptions.byId(subscriptionId)
      if (!subscription || subscription.endedAt !== null || subscription.provider !== 'manual')
        return
      const now = clock.now()
      const isLate = invoices.openOf(subscriptionId).some(invoice => invoice.dueAt <= now)
      if (isLate === (subscription.status === 'past_due')) return
      revise(
        subscription,
        isLate ? { status: 'past_due', pastDueAt: now } : { status: 'active', pastDueAt: null },
      )
    },
  }
}

const disputeWords: Readonly<Record<DisputeState, string>> = {
  open: 'The payment is disputed at the bank of the card.',
  won: 'The dispute of the payment was withdrawn or declined: the invoice stays paid.',
  lost: 'The dispute of the payment was accepted: the amount was returned to the card.',
}

function invoiceEntries({ events, notices, mail, clock, ids, serviceName, baseUrl }: EntriesDeps) {
  const data = (invoice: Invoice) => ({
    invoice_id: invoice.id,
    subscription_id: invoice.subscriptionId,
    amount: invoice.amountCents,
    currency: invoice.currency,
    status: invoice.status,
  })
  const sum = (invoice: Invoice) => money(invoice.amountCents, invoice.currency)
  const say = (invoice: Invoice, title: string, message: string) =>
    notices.post(
      {
        accountId: invoice.accountId,
        type: 'invoice',
        title,
        message,
        data: { invoice_id: invoice.id },
      },
      clock.now(),
    )
  const write = (invoice: Invoice, subject: string, text: string) =>
    mail.post({
      to: invoice.billedTo,
      subject: `${serviceName}: ${subject}`,
      accountId: invoice.accountId,
      dedupe: `invoice:${invoice.id}:${ids.uuid()}`,
      text: `${text}\n\nThe invoice, its PDF and the plan: ${mail.pageUrl('/account/plan')}\n`,
      isNotice: true,
    })
  return {
    paid(invoice: Invoice): void {
      const paidAt = invoice.paidAt ?? clock.now()
      events.emit({
        type: 'invoice.paid',
        dedupe: invoice.id,
        accountId: invoice.accountId,
        at: clock.now(),
        data: {
          ...data(invoice),
          period_start: isoInstant(invoice.startsAt),
          period_end: isoInstant(invoice.endsAt),
          paid_at: isoInstant(paidAt),
          pdf_url: baseUrl === '' ? null : `${baseUrl}/billing/invoices/${invoice.id}/pdf`,
        },
      })
      say(invoice, `Invoice ${invoice.number} is paid`, `${sum(invoice)} has been paid.`)
    },
    failed(invoice: Invoice, error: string): void {
      const now = clock.now()
      const next = invoice.nextAttemptAt === null ? null : isoInstant(invoice.nextAttemptAt)
      events.emit({
        type: 'invoice.payment_failed',
        dedupe: `${invoice.id} ${invoice.attempts} ${error}`,
        accountId: invoice.accountId,
        at: now,
        data: {
          ...data(invoice),
          attempt_count: invoice.attempts,
          next_attempt_at: next,
          error,
          failed_at: isoInstant(now),
        },
      })
      const then =
        next === null
          ? 'Choose another payment method, and the payment is retried.'
          : `The payment is retried at ${next}.`
      const message = `${sum(invoice)} of invoice ${invoice.number} could not be taken: ${error} ${then}`
      say(invoice, `Invoice ${invoice.number} is not paid`, message)
      write(invoice, `invoice ${invoice.number} is not paid`, message)
    },
    refunded(invoice: Invoice, cents: number): void {
      const message = `${money(cents, invoice.currency)} of invoice ${invoice.number} has been refunded.`
      say(invoice, `Invoice ${invoice.number} is refunded`, message)
      write(invoice, `refund of invoice ${invoice.number}`, message)
    },
    disputed(invoice: Invoice): void {
      const { dispute, number } = invoice
      if (dispute === null) return
      const message = `${disputeWords[dispute]} The amount of invoice ${number} is ${sum(invoice)}.`
      say(invoice, `The payment of invoice ${number} is disputed`, message)
      write(invoice, `payment of invoice ${number} is disputed`, message)
    },
    /** A bill that waits for its payer. */
    notifyOpen(invoice: Invoice): void {
      const message = `Invoice ${invoice.number} for ${sum(invoice)} is due on ${isoDay(invoice.dueAt)}.`
      say(invoice, `Invoice ${invoice.number} is open`, message)
      write(invoice, `invoice ${invoice.number}`, message)
    },
  }
}

function creditEntries({ purchases, credits, clock }: EntriesDeps) {
  return {
    add: (purchase: CreditPurchase): void => purchases.add(purchase),
    /** The requests of a purchase whose money went back, as far as they are left. */
    withdraw({ id }: Invoice): void {
      const purchase = purchases.byInvoice(id)
      if (purchase?.status !== 'completed') return
      credits.flush()
      purchases.lapse(purchase.id)
      credits.reload(purchase.accountId)
    },
    /** A purchase is worth what its invoice is: paid, its requests are there. */
    follow({ id, status }: Invoice): void {
      const purchase = purchases.byInvoice(id)
      if (!purchase || purchase.status === 'completed' || status === 'draft' || status === 'open')
        return
      const now = clock.now()
      // Usage of other lots must be stored before they are read again.
      credits.flush()
      const { expiresAfterDays } = purchase
      if (status === 'paid') {
        const expiresAt = expiresAfterDays === null ? null : now + expiresAfterDays * dayMs
        purchases.settle({ ...purchase, status: 'completed', completedAt: now, expiresAt })
      } else purchases.settle({ ...purchase, status: 'failed' })
      credits.reload(purchase.accountId)
    },
  }
}
