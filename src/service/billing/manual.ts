import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { isoDay } from '../../lib/instant.ts'
import type { InvoiceLine } from '../../plan/invoice.ts'
import { firstPlan, type Plans, tierOf } from '../../plan/plans.ts'
import type { Proration } from '../../plan/proration.ts'
import { type BillingPeriod, changeOf, periodEnd, type Terms } from '../../plan/subscription.ts'
import type { Charge } from '../../send/billing/processor.ts'
import type { InvoiceStore } from '../../store/billing/invoices.ts'
import type { Subscription, SubscriptionStore } from '../../store/billing/subscriptions.ts'
import type { AccountState } from '../keys/keyring.ts'
import type { BillingBook } from './entries.ts'
import {
  type BillingRefusal,
  type Changed,
  isRefusal,
  listPrice,
  offered,
  type SubscriptionEngine,
  termsOf,
} from './terms.ts'

export interface OwnDeps {
  book: BillingBook
  subscriptions: SubscriptionStore
  invoices: InvoiceStore
  plans: Plans
  clock: Clock
  ids: Ids
  graceMs: number
  /** What becomes of a payment of an account's, at once. */
  charge(accountId: string): Charge
}

/** Subscriptions whose periods and invoices are made here. */
export interface ManualSubscriptions extends SubscriptionEngine {
  /**
   * Puts an account on a plan at a price that was agreed with it; in place of a running
   * subscription, which ends.
   */
  agree(account: AccountState, terms: Terms): Changed | BillingRefusal
  /** Does what is due of one account, as it is before anything is read or changed. */
  catchUp(accountId: string): void
  /**
   * Does what is due by now: ends of periods, overdue invoices, payments to try again, ends of
   * grace.
   */
  pass(): void
  nextStop(after: number): number
  /**
   * Tries the open invoices of an account whose payment has failed again, as after a new payment
   * method.
   */
  retryAll(accountId: string): void
}

const atOnceMax = 200

export function createManualSubscriptions(deps: OwnDeps): ManualSubscriptions {
  const turns = periodTurns(deps)
  return { ...subscribing(deps, turns.catchUp), ...turns }
}

/** What costs something now: the beginning of a subscription, and a change within one. */
function selling({ book, plans, clock, ids, charge }: OwnDeps) {
  const nameOf = (plan: Terms['plan'], billingPeriod: BillingPeriod) =>
    `${tierOf(plans, plan).name} plan, ${billingPeriod}`

  /** Pays before it writes: a payment that is refused leaves everything as it was. */
  const paidFor = <T>(
    accountId: string,
    lines: readonly InvoiceLine[],
    write: (charge: Charge) => T,
  ): T | BillingRefusal => {
    const isFree = lines.every(line => line.amountCents === 0)
    const charged: Charge = isFree ? { outcome: 'paid' } : charge(accountId)
    if (charged.outcome === 'failed') return { refused: 'payment_failed', why: charged.error }
    return book.together(() => write(charged))
  }

  const invoice = (
    one: Subscription,
    lines: readonly InvoiceLine[],
    charged: Charge,
    startsAt: number,
  ) => {
    if (lines.every(line => line.amountCents === 0)) return
    const made = book.issue({
      accountId: one.accountId,
      subscriptionId: one.id,
      startsAt,
      endsAt: one.endsAt,
      lines,
    })
    if (book.attempted(made, charged).status === 'open') book.tellOpen(made)
  }

  const begin = (
    { account }: AccountState,
    terms: Terms,
    agreed: boolean,
  ): Changed | BillingRefusal => {
    const now = clock.now()
    const one: Subscription = {
      id: ids.uuid(),
      accountId: account.id,
      ...terms,
      agreed,
      status: 'active',
      anchorAt: now,
      startsAt: now,
      endsAt: periodEnd(now, now, terms.billingPeriod),
      cancelAtPeriodEnd: false,
      cancelledAt: null,
      pendingPlan: null,
      pendingBillingPeriod: null,
      pastDueAt: null,
      endedAt: null,
      provider: 'manual',
      providerRef: null,
      createdAt: now,
      updatedAt: now,
    }
    const lines = [
      { description: nameOf(terms.plan, terms.billingPeriod), amountCents: terms.priceCents },
    ]
    return paidFor(account.id, lines, charged => {
      const subscription = book.begin(one)
      invoice(subscription, lines, charged, now)
      return {
        subscription,
        amountCents: terms.priceCents,
        effectiveAt: now,
        how: 'created' as const,
      }
    })
  }

  const changeNow = (
    held: Subscription,
    terms: Terms,
    newPeriod: boolean,
    cost: Proration,
    more: Partial<Subscription>,
  ) => {
    if (held.status === 'past_due') return { refused: 'subscription_past_due' as const }
    const now = clock.now()
    const period = newPeriod
      ? { anchorAt: now, startsAt: now, endsAt: periodEnd(now, now, terms.billingPeriod) }
      : {}
    const lines = [
      {
        description: `Unused time of the ${nameOf(held.plan, held.billingPeriod)}`,
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
    return paidFor(held.accountId, sum, charged => {
      const pending = { pendingPlan: null, pendingBillingPeriod: null }
      const subscription = book.revise(held, {
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
  const { book, subscriptions, plans, charge } = deps
  const { begin, changeNow } = selling(deps)
  const { apply, cancelled, resumed } = changing(deps, changeNow)
  const heldBy = ({ account }: AccountState): Subscription | undefined => {
    catchUp(account.id)
    return subscriptions.running(account.id)
  }
  const changePlan = (account: AccountState, plan: string): Changed | BillingRefusal => {
    const held = heldBy(account)
    if (!held) {
      if (account.account.plan !== firstPlan || plan === firstPlan)
        return { refused: 'no_active_subscription' }
      const terms = offered(plans, account, undefined, plan, 'monthly')
      return isRefusal(terms) ? terms : begin(account, terms, false)
    }
    if (plan === firstPlan) {
      const subscription = cancelled(held, { pendingPlan: firstPlan, pendingBillingPeriod: null })
      return { subscription, amountCents: 0, effectiveAt: held.endsAt, how: 'pending' }
    }
    const terms = offered(plans, account, held, plan, held.billingPeriod)
    return isRefusal(terms) ? terms : apply(held, terms, true)
  }

  return {
    subscribe: async (account: AccountState, plan: string, billingPeriod: BillingPeriod) => () => {
      const held = heldBy(account)
      const terms = offered(plans, account, held, plan, billingPeriod)
      if (isRefusal(terms)) return terms
      return held ? apply(held, terms, false) : begin(account, terms, false)
    },
    changePlan: async (account: AccountState, plan: string) => () => changePlan(account, plan),
    cancel: async (account: AccountState) => () => {
      const held = heldBy(account)
      return held ? cancelled(held) : { refused: 'no_active_subscription' as const }
    },
    reactivate: async (account: AccountState) => () => {
      const held = heldBy(account)
      return held?.cancelAtPeriodEnd ? resumed(held) : held
    },
    agree(account: AccountState, terms: Terms): Changed | BillingRefusal {
      const held = heldBy(account)
      if (held && held.provider !== 'manual') {
        return {
          refused: 'invalid_plan',
          why: 'can not take the place of a subscription that the processor runs; it has to end there first.',
        }
      }
      const charged: Charge =
        terms.priceCents === 0 ? { outcome: 'paid' } : charge(account.account.id)
      if (charged.outcome === 'failed') return { refused: 'payment_failed', why: charged.error }
      return book.together(() => {
        if (held) book.end(held)
        return begin(account, terms, true)
      })
    },
  }
}

/** What becomes of a running subscription. */
function changing({ book, clock }: OwnDeps, changeNow: ReturnType<typeof selling>['changeNow']) {
  /** As it is, with whatever was to happen at its end taken back. */
  const stay = (held: Subscription, change: Partial<Subscription>): Changed => {
    const isSame = Object.entries(change).every(
      ([name, value]) => held[name as keyof Subscription] === value,
    )
    const subscription = isSame ? held : book.together(() => book.revise(held, change))
    return { subscription, amountCents: 0, effectiveAt: clock.now(), how: 'same' }
  }

  const apply = (held: Subscription, terms: Terms, keepsEnd: boolean): Changed | BillingRefusal => {
    const change = changeOf(held, terms, clock.now())
    const lasting = { cancelAtPeriodEnd: false, cancelledAt: null }
    if (change.when === 'never') {
      const ends = keepsEnd && held.pendingPlan !== firstPlan
      return stay(held, { pendingPlan: null, pendingBillingPeriod: null, ...(!ends && lasting) })
    }
    if (change.when === 'now')
      return changeNow(held, terms, change.newPeriod, change.proration, keepsEnd ? {} : lasting)
    const pending = {
      pendingPlan: terms.plan,
      pendingBillingPeriod: terms.billingPeriod,
      ...lasting,
    }
    return { ...stay(held, pending), effectiveAt: held.endsAt, how: 'pending' }
  }

  const cancelled = (held: Subscription, change: Partial<Subscription> = {}): Subscription =>
    held.cancelAtPeriodEnd && held.pendingPlan === (change.pendingPlan ?? held.pendingPlan)
      ? held
      : book.together(() =>
          book.revise(held, {
            cancelAtPeriodEnd: true,
            cancelledAt: held.cancelledAt ?? clock.now(),
            ...change,
          }),
        )

  const resumed = (held: Subscription): Subscription => {
    const pendingPlan = held.pendingPlan === firstPlan ? null : held.pendingPlan
    return book.together(() =>
      book.revise(held, { cancelAtPeriodEnd: false, cancelledAt: null, pendingPlan }),
    )
  }
  return { apply, cancelled, resumed }
}

function periodTurns({ book, subscriptions, invoices, plans, clock, graceMs, charge }: OwnDeps) {
  /** The next period, or the end. */
  const turn = (held: Subscription): Subscription =>
    book.together(() => {
      if (held.cancelAtPeriodEnd) return book.end(held)
      const { terms, agreed } = nextTerms(held)
      const startsAt = held.endsAt
      const endsAt = periodEnd(held.anchorAt, startsAt, terms.billingPeriod)
      const next = book.revise(held, {
        ...terms,
        agreed,
        startsAt,
        endsAt,
        pendingPlan: null,
        pendingBillingPeriod: null,
      })
      if (terms.priceCents > 0) {
        const description = `${tierOf(plans, terms.plan).name} plan, ${terms.billingPeriod}`
        const draft = { accountId: held.accountId, subscriptionId: held.id, startsAt, endsAt }
        const made = book.issue({
          ...draft,
          lines: [{ description, amountCents: terms.priceCents }],
        })
        const charged = charge(held.accountId)
        book.attempted(made, charged)
        if (charged.outcome === 'open') book.tellOpen(made)
      }
      return subscriptions.byId(next.id)!
    })
  const nextTerms = (held: Subscription): { terms: Terms; agreed: boolean } => {
    const plan = held.pendingPlan ?? held.plan
    const billingPeriod = held.pendingBillingPeriod ?? held.billingPeriod
    if (held.agreed && plan === held.plan && billingPeriod === held.billingPeriod)
      return { terms: termsOf(held), agreed: true }
    return {
      terms: { plan, billingPeriod, priceCents: listPrice(plans, plan, billingPeriod) },
      agreed: false,
    }
  }
  const turnAll = (held: Subscription) => {
    for (let one = held; one.endedAt === null && one.endsAt <= clock.now(); ) one = turn(one)
  }
  const retry = (accountId: string, invoiceId: string) =>
    book.together(() => {
      const held = invoices.byId(invoiceId)
      if (held?.status === 'open' && held.provider === 'manual')
        book.attempted(held, charge(accountId))
    })
  const giveUp = (held: Subscription) =>
    book.together(() => {
      book.end(held, { unpaid: true })
      for (const one of invoices.openOf(held.id))
        book.settle(one, { status: 'uncollectible', nextAttemptAt: null })
    })

  return {
    catchUp(accountId: string) {
      const held = subscriptions.running(accountId)
      if (held?.provider === 'manual') turnAll(held)
    },
    retryAll(accountId: string) {
      for (const one of invoices.page({ accountId, status: 'open' }, atOnceMax, 0))
        if (one.attempts > 0) retry(accountId, one.id)
    },
    pass() {
      const now = clock.now()
      for (const one of subscriptions.over('manual', now, atOnceMax)) turnAll(one)
      for (const one of invoices.newlyOverdue(now, atOnceMax))
        book.together(() => book.overdue(one))
      for (const one of invoices.toRetry(now, atOnceMax)) retry(one.accountId, one.id)
      for (const one of subscriptions.pastDueSince('manual', now - graceMs, atOnceMax)) giveUp(one)
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
