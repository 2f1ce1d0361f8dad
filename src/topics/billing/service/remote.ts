import type { Runtime } from '../../../config/runtime.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import { type BillingPeriod, changeOf, type Terms } from '../../../plans/billing/subscription.ts'
import { firstPlan, type Plans, tierOf } from '../../../plans/plans.ts'
import {
  PaymentRefused,
  type Processor,
  type RemoteInvoice,
  type RemoteSubscription,
  type RemoteTerms,
} from '../../../send/billing/processor.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { CreditStore } from '../../keys/store/credits.ts'
import type { InvoiceStore } from '../store/invoices.ts'
import type { PaymentStore } from '../store/payments.ts'
import type { Subscription, SubscriptionStore } from '../store/subscriptions.ts'
import type { BillingEntries } from './entries.ts'
import {
  type BillingRefusal,
  type Changed,
  isRefusal,
  listPrice,
  type OpenInvoices,
  offered,
  type Ready,
  type SubscriptionEngine,
  undecided,
} from './terms.ts'

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

/** Subscriptions that a processor runs; they are mirrored here, and the plan follows the mirror. */
export interface RemoteSubscriptions extends SubscriptionEngine {
  /** The account's name at the processor, made where there is none. */
  customerOf(account: AccountState): Promise<string>
  /**
   * Reads the processor's state of an object, and writes it in one transaction with `also`. The
   * order of messages does not matter, because each read returns the current state.
   */
  look(kind: 'subscription' | 'invoice', ref: string, also: () => boolean): Promise<void>
  /** The same of a payment that may have been refunded or disputed. */
  lookAtCharge(ref: string, also: () => boolean): Promise<void>
  /** Tries open invoices of the running subscription whose payment has failed again. */
  retryAll(accountId: string): Promise<void>
  /**
   * Polls subscriptions whose period has ended without a message from the processor, and sends it
   * credits and changed addresses of its customers.
   */
  pass(): Promise<void>
}

const quietMs = 10 * minuteMs
const atOnceMax = 20

export function createRemoteSubscriptions(deps: RemoteDeps): RemoteSubscriptions {
  const mirror = mirrorOf(deps)
  const inTurn = turns()
  const customers = createCustomers(deps)
  const { look, ...looks } = looking(deps, mirror, inTurn)
  const pollEnded = polling(deps, look)
  const handOverCredits = handingOver(deps, accountId =>
    inTurn(accountId, () => customers.handOverCredit(accountId)),
  )
  return {
    ...subscribing(deps, mirror, inTurn, customers),
    ...looks,
    look,
    customerOf: customers.customerOf,
    async pass() {
      await pollEnded()
      await handOverCredits()
      await customers.readdress()
    },
  }
}

type InTurn = ReturnType<typeof turns>

/**
 * Runs the requests to the processor for one account one after the other, so that an older response
 * never overtakes a newer one.
 */
function turns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(lane: string, work: () => Promise<T>): Promise<T> => {
    const mine = (last.get(lane) ?? Promise.resolve()).then(work, work)
    last.set(lane, mine)
    try {
      return await mine
    } finally {
      if (last.get(lane) === mine) last.delete(lane)
    }
  }
}

type Mirror = ReturnType<typeof mirrorOf>

/** Stores the state at the processor. The same response again changes nothing. */
function mirrorOf({
  processor,
  entries,
  subscriptions,
  invoices,
  payments,
  keys,
  clock,
  ids,
  log,
}: RemoteDeps) {
  const begin = (remote: RemoteSubscription): Subscription | undefined => {
    if (
      remote.status === 'incomplete' ||
      remote.status === 'cancelled' ||
      !keys.account(remote.accountId)
    )
      return undefined
    const running = subscriptions.running(remote.accountId)
    if (running) {
      log.warn('subscription_duplicated', {
        message: 'an account has two subscriptions at the processor; the first one counts',
        account: remote.accountId,
        kept: running.id,
        other: remote.ref,
      })
      return undefined
    }
    const now = clock.now()
    return entries.begin({
      id: ids.uuid(),
      accountId: remote.accountId,
      agreed: false,
      anchorAt: remote.startsAt,
      ...copied(remote),
      pastDueAt: remote.status === 'past_due' ? now : null,
      cancelledAt: null,
      endedAt: null,
      provider: processor.name,
      providerRef: remote.ref,
      createdAt: remote.createdAt,
      updatedAt: now,
      creditCents: 0,
    })
  }
  return {
    subscription(remote: RemoteSubscription): Subscription | undefined {
      const stored = subscriptions.byRef(remote.ref)
      if (!stored) return begin(remote)
      if (stored.endedAt !== null || remote.status === 'incomplete') return stored
      if (remote.status === 'cancelled')
        return entries.end(stored, { unpaid: !stored.cancelAtPeriodEnd })
      const now = clock.now()
      const change: Partial<Subscription> = {
        ...copied(remote),
        pastDueAt: remote.status === 'past_due' ? (stored.pastDueAt ?? now) : null,
        cancelledAt: remote.cancelAtPeriodEnd ? (stored.cancelledAt ?? now) : null,
      }
      const isSame = Object.entries(change).every(
        ([name, value]) => stored[name as keyof Subscription] === value,
      )
      return isSame ? stored : entries.revise(stored, change)
    },
    invoice(remote: RemoteInvoice): void {
      const accountId = payments.customerByRef(processor.name, remote.customerRef)?.accountId
      if (accountId === undefined || remote.status === 'draft') return
      const stored = invoices.byRef(remote.ref)
      const { attempts, nextAttemptAt, paidAt, status } = remote
      const failed = status === 'open' && attempts > (stored?.attempts ?? 0)
      if (!stored) {
        const { ref, subscriptionRef, customerRef: _customer, ...rest } = remote
        const subscriptionId =
          subscriptionRef === null ? null : (subscriptions.byRef(subscriptionRef)?.id ?? null)
        const copy = entries.copyInvoice({
          ...rest,
          accountId,
          subscriptionId,
          lastError: null,
          provider: processor.name,
          providerRef: ref,
          refundedCents: 0,
          dispute: null,
        })
        if (status === 'paid') entries.notifyPaid(copy)
        if (failed) entries.notifyFailed(copy, refusedThere)
        return
      }
      // A paid or void invoice is final.
      if (stored.status === 'paid' || stored.status === 'void') return
      if (
        stored.status === status &&
        stored.attempts === attempts &&
        stored.nextAttemptAt === nextAttemptAt
      )
        return
      const lastError = status === 'open' && attempts > 0 ? refusedThere : null
      const settled = entries.settle(stored, { status, attempts, nextAttemptAt, paidAt, lastError })
      if (failed) entries.notifyFailed(settled, refusedThere)
    },
  }
}

const refusedThere = 'The payment was refused.'

const copied = (remote: RemoteSubscription) => ({
  plan: remote.plan,
  billingPeriod: remote.billingPeriod,
  priceCents: remote.priceCents,
  pendingPlan: remote.pendingPlan,
  pendingBillingPeriod: null,
  startsAt: remote.startsAt,
  endsAt: remote.endsAt,
  cancelAtPeriodEnd: remote.cancelAtPeriodEnd,
  status: remote.status === 'past_due' ? ('past_due' as const) : ('active' as const),
})

/** An account is a customer of the processor from the first time on that it needs one. */
function createCustomers({ processor, payments, subscriptions, keys, log }: RemoteDeps) {
  const provider = processor.name
  /** The changes of addresses after which the processor had all of them; undefined: it lacks some. */
  let comparedAt: number | undefined
  const put = (accountId: string, providerRef: string, email: string | null) =>
    payments.putCustomer({ accountId, provider, providerRef, paymentMethodId: null, email })
  const setEmail = async (accountId: string, providerRef: string, email: string) => {
    // A refused address is not sent again.
    if (!(await processor.setEmail(providerRef, email)))
      log.warn('customer_email_refused', {
        message: 'the payment processor did not accept the e-mail address of a customer',
        account: accountId,
        customer: providerRef,
      })
    put(accountId, providerRef, email)
  }
  const customerOf = async ({ account: { id, email } }: AccountState): Promise<string> => {
    const ref = payments.customer(id, provider)?.providerRef
    if (ref) return ref
    const created = await processor.customer(id)
    put(id, created, null)
    comparedAt = undefined
    await setEmail(id, created, email)
    return created
  }
  return {
    /** The processor's name of an account. */
    customerOf,
    /** The credit that ended subscriptions left pays for what the account buys at the processor. */
    async handOverCredit(accountId: string) {
      const ref = payments.customer(accountId, provider)?.providerRef
      if (!ref) return
      for (const { id, cents } of subscriptions.credits(accountId)) {
        await processor.addCredit(ref, cents, `credit:${id}`)
        subscriptions.takeCredit(id)
      }
    },
    /** Sends the addresses of accounts that the processor does not have. */
    async readdress() {
      const changes = keys.addressChanges()
      if (changes === comparedAt) return
      const found = payments.readdressed(provider, atOnceMax)
      if (found.length < atOnceMax) comparedAt = changes
      try {
        for (const { accountId, providerRef, newEmail } of found)
          await setEmail(accountId, providerRef, newEmail)
      } catch (error) {
        comparedAt = undefined
        throw error
      }
    },
  }
}

type Customers = ReturnType<typeof createCustomers>

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
function steps(
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

function subscribing(deps: RemoteDeps, mirror: Mirror, inTurn: InTurn, customers: Customers) {
  const { processor, entries, subscriptions, invoices, plans } = deps
  const { begin, apply, cancelAt } = steps(deps, mirror, customers)

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

function looking(
  { processor, entries, invoices, purchases, subscriptions, payments, log }: RemoteDeps,
  mirror: Mirror,
  inTurn: InTurn,
) {
  /** The account of an object; undefined: unknown here. */
  const laneOf = async (
    kind: 'subscription' | 'invoice',
    ref: string,
  ): Promise<string | undefined> => {
    if (kind === 'subscription')
      return subscriptions.byRef(ref)?.accountId ?? (await processor.subscription(ref))?.accountId
    const customer = (await processor.invoice(ref))?.customerRef
    return customer === undefined
      ? undefined
      : payments.customerByRef(processor.name, customer)?.accountId
  }
  const look: RemoteSubscriptions['look'] = async (kind, ref, also) => {
    const lane = await laneOf(kind, ref)
    if (lane === undefined) return void entries.together(also)
    await inTurn(lane, async () => {
      const subscription = kind === 'subscription' ? await processor.subscription(ref) : undefined
      const invoice = kind === 'invoice' ? await processor.invoice(ref) : undefined
      // An invoice may come before the message of the subscription that it pays.
      const paysFor =
        invoice && invoice.subscriptionRef !== null
          ? await processor.subscription(invoice.subscriptionRef)
          : undefined
      entries.together(() => {
        if (!also()) return
        if (kind === 'subscription' && !subscription && subscriptions.byRef(ref))
          log.warn('subscription_unreadable', {
            message:
              'The payment processor has no such subscription, or one with a price that was not made here; what is stored stays.',
            account: lane,
            subscription: ref,
          })
        for (const remote of [subscription, paysFor])
          if (remote?.accountId === lane) mirror.subscription(remote)
        if (invoice) mirror.invoice(invoice)
      })
    })
  }
  const lookAtCharge: RemoteSubscriptions['lookAtCharge'] = (ref, also) =>
    inTurn(ref, async () => {
      const charge = await processor.charge(ref)
      const { invoiceRef, purchaseId } = charge ?? {}
      const isUnknown = invoiceRef !== undefined && !invoices.byRef(invoiceRef)
      const invoice = isUnknown ? await processor.invoice(invoiceRef) : undefined
      entries.together(() => {
        if (!also() || !charge) return
        if (invoice) mirror.invoice(invoice)
        const purchase = purchaseId === undefined ? undefined : purchases.byId(purchaseId)
        const paid =
          invoiceRef === undefined
            ? invoices.byId(purchase?.invoiceId ?? '')
            : invoices.byRef(invoiceRef)
        if (paid) entries.returned(paid, charge)
      })
    })
  return {
    look,
    lookAtCharge,
    async retryAll(accountId: string) {
      const running = subscriptions.running(accountId)
      for (const invoice of running ? invoices.openOf(running.id) : []) {
        const { providerRef: ref, attempts } = invoice
        if (ref === null || attempts === 0) continue
        try {
          await inTurn(accountId, () => processor.payInvoice(ref))
        } catch (error) {
          if (!(error instanceof PaymentRefused)) throw error
        }
        await look('invoice', ref, () => true)
      }
    },
  }
}

/** Hands over the credits of accounts that pay the processor. */
function handingOver(
  { processor, subscriptions, log }: RemoteDeps,
  handOver: (accountId: string) => Promise<void>,
) {
  /** Accounts whose credit was refused, the oldest refusal first: they come after all others. */
  const refused = new Set<string>()
  return async () => {
    const found = subscriptions.creditors(processor.name, atOnceMax + refused.size)
    for (const accountId of refused) if (!found.includes(accountId)) refused.delete(accountId)
    const others = found.filter(accountId => !refused.has(accountId))
    for (const accountId of [...others, ...refused].slice(0, atOnceMax)) {
      refused.delete(accountId)
      try {
        await handOver(accountId)
      } catch (error) {
        refused.add(accountId)
        log.warn('payment_processor_unavailable', {
          message: 'the payment processor did not take the credit of an account',
          account: accountId,
          error,
        })
      }
    }
  }
}

/** Reads subscriptions whose period has ended without a message from the processor. */
function polling(
  { processor, subscriptions, clock, log }: RemoteDeps,
  look: RemoteSubscriptions['look'],
) {
  const lookedAt = new Map<string, number>()
  return async () => {
    const now = clock.now()
    const over = subscriptions
      .over(processor.name, now - quietMs, atOnceMax + lookedAt.size)
      .flatMap(({ providerRef }) => providerRef ?? [])
    for (const ref of lookedAt.keys()) if (!over.includes(ref)) lookedAt.delete(ref)
    // Those that were read and are still over must not keep the others from being read.
    const before = (ref: string) => lookedAt.get(ref) ?? 0
    const due = over
      .filter(ref => now - before(ref) >= quietMs)
      .toSorted((a, b) => before(a) - before(b))
    for (const providerRef of due.slice(0, atOnceMax)) {
      lookedAt.set(providerRef, now)
      try {
        await look('subscription', providerRef, () => true)
        const invoice = await processor.latestInvoice(providerRef)
        if (invoice) await look('invoice', invoice.ref, () => true)
      } catch (error) {
        log.warn('payment_processor_unavailable', {
          message: 'the payment processor did not answer about a subscription',
          subscription: providerRef,
          error,
        })
      }
    }
  }
}
