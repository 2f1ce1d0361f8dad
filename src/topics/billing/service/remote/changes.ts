import { type BillingPeriod, changeOf, type Terms } from '../../../../plans/billing/subscription.ts'
import { firstPlan, tierOf } from '../../../../plans/plans.ts'
import {
  PaymentRefused,
  type RemoteSubscription,
  type RemoteTerms,
} from '../../../../send/billing/processor.ts'
import type { AccountState } from '../../../keys/service/keyring.ts'
import type { Subscription } from '../../store/subscriptions.ts'
import {
  type BillingRefusal,
  type Changed,
  isRefusal,
  listPrice,
  type OpenInvoices,
  offered,
  type Ready,
  undecided,
} from '../terms.ts'
import type { Customers } from './customers.ts'
import type { RemoteDeps } from './deps.ts'
import type { Mirror } from './mirror.ts'
import type { InTurn } from './turns.ts'

/** Writes the state of a subscription that the processor reports. */
function createRecorder({ processor, entries, invoices, clock }: RemoteDeps, mirror: Mirror) {
  /** Writes the subscription down together with the invoice that its change has made. */
  const keep = async (
    remote: RemoteSubscription,
  ): Promise<{ subscription: Subscription; amountCents: number } | BillingRefusal> => {
    const invoice = await processor.latestInvoice(remote.ref)
    const before = invoice && invoices.byRef(invoice.ref)
    const subscription = entries.together(() => {
      const kept = mirror.subscription(remote)
      if (invoice) mirror.invoice(invoice)
      return kept
    })
    if (!subscription)
      return { refused: 'payment_failed', why: 'The first payment has not been made.' }
    return { subscription, amountCents: invoice && !before ? invoice.amountCents : 0 }
  }

  return async (
    remote: RemoteSubscription,
    how: Changed['how'],
    effectiveAt?: number,
  ): Promise<Changed | BillingRefusal> => {
    const kept = await keep(remote)
    return isRefusal(kept) ? kept : { ...kept, how, effectiveAt: effectiveAt ?? clock.now() }
  }
}

/** Requests to the processor whose results are stored here, step by step. */
function createSteps(
  deps: RemoteDeps,
  mirror: Mirror,
  { customerOf, handOverCredit }: Pick<Customers, 'customerOf' | 'handOverCredit'>,
) {
  const { processor, entries, plans, clock } = deps
  const record = createRecorder(deps, mirror)
  const remoteTerms = (terms: Terms): RemoteTerms => ({
    ...terms,
    planName: tierOf(plans, terms.plan).name,
  })

  const begin = async (
    account: AccountState,
    terms: Terms,
    repeatKey: string,
  ): Promise<Changed | BillingRefusal> => {
    const customer = await customerOf(account)
    const { id } = account.account
    await handOverCredit(id)
    const key = `subscribe:${id}:${repeatKey}`
    return record(await processor.subscribe(customer, id, remoteTerms(terms), key), 'created')
  }

  const upgrade = async (
    subscription: Subscription,
    ref: string,
    terms: Terms,
    repeatKey: string,
  ): Promise<Changed | BillingRefusal> => {
    if (subscription.status === 'past_due') return { refused: 'subscription_past_due' }
    try {
      const key = `upgrade:${subscription.id}:${repeatKey}`
      return await record(await processor.upgrade(ref, remoteTerms(terms), key), 'changed')
    } catch (error) {
      const { pendingPlan: plan, billingPeriod } = subscription
      // The change that waited for the next period was reverted for the upgrade, and is scheduled
      // again.
      if (error instanceof PaymentRefused && plan !== null) {
        await processor.changeNext(
          ref,
          remoteTerms({ plan, billingPeriod, priceCents: listPrice(plans, plan, billingPeriod) }),
        )
      }
      throw error
    }
  }

  const cancelAt = async (
    subscription: Subscription,
    cancel: boolean,
  ): Promise<Subscription | BillingRefusal> => {
    if (subscription.cancelAtPeriodEnd === cancel) return subscription
    const remote = await processor.cancelAtPeriodEnd(subscription.providerRef ?? '', cancel)
    return entries.together(() => mirror.subscription(remote)) ?? subscription
  }

  const apply = async (
    subscription: Subscription,
    terms: Terms,
    repeatKey: string,
  ): Promise<Changed | BillingRefusal> => {
    const ref = subscription.providerRef ?? ''
    const change = changeOf(subscription, terms, clock.now())
    if (change.when === 'never') {
      if (subscription.pendingPlan === null)
        return { subscription, amountCents: 0, effectiveAt: clock.now(), how: 'same' }
      return record(await processor.changeNext(ref, remoteTerms(terms)), 'same')
    }
    if (change.when === 'now') return upgrade(subscription, ref, terms, repeatKey)
    if (terms.billingPeriod !== subscription.billingPeriod) {
      return {
        refused: 'invalid_plan',
        why: `must keep the ${subscription.billingPeriod} billing period of the subscription. To shorten it, cancel first and subscribe again when the paid period ends.`,
      }
    }
    // A request to change the next period withdraws a cancellation.
    await cancelAt(subscription, false)
    const remote = await processor.changeNext(ref, remoteTerms(terms))
    return record(remote, 'pending', subscription.endsAt)
  }

  return { begin, apply, cancelAt }
}

export function createSubscriptionChanges(
  deps: RemoteDeps,
  mirror: Mirror,
  inTurn: InTurn,
  customers: Customers,
) {
  const { processor, entries, subscriptions, invoices, plans } = deps
  const { begin, apply, cancelAt } = createSteps(deps, mirror, customers)

  /**
   * Asks the processor in turn; a payment that it refuses is a refusal here, and any other fault is
   * its caller's.
   */
  const answerOf = async <T>(
    account: AccountState,
    work: () => Promise<T | BillingRefusal>,
  ): Promise<Ready<T>> => {
    const result = await inTurn(account.account.id, async () => {
      try {
        return await work()
      } catch (error) {
        if (error instanceof PaymentRefused)
          return { refused: 'payment_failed' as const, why: error.message }
        throw error
      }
    })
    return () => result
  }

  return {
    subscribe: (
      account: AccountState,
      plan: string,
      billingPeriod: BillingPeriod,
      repeatKey: string,
    ) =>
      answerOf<Changed>(account, async () => {
        const subscription = subscriptions.running(account.account.id)
        const terms = offered(plans, account, subscription, plan, billingPeriod)
        if (isRefusal(terms)) return terms
        if (!subscription) return begin(account, terms, repeatKey)
        const lasting = await cancelAt(subscription, false)
        return isRefusal(lasting) ? lasting : apply(lasting, terms, repeatKey)
      }),
    changePlan: (account: AccountState, plan: string, repeatKey: string) =>
      answerOf<Changed>(account, async () => {
        const subscription = subscriptions.running(account.account.id)
        if (!subscription && (account.account.plan !== firstPlan || plan === firstPlan))
          return { refused: 'no_active_subscription' }
        if (subscription && plan === firstPlan) {
          const ending = await cancelAt(subscription, true)
          return isRefusal(ending)
            ? ending
            : { subscription: ending, amountCents: 0, effectiveAt: ending.endsAt, how: 'pending' }
        }
        const terms = offered(
          plans,
          account,
          subscription,
          plan,
          subscription?.billingPeriod ?? 'monthly',
        )
        if (isRefusal(terms)) return terms
        return subscription
          ? apply(subscription, terms, repeatKey)
          : begin(account, terms, repeatKey)
      }),
    cancel: (account: AccountState) =>
      answerOf<Subscription>(account, async () => {
        const subscription = subscriptions.running(account.account.id)
        return subscription ? cancelAt(subscription, true) : { refused: 'no_active_subscription' }
      }),
    endNow: (account: AccountState, openInvoices?: OpenInvoices) =>
      answerOf<Subscription>(account, async () => {
        const subscription = subscriptions.running(account.account.id)
        if (!subscription) return { refused: 'no_active_subscription' }
        const open = invoices.openOf(subscription.id)
        const refusal = undecided(open, openInvoices)
        if (refusal) return refusal
        const refs =
          openInvoices === 'void' ? open.flatMap(({ providerRef }) => providerRef ?? []) : []
        for (const ref of refs) await processor.voidInvoice(ref)
        const remote = await processor.end(subscription.providerRef ?? '')
        const voided = await Promise.all(refs.map(processor.invoice))
        return entries.together(() => {
          const ended = mirror.subscription(remote) ?? subscription
          for (const invoice of voided) if (invoice) mirror.invoice(invoice)
          return ended
        })
      }),
    reactivate: (account: AccountState) =>
      answerOf<Subscription | undefined>(account, async () => {
        const subscription = subscriptions.running(account.account.id)
        return subscription && cancelAt(subscription, false)
      }),
  }
}
