import type { Runtime } from '../../../config/runtime.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import type { InvoiceLine } from '../../../plans/billing/invoice.ts'
import { type Proration, unusedCents } from '../../../plans/billing/proration.ts'
import {
  type BillingPeriod,
  changeOf,
  periodEnd,
  type Terms,
} from '../../../plans/billing/subscription.ts'
import { firstPlan, type Plans, tierOf } from '../../../plans/plans.ts'
import type { Charge } from '../../../send/billing/processor.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { InvoiceStore } from '../store/invoices.ts'
import type { Subscription, SubscriptionStore } from '../store/subscriptions.ts'
import { assignedSubscription, manualSubscription } from './assigned.ts'
import type { BillingEntries } from './entries.ts'
import {
  type AgreementOptions,
  type BillingRefusal,
  type Changed,
  isRefusal,
  listPrice,
  type OpenInvoices,
  offered,
  termsOf,
  undecided,
} from './terms.ts'

export interface OwnDeps extends Pick<Runtime, 'clock' | 'ids' | 'log'> {
  entries: BillingEntries
  subscriptions: SubscriptionStore
  invoices: InvoiceStore
  plans: Plans
  keys: Pick<Keyring, 'entitlements'>
  graceMs: number
  /** Charges the account and returns the result at once. */
  charge(accountId: string): Charge
}

/** Subscriptions whose periods and invoices are made here. */
export type ManualSubscriptions = ReturnType<typeof createManualSubscriptions>

const atOnceMax = 200

export function createManualSubscriptions(deps: OwnDeps) {
  const turns = periodTurns(deps)
  return { ...subscribing(deps, turns.catchUp), ...turns }
}

/** Takes payments before the change is written, and issues the paid invoices. */
function charging({ entries, charge }: OwnDeps) {
  /** Pays before it writes: a payment that is refused leaves everything as it was. */
  const paidFor = <T>(
    accountId: string,
    lines: readonly InvoiceLine[],
    write: (charge: Charge) => T,
  ): T | BillingRefusal => {
    const isFree = lines.reduce((sum, line) => sum + line.amountCents, 0) === 0
    const charged: Charge = isFree ? { outcome: 'paid' } : charge(accountId)
    if (charged.outcome === 'failed') return { refused: 'payment_failed', why: charged.error }
    return entries.together(() => write(charged))
  }

  const invoice = (
    subscription: Subscription,
    lines: readonly InvoiceLine[],
    charged: Charge,
    startsAt: number,
  ) => {
    if (lines.every(line => line.amountCents === 0)) return
    const issued = entries.issue({
      accountId: subscription.accountId,
      subscriptionId: subscription.id,
      startsAt,
      endsAt: subscription.endsAt,
      lines,
    })
    if (entries.attempted(issued, charged).status === 'open') entries.notifyOpen(issued)
  }

  return { paidFor, invoice }
}

const sumOf = (credits: readonly { cents: number }[]): number =>
  credits.reduce((sum, { cents }) => sum + cents, 0)

/** The part of a credit that an invoice uses up, and what is left of it. */
function creditLine(creditCents: number, priceCents: number) {
  const usedCents = Math.min(creditCents, priceCents)
  return {
    line: { description: 'Credit for unused time', amountCents: -usedCents },
    creditCents: creditCents - usedCents,
  }
}

/** Changes that cost money now: new subscriptions, and upgrades. */
function selling(deps: OwnDeps) {
  const { entries, subscriptions, plans, clock, ids } = deps
  const { paidFor, invoice } = charging(deps)
  const nameOf = (plan: Terms['plan'], billingPeriod: BillingPeriod) =>
    `${tierOf(plans, plan).name} plan, ${billingPeriod}`

  const begin = (
    { account }: AccountState,
    terms: Terms,
    agreed: boolean,
    { id = ids.uuid(), creditCents = 0 }: { id?: string | undefined; creditCents?: number } = {},
  ): Changed | BillingRefusal => {
    const now = clock.now()
    const balance = subscriptions.credits(account.id)
    const credit = creditLine(creditCents + sumOf(balance), terms.priceCents)
    const added = {
      ...manualSubscription({
        id,
        accountId: account.id,
        ...terms,
        agreed,
        startsAt: now,
        createdAt: now,
      }),
      creditCents: credit.creditCents,
    }
    const lines = [
      { description: nameOf(terms.plan, terms.billingPeriod), amountCents: terms.priceCents },
      credit.line,
    ]
    return paidFor(account.id, lines, charged => {
      for (const { id } of balance) subscriptions.takeCredit(id)
      const subscription = entries.begin(added)
      invoice(subscription, lines, charged, now)
      return {
        subscription,
        amountCents: terms.priceCents + credit.line.amountCents,
        effectiveAt: now,
        how: 'created' as const,
      }
    })
  }

  const changeNow = (
    current: Subscription,
    terms: Terms,
    newPeriod: boolean,
    cost: Proration,
    more: Partial<Subscription>,
  ) => {
    if (current.status === 'past_due') return { refused: 'subscription_past_due' as const }
    const now = clock.now()
    const period = newPeriod
      ? { anchorAt: now, startsAt: now, endsAt: periodEnd(now, now, terms.billingPeriod) }
      : {}
    const lines = [
      {
        description: `Unused time of the ${nameOf(current.plan, current.billingPeriod)}`,
        amountCents: -cost.creditCents,
      },
      {
        description: newPeriod
          ? nameOf(terms.plan, terms.billingPeriod)
          : `${nameOf(terms.plan, terms.billingPeriod)}, from ${isoDay(now)}`,
        amountCents: cost.chargeCents,
      },
    ]
    const sum = cost.amountCents === 0 ? [] : lines
    return paidFor(current.accountId, sum, charged => {
      const pending = { pendingPlan: null, pendingBillingPeriod: null }
      const subscription = entries.revise(current, {
        ...terms,
        ...period,
        ...pending,
        ...more,
        agreed: false,
      })
      invoice(subscription, sum, charged, now)
      return {
        subscription,
        amountCents: cost.amountCents,
        effectiveAt: now,
        how: 'changed' as const,
      }
    })
  }

  return { begin, changeNow }
}

function subscribing(deps: OwnDeps, catchUp: (accountId: string) => void) {
  const { entries, subscriptions, invoices, plans, keys, clock, charge } = deps
  const { begin, changeNow } = selling(deps)
  const { apply, stay, cancelled, resumed } = changing(deps, changeNow)
  const endingWith = endings(deps)
  const heldBy = ({ account }: AccountState): Subscription | undefined => {
    catchUp(account.id)
    return subscriptions.running(account.id)
  }
  /**
   * The value of the unused time of a subscription that another replaces, less invoices of it that
   * need not be paid.
   */
  const unusedOf = (current: Subscription, openInvoices: OpenInvoices | undefined): number => {
    const unpaid = invoices
      .ofPeriod(current.id, current.startsAt)
      .filter(({ status }) => status !== 'paid' && (status !== 'open' || openInvoices === 'void'))
    const unpaidCents = unpaid.reduce((sum, invoice) => sum + invoice.amountCents, 0)
    return Math.max(0, unusedCents(current, clock.now()) - unpaidCents)
  }
  const heldOrAssigned = (account: AccountState): Subscription | undefined =>
    heldBy(account) ?? assignedSubscription(account, keys, clock.now())
  const changePlan = (account: AccountState, plan: string): Changed | BillingRefusal => {
    const current = heldOrAssigned(account)
    if (!current) {
      if (plan === firstPlan) return { refused: 'no_active_subscription' }
      const terms = offered(plans, account, undefined, plan, 'monthly')
      return isRefusal(terms) ? terms : begin(account, terms, false)
    }
    if (plan === firstPlan) {
      const subscription = cancelled(current, {
        pendingPlan: firstPlan,
        pendingBillingPeriod: null,
      })
      return { subscription, amountCents: 0, effectiveAt: current.endsAt, how: 'pending' }
    }
    const terms = offered(plans, account, current, plan, current.billingPeriod)
    return isRefusal(terms) ? terms : apply(current, terms, true)
  }

  return {
    subscribe: async (account: AccountState, plan: string, billingPeriod: BillingPeriod) => () => {
      const current = heldBy(account)
      const terms = offered(plans, account, current, plan, billingPeriod)
      if (isRefusal(terms)) return terms
      return current ? apply(current, terms, false) : begin(account, terms, false)
    },
    changePlan: async (account: AccountState, plan: string) => () => changePlan(account, plan),
    cancel: async (account: AccountState) => () => {
      const current = heldOrAssigned(account)
      return current ? cancelled(current) : { refused: 'no_active_subscription' as const }
    },
    reactivate: async (account: AccountState) => () => {
      const current = heldOrAssigned(account)
      return current?.cancelAtPeriodEnd ? resumed(current) : current
    },
    endNow: async (account: AccountState, openInvoices?: OpenInvoices) => () => {
      const current = heldBy(account)
      if (!current) return { refused: 'no_active_subscription' as const }
      const end = endingWith(current, openInvoices)
      return isRefusal(end) ? end : entries.together(end)
    },
    /**
     * Puts an account on a plan at a price that was agreed with it. A running subscription with these
     * terms stays; another one ends.
     */
    agree(
      account: AccountState,
      terms: Terms,
      { openInvoices, id }: AgreementOptions = {},
    ): Changed | BillingRefusal {
      const current = heldBy(account)
      if (current && current.provider !== 'manual') {
        return {
          refused: 'invalid_plan',
          why: 'must not replace a subscription that the payment processor manages. End that one first.',
        }
      }
      if (current && isSameTerms(current, terms)) {
        const lasting = { cancelAtPeriodEnd: false, cancelledAt: null }
        const settled = { pendingPlan: null, pendingBillingPeriod: null }
        return stay(current, { agreed: true, ...lasting, ...settled })
      }
      const end = current && endingWith(current, openInvoices, true)
      if (isRefusal(end)) return end
      const creditCents = current ? unusedOf(current, openInvoices) : 0
      const balanceCents =
        (current?.creditCents ?? 0) + sumOf(subscriptions.credits(account.account.id))
      const charged: Charge =
        terms.priceCents <= creditCents + balanceCents
          ? { outcome: 'paid' }
          : charge(account.account.id)
      if (charged.outcome === 'failed') return { refused: 'payment_failed', why: charged.error }
      return entries.together(() => {
        end?.()
        return begin(account, terms, true, { id, creditCents })
      })
    },
  }
}

const isSameTerms = (current: Subscription, terms: Terms): boolean =>
  current.plan === terms.plan &&
  current.billingPeriod === terms.billingPeriod &&
  current.priceCents === terms.priceCents

/**
 * The end of a subscription before that of its period; refused while it has open invoices and the
 * request does not decide about them.
 */
function endings({ entries, invoices }: OwnDeps) {
  return (
    current: Subscription,
    openInvoices: OpenInvoices | undefined,
    replaced = false,
  ): (() => Subscription) | BillingRefusal => {
    const open = invoices.openOf(current.id)
    const refusal = undecided(open, openInvoices)
    if (refusal) return refusal
    return () => {
      const ended = entries.end(current, { replaced })
      if (openInvoices === 'void')
        for (const invoice of open) entries.settle(invoice, { status: 'void', nextAttemptAt: null })
      return ended
    }
  }
}

/** Changes to a running subscription. */
function changing({ entries, clock }: OwnDeps, changeNow: ReturnType<typeof selling>['changeNow']) {
  /** As it is, with whatever was to happen at its end taken back. */
  const stay = (current: Subscription, change: Partial<Subscription>): Changed => {
    const isSame = Object.entries(change).every(
      ([name, value]) => current[name as keyof Subscription] === value,
    )
    const subscription = isSame ? current : entries.together(() => entries.revise(current, change))
    return { subscription, amountCents: 0, effectiveAt: clock.now(), how: 'same' }
  }

  const apply = (
    current: Subscription,
    terms: Terms,
    keepsEnd: boolean,
  ): Changed | BillingRefusal => {
    const change = changeOf(current, terms, clock.now())
    const lasting = { cancelAtPeriodEnd: false, cancelledAt: null }
    if (change.when === 'never') {
      const ends = keepsEnd && current.pendingPlan !== firstPlan
      return stay(current, { pendingPlan: null, pendingBillingPeriod: null, ...(!ends && lasting) })
    }
    if (change.when === 'now')
      return changeNow(current, terms, change.newPeriod, change.proration, keepsEnd ? {} : lasting)
    const pending = {
      pendingPlan: terms.plan,
      pendingBillingPeriod: terms.billingPeriod,
      ...lasting,
    }
    return { ...stay(current, pending), effectiveAt: current.endsAt, how: 'pending' }
  }

  const cancelled = (current: Subscription, change: Partial<Subscription> = {}): Subscription =>
    current.cancelAtPeriodEnd && current.pendingPlan === (change.pendingPlan ?? current.pendingPlan)
      ? current
      : entries.together(() =>
          entries.revise(current, {
            cancelAtPeriodEnd: true,
            cancelledAt: current.cancelledAt ?? clock.now(),
            ...change,
          }),
        )

  const resumed = (current: Subscription): Subscription => {
    const pendingPlan = current.pendingPlan === firstPlan ? null : current.pendingPlan
    return entries.together(() =>
      entries.revise(current, { cancelAtPeriodEnd: false, cancelledAt: null, pendingPlan }),
    )
  }
  return { apply, stay, cancelled, resumed }
}

function periodTurns({
  entries,
  subscriptions,
  invoices,
  plans,
  clock,
  log,
  graceMs,
  charge,
}: OwnDeps) {
  /** Begins the next period, or ends the subscription. */
  const turn = (current: Subscription): Subscription =>
    entries.together(() => {
      if (current.cancelAtPeriodEnd) return entries.end(current)
      const { terms, agreed } = nextTerms(current)
      const startsAt = current.endsAt
      const endsAt = periodEnd(current.anchorAt, startsAt, terms.billingPeriod)
      // The server was stopped for the whole period, or its clock is wrong: customers are not charged
      // for a service that they could not use, nor sent a year of invoices at once.
      const isMissed = endsAt <= clock.now()
      const priceCents = isMissed ? 0 : terms.priceCents
      const { line, creditCents } = creditLine(current.creditCents, priceCents)
      const next = entries.revise(current, {
        ...terms,
        creditCents,
        agreed,
        startsAt,
        endsAt,
        pendingPlan: null,
        pendingBillingPeriod: null,
      })
      if (isMissed)
        log.warn('billing_period_missed', {
          message: 'The server was stopped for the whole period, so no invoice was issued for it.',
          subscription: current.id,
          from: isoDay(startsAt),
          to: isoDay(endsAt),
        })
      if (priceCents > 0) {
        const description = `${tierOf(plans, terms.plan).name} plan, ${terms.billingPeriod}`
        const draft = { accountId: current.accountId, subscriptionId: current.id, startsAt, endsAt }
        const issued = entries.issue({
          ...draft,
          lines: [{ description, amountCents: priceCents }, line],
        })
        const charged: Charge =
          issued.amountCents === 0 ? { outcome: 'paid' } : charge(current.accountId)
        entries.attempted(issued, charged)
        if (charged.outcome === 'open') entries.notifyOpen(issued)
      }
      return subscriptions.byId(next.id)!
    })
  const nextTerms = (current: Subscription): { terms: Terms; agreed: boolean } => {
    const plan = current.pendingPlan ?? current.plan
    const billingPeriod = current.pendingBillingPeriod ?? current.billingPeriod
    if (current.agreed && plan === current.plan && billingPeriod === current.billingPeriod)
      return { terms: termsOf(current), agreed: true }
    return {
      terms: { plan, billingPeriod, priceCents: listPrice(plans, plan, billingPeriod) },
      agreed: false,
    }
  }
  const retry = (accountId: string, invoiceId: string) =>
    entries.together(() => {
      const invoice = invoices.byId(invoiceId)
      if (invoice?.status === 'open' && invoice.provider === 'manual')
        entries.attempted(invoice, charge(accountId))
    })
  const giveUp = (current: Subscription) =>
    entries.together(() => {
      entries.end(current, { unpaid: true })
      for (const invoice of invoices.openOf(current.id))
        entries.settle(invoice, { status: 'uncollectible', nextAttemptAt: null })
    })
  const turnAll = (current: Subscription) => {
    const { pastDueAt, endsAt } = current
    // After a stop of the server: the plan had ended before its period did, so no other begins.
    if (pastDueAt !== null && pastDueAt + graceMs <= endsAt && endsAt <= clock.now()) {
      giveUp(current)
      return
    }
    for (
      let subscription = current;
      subscription.endedAt === null && subscription.endsAt <= clock.now();
    )
      subscription = turn(subscription)
  }

  return {
    /** Does what is due of one account, as it is before anything is read or changed. */
    catchUp(accountId: string) {
      const current = subscriptions.running(accountId)
      if (current?.provider === 'manual') turnAll(current)
    },
    /**
     * Tries the open invoices of an account whose payment has failed again, as after a new payment
     * method.
     */
    retryAll(accountId: string) {
      for (const invoice of invoices.page({ accountId, status: 'open' }, atOnceMax, 0))
        if (invoice.attempts > 0) retry(accountId, invoice.id)
    },
    /**
     * Does what is due by now: payments to try again, ends of periods, overdue invoices, ends of
     * grace.
     */
    pass() {
      const now = clock.now()
      for (const invoice of invoices.toRetry(now, atOnceMax)) retry(invoice.accountId, invoice.id)
      for (const subscription of subscriptions.over('manual', now, atOnceMax)) turnAll(subscription)
      for (const invoice of invoices.newlyOverdue(now, atOnceMax))
        entries.together(() => entries.overdue(invoice))
      for (const subscription of subscriptions.pastDueSince('manual', now - graceMs, atOnceMax))
        giveUp(subscription)
    },
    nextStop(after: number) {
      const graceEnd = subscriptions.nextPastDue(after - graceMs)
      const stops = [
        subscriptions.nextEnd(after),
        invoices.nextDue(after),
        graceEnd === undefined ? undefined : graceEnd + graceMs,
      ]
      return Math.min(...stops.filter(stop => stop !== undefined))
    },
  }
}
