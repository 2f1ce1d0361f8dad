import type { Stripe } from 'stripe'
import { errorMessage } from '../../lib/text/error-message.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { ProviderWatch } from '../provider-watch.ts'
import {
  PaymentRefused,
  type Processor,
  ProcessorUnavailable,
  type RemoteSubscription,
  type RemoteTerms,
  type Sale,
} from './processor.ts'
import {
  disputeOf,
  eventOf,
  idOf,
  invoiceOf,
  methodOf,
  noPendingTerms,
  paymentOf,
  pendingTermsOf,
  planKey,
  priceKey,
  subscriptionOf,
} from './processor-stripe-shapes.ts'

export interface StripeSettings {
  key: string
  webhookSecret: string
  /** Address of the processor's API. */
  url: string
  now(): number
  /** The timeout of one attempt; the library makes one more after a network error. */
  attemptMs?: number
  /** Is notified whether the processor responds. */
  watch?: ProviderWatch
}

const attemptMs = 15 * secondMs
const signatureAgeMaxSeconds = 300
/** A session of the portal that is not opened expires after this time. */
const portalMs = 300 * secondMs
const methodsMax = 100

/** Subscriptions, invoices and payments by the processor of the `stripe` library. */
export function createStripeProcessor(settings: StripeSettings): Processor {
  const connected = connection(settings)
  const pay = payments(connected, settings)
  return { name: 'stripe', ...pay, ...subscriptions(connected, pay.methods), ...lookups(connected) }
}

type Connection = ReturnType<typeof connection>

function connection({ key, url, attemptMs: timeout = attemptMs, watch }: StripeSettings) {
  const { protocol, hostname, port } = new URL(url)
  let loading: Promise<Stripe> | undefined
  /** The library is large, so it is loaded when it is first used. */
  const open = async (): Promise<Stripe> => {
    const { Stripe: Library } = await import('stripe')
    return new Library(key, {
      host: hostname,
      port: port || (protocol === 'http:' ? '80' : '443'),
      protocol: protocol === 'http:' ? 'http' : 'https',
      timeout,
      maxNetworkRetries: 1,
      telemetry: false,
    })
  }
  const client = (): Promise<Stripe> => {
    loading ??= open()
    return loading
  }
  const watched = async <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    try {
      const result = await work(await client())
      watch?.worked()
      return result
    } catch (error) {
      if (isOwnFault(error)) watch?.worked()
      else watch?.failed(errorMessage(error))
      throw error
    }
  }
  /** Sends a request, and converts the errors of the library. */
  const ask = async <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    try {
      return await watched(work)
    } catch (error) {
      throw faultOf(error)
    }
  }
  const find = async <T>(
    work: (stripe: Stripe) => Promise<T>,
    isNone: (error: unknown) => boolean = isMissing,
  ): Promise<T | undefined> => {
    try {
      return await watched(work)
    } catch (error) {
      if (isNone(error)) return undefined
      throw faultOf(error)
    }
  }
  return { client, ask, find }
}

const fieldOf = (error: unknown, field: string): unknown =>
  (error as Record<string, unknown> | undefined)?.[field]
const isMissing = (error: unknown): boolean =>
  fieldOf(error, 'code') === 'resource_missing' && fieldOf(error, 'statusCode') === 404
/** The processor does not accept a value, or an object does not exist. */
const isRefused = (error: unknown): boolean =>
  [400, 404].includes(Number(fieldOf(error, 'statusCode')))

/** The processor responded and refused this request: a card, or an object that does not exist. */
function isOwnFault(error: unknown): boolean {
  if (error instanceof PaymentRefused || error instanceof ProcessorUnavailable) return true
  const status = fieldOf(error, 'statusCode')
  return typeof status === 'number' && status < 500 && status !== 401 && status !== 403
}

function faultOf(error: unknown): Error {
  if (error instanceof PaymentRefused || error instanceof ProcessorUnavailable) return error
  const text = errorMessage(error)
  // The text about a refused card is for its owner; all others are for the operator.
  return fieldOf(error, 'type') === 'StripeCardError'
    ? new PaymentRefused(text)
    : new ProcessorUnavailable(text)
}

/** Subscriptions name no payment method: each period is paid with the customer's default. */
const setDefaultMethod = (stripe: Stripe, customer: string, methodId: string) =>
  stripe.customers.update(customer, { invoice_settings: { default_payment_method: methodId } })

function payments({ client, ask, find }: Connection, { webhookSecret, now }: StripeSettings) {
  const methods = (customer: string) =>
    ask(async stripe => {
      const [methods, owner] = await Promise.all([
        stripe.paymentMethods.list({ customer, type: 'card', limit: methodsMax }),
        stripe.customers.retrieve(customer),
      ])
      const chosen =
        'invoice_settings' in owner ? idOf(owner.invoice_settings?.default_payment_method) : null
      const isListed = methods.data.some(method => method.id === chosen)
      return {
        methods: methods.data.map(methodOf),
        defaultId: isListed ? chosen : (methods.data[0]?.id ?? null),
      }
    })
  return {
    methods,
    customer: async (accountId: string) => {
      // The address is not part of it: a repeated request must be the same after a change of it.
      const metadata = { account_id: accountId }
      const customer = await ask(stripe =>
        stripe.customers.create({ metadata }, { idempotencyKey: `customer:${accountId}` }),
      )
      return customer.id
    },
    setEmail: async (customer: string, email: string) =>
      (await find(stripe => stripe.customers.update(customer, { email }), isRefused)) !== undefined,
    useMethod: async (customer: string, methodId: string) => {
      const method = await find(stripe => stripe.paymentMethods.retrieve(methodId))
      if (!method || idOf(method.customer) !== customer) return false
      await ask(async stripe => {
        await setDefaultMethod(stripe, customer, methodId)
        const running = await stripe.subscriptions.list({ customer, limit: methodsMax })
        for (const { id, default_payment_method: own } of running.data)
          if (own) await stripe.subscriptions.update(id, { default_payment_method: '' })
      })
      return true
    },
    payInvoice: (ref: string) =>
      ask(async stripe => {
        const { status } = await stripe.invoices.retrieve(ref)
        if (status === 'open') await stripe.invoices.pay(ref, { off_session: true })
      }),
    voidInvoice: (ref: string) =>
      ask(async stripe => {
        const { status } = await stripe.invoices.retrieve(ref)
        if (status === 'open') await stripe.invoices.voidInvoice(ref)
      }),
    addCredit: (customer: string, cents: number, key: string) =>
      ask(async stripe => {
        // The processor forgets idempotency keys after a day, and a restored backup repeats a credit.
        const { data } = await stripe.customers.listBalanceTransactions(customer, {
          limit: methodsMax,
        })
        if (data.some(({ metadata }) => metadata?.credit === key)) return
        const credit = { amount: -cents, currency: 'usd', description: 'Credit for unused time' }
        await stripe.customers.createBalanceTransaction(
          customer,
          { ...credit, metadata: { credit: key } },
          { idempotencyKey: key },
        )
      }),
    setupIntent: (customer: string) =>
      ask(async stripe => {
        const intent = await stripe.setupIntents.create({
          customer,
          usage: 'off_session',
          automatic_payment_methods: { enabled: true },
        })
        const status =
          intent.status === 'succeeded'
            ? ('succeeded' as const)
            : ('requires_payment_method' as const)
        return { id: intent.id, clientSecret: intent.client_secret ?? '', status }
      }),
    portal: (customer: string, returnUrl: string) =>
      ask(async stripe => {
        const { url } = await stripe.billingPortal.sessions.create({
          customer,
          return_url: returnUrl,
        })
        return { url, expiresAt: now() + portalMs }
      }),
    sell: async (customer: string, sale: Sale) => {
      const { defaultId } = await methods(customer)
      if (defaultId === null) return { outcome: 'failed' as const, error: noMethod }
      try {
        return paymentOf(
          await ask(stripe => stripe.paymentIntents.create(...intentOf(customer, defaultId, sale))),
        ).charge
      } catch (error) {
        if (error instanceof PaymentRefused)
          return { outcome: 'failed' as const, error: error.message }
        throw error
      }
    },
    payment: async (ref: string) => {
      const intent = await find(stripe => stripe.paymentIntents.retrieve(ref))
      const { purchaseId, charge } = intent ? paymentOf(intent) : {}
      return purchaseId === undefined || charge === undefined ? undefined : { purchaseId, charge }
    },
    async event(raw: string, signature: string) {
      const stripe = await client()
      try {
        return eventOf(
          await stripe.webhooks.constructEventAsync(
            raw,
            signature,
            webhookSecret,
            signatureAgeMaxSeconds,
            undefined,
            now(),
          ),
        )
      } catch {
        return undefined
      }
    },
  }
}

const noMethod =
  'There is no payment method: add a card on the page Account, Plan, or with POST /billing/customer-portal/sessions.'

const intentOf = (
  customer: string,
  methodId: string,
  { key, purchaseId, amountCents, currency, description }: Sale,
) =>
  [
    {
      amount: amountCents,
      currency: currency.toLowerCase(),
      customer,
      payment_method: methodId,
      // The default are the methods of the processor's dashboard, and where one of those leads to
      // another site, a payment without an address to return to is refused.
      payment_method_types: ['card'],
      description,
      confirm: true,
      off_session: true,
      metadata: { purchase_id: purchaseId },
    },
    { idempotencyKey: key },
  ] as const

/** Prices are made at the processor when they are first needed, and found again by their key. */
function priceBook() {
  const prices = new Map<string, string>()
  return async (
    stripe: Stripe,
    { plan, planName, billingPeriod, priceCents }: RemoteTerms,
  ): Promise<string> => {
    const key = priceKey(plan, billingPeriod, priceCents)
    const cached = prices.get(key)
    if (cached !== undefined) return cached
    const listed = await stripe.prices.list({ lookup_keys: [key], limit: 1 })
    const interval = billingPeriod === 'monthly' ? 'month' : 'year'
    const price =
      listed.data[0] ??
      (await stripe.prices.create(
        {
          currency: 'usd',
          unit_amount: priceCents,
          recurring: { interval },
          lookup_key: key,
          product_data: { name: `${planName} plan` },
          metadata: { [planKey]: plan },
        },
        { idempotencyKey: `price:${key}` },
      ))
    prices.set(key, price.id)
    return price.id
  }
}

function subscriptions({ ask }: Connection, methodsOf: Processor['methods']) {
  const priceOf = priceBook()

  const translated = (subscription: Stripe.Subscription): RemoteSubscription => {
    const remote = subscriptionOf(subscription)
    if (remote) return remote
    throw new ProcessorUnavailable(
      `The subscription ${subscription.id} is for a price that this service has not made.`,
    )
  }

  /**
   * Applies from the next period on, without a payment now. The subscription's metadata keep the
   * terms that hold until then.
   */
  const changeNext = (ref: string, terms: RemoteTerms) =>
    ask(async stripe => {
      const subscription = await stripe.subscriptions.retrieve(ref)
      const before = translated(subscription)
      const price = await priceOf(stripe, terms)
      const metadata = terms.plan === before.plan ? noPendingTerms : pendingTermsOf(before)
      const items = [{ id: subscription.items.data[0]!.id, price }]
      return translated(
        await stripe.subscriptions.update(ref, { items, proration_behavior: 'none', metadata }),
      )
    })

  return {
    changeNext,
    subscribe: async (customer: string, accountId: string, terms: RemoteTerms, key: string) => {
      const { defaultId } = await methodsOf(customer)
      return ask(async stripe => {
        const running = await stripe.subscriptions.list({
          customer,
          status: 'all',
          limit: methodsMax,
        })
        const existing = running.data
          .map(subscriptionOf)
          .find(
            candidate =>
              candidate && (candidate.status === 'active' || candidate.status === 'past_due'),
          )
        // An answer that was lost must not be paid twice.
        if (existing) return existing
        if (defaultId === null) throw new PaymentRefused(noMethod)
        await setDefaultMethod(stripe, customer, defaultId)
        const items = [{ price: await priceOf(stripe, terms) }]
        const subscription = await stripe.subscriptions.create(
          {
            customer,
            items,
            metadata: { account_id: accountId },
            payment_behavior: 'error_if_incomplete',
            off_session: true,
          },
          { idempotencyKey: key },
        )
        return translated(subscription)
      })
    },
    async upgrade(ref: string, terms: RemoteTerms, key: string) {
      const subscription = await ask(stripe => stripe.subscriptions.retrieve(ref))
      const before = translated(subscription)
      const { pendingPlan } = before
      const current = {
        plan: before.plan,
        planName: before.plan,
        billingPeriod: before.billingPeriod,
        priceCents: before.priceCents,
      }
      // A credit for unused time is calculated from what was paid, so the price that is pending for
      // the next period is reverted first.
      if (pendingPlan !== null) await changeNext(ref, current)
      return ask(async stripe => {
        const items = [{ id: subscription.items.data[0]!.id, price: await priceOf(stripe, terms) }]
        return translated(
          await stripe.subscriptions.update(
            ref,
            {
              items,
              metadata: noPendingTerms,
              proration_behavior: 'always_invoice',
              payment_behavior: 'error_if_incomplete',
              off_session: true,
            },
            { idempotencyKey: key },
          ),
        )
      })
    },
    cancelAtPeriodEnd: (ref: string, cancel: boolean) =>
      ask(async stripe =>
        translated(await stripe.subscriptions.update(ref, { cancel_at_period_end: cancel })),
      ),
    end: (ref: string) =>
      ask(async stripe => {
        const { ended_at: endedAt } = await stripe.subscriptions.retrieve(ref)
        return translated(
          endedAt === null
            ? await stripe.subscriptions.cancel(ref)
            : await stripe.subscriptions.retrieve(ref),
        )
      }),
  }
}

/** Reads the state of objects at the processor. */
const lookups = ({ ask, find }: Connection) => ({
  subscription: async (ref: string) => {
    const subscription = await find(stripe => stripe.subscriptions.retrieve(ref))
    return subscription && subscriptionOf(subscription)
  },
  invoice: async (ref: string) => {
    const expand = ['payments.data.payment.payment_intent']
    const invoice = await find(stripe => stripe.invoices.retrieve(ref, { expand }))
    return invoice && invoiceOf(invoice)
  },
  charge: async (ref: string) => {
    const charge = await find(stripe => stripe.charges.retrieve(ref))
    if (!charge) return undefined
    const intent = idOf(charge.payment_intent)
    return ask(async stripe => {
      const paid =
        intent === null
          ? undefined
          : await stripe.invoicePayments.list({
              payment: { type: 'payment_intent', payment_intent: intent },
              limit: 1,
            })
      const disputed = charge.disputed
        ? await stripe.disputes.list({ charge: ref, limit: 1 })
        : undefined
      return {
        invoiceRef: idOf(paid?.data[0]?.invoice) ?? undefined,
        purchaseId: charge.metadata.purchase_id,
        refundedCents: charge.amount_refunded,
        dispute: disputeOf(disputed?.data[0]),
      }
    })
  },
  latestInvoice: async (subscription: string) => {
    const { data } = await ask(stripe => stripe.invoices.list({ subscription, limit: 1 }))
    return data[0] && invoiceOf(data[0])
  },
})
