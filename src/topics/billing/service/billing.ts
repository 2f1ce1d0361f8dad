import { type Config, ConfigProblem } from '../../../config/config.ts'
import type { Runtime } from '../../../config/runtime.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { creditPackOf } from '../../../plans/billing/credit-packs.ts'
import { type Processor, ProcessorUnavailable } from '../../../send/billing/processor.ts'
import { ledgerPayments, testPayments } from '../../../send/billing/processor-manual.ts'
import { createStripeProcessor } from '../../../send/billing/processor-stripe.ts'
import { createProviderWatch, type ProviderWatch } from '../../../send/provider-watch.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import { createInvoiceStore, type Invoice, type InvoiceFilter } from '../store/invoices.ts'
import { createPaymentStore } from '../store/payments.ts'
import {
  createSubscriptionStore,
  type Subscription,
  type SubscriptionFilter,
  type SubscriptionStore,
} from '../store/subscriptions.ts'
import { assignedSubscription } from './assigned.ts'
import { type CreditSales, createCreditSales } from './credit-packs.ts'
import { createBillingEntries, type EntriesDeps } from './entries.ts'
import { createInboundBilling, type Receipt } from './inbound.ts'
import { createBillingLedger, type Ledger } from './ledger.ts'
import { createManualSubscriptions, type ManualSubscriptions } from './manual.ts'
import { type BillingPayments, createBillingPayments } from './payments.ts'
import { createRemoteSubscriptions } from './remote.ts'
import type { SubscriptionEngine } from './terms.ts'

/** Purchases and payments of accounts, and the rights that follow. */
export interface Billing {
  /** `manual`, or the processor's name. */
  provider: string
  /** Why the processor does not take requests; undefined: it does, or there is none. */
  fault(): string | undefined
  /**
   * The running subscription, as it is now, of a plan that the operator set too; undefined for the
   * free plan.
   */
  current(account: AccountState): Subscription | undefined
  /** The `subscription_status` of the account. */
  statusOf(account: AccountState): BillingStatus
  subscriptions: SubscriptionEngine
  /** Every subscription, running or ended; a plan that the operator set has none. */
  sold: {
    page(filter: SubscriptionFilter, limit: number, offset: number): Subscription[]
    count(filter: SubscriptionFilter): number
    byId(id: string): Subscription | undefined
  }
  payments: BillingPayments
  credits: CreditSales
  invoices: {
    page(filter: InvoiceFilter, limit: number, offset: number): Invoice[]
    count(filter: InvoiceFilter): number
    byId(id: string): Invoice | undefined
    /** Undefined for another account's. */
    own(accountId: string, id: string): Invoice | undefined
    /** Those whose whole payment went back while the plan that they paid for runs. */
    returned(limit: number): Invoice[]
  }
  ledger: Ledger
  /** A message of the processor. */
  receive(raw: string, signature: string): Promise<Receipt>
  duties: BillingDuties
}

export interface BillingStatus {
  status: 'none' | 'trialing' | 'active' | 'past_due' | 'cancelled'
  cancelAtPeriodEnd: boolean
}

export interface BillingDuties {
  /** Does local work that is due. */
  pass(): void
  /** Sends due requests to the processor, and updates purchases. */
  ask(): Promise<void>
  nextStop(after: number): number
}

export type BillingDeps = Omit<
  EntriesDeps,
  'subscriptions' | 'invoices' | 'serviceName' | 'baseUrl' | 'termsMs'
> &
  Pick<Runtime, 'config'>

/** Throws on a configuration that cannot work. */
export function createBilling(deps: BillingDeps): Billing {
  const { db, config, keys, clock } = deps
  const { billing: settings, brand, server } = config
  const manual = config.mode === 'dev' ? testPayments : ledgerPayments
  const watch = createProviderWatch('payments', deps.log)
  const processor = processorOf(config, clock, watch)
  const stores = {
    subscriptions: createSubscriptionStore(db),
    invoices: createInvoiceStore(db),
    payments: createPaymentStore(db),
  }
  const { subscriptions, invoices, payments } = stores
  const entries = createBillingEntries({
    ...deps,
    ...stores,
    serviceName: brand.serviceName,
    baseUrl: server.baseUrl,
    termsMs: settings.termsMs,
  })
  const methodOf = (accountId: string) =>
    payments.customer(accountId, 'manual')?.paymentMethodId ?? manual.methods[0]!.id
  const charge = (accountId: string) => manual.charge(methodOf(accountId))
  const shared = { ...deps, ...stores, entries, processor, charge }
  const own = createManualSubscriptions({ ...shared, graceMs: settings.graceMs })
  const remote = processor && createRemoteSubscriptions({ ...shared, processor })
  const customerOf = async (account: AccountState) => {
    if (!remote) throw new ProcessorUnavailable('No processor is configured.')
    return remote.customerOf(account)
  }
  const sales = createCreditSales({
    ...shared,
    packs: settings.creditPacks.map(text => creditPackOf(text)!),
    customerOf,
  })
  const messages = createInboundBilling({ ...shared, remote, sales })

  const current = (state: AccountState): Subscription | undefined => {
    const { id } = state.account
    own.catchUp(id)
    return subscriptions.running(id) ?? assignedSubscription(state, keys, clock.now())
  }

  return {
    provider: processor?.name ?? 'manual',
    fault: watch.fault,
    current,
    statusOf(account) {
      const subscription = current(account)
      if (subscription)
        return {
          status: subscription.status as BillingStatus['status'],
          cancelAtPeriodEnd: subscription.cancelAtPeriodEnd,
        }
      const { state } = keys.entitlements(account)
      const status =
        withoutSubscription[state] ??
        (subscriptions.latest(account.account.id) ? 'cancelled' : 'none')
      return { status, cancelAtPeriodEnd: false }
    },
    subscriptions: byWhomItIsRun(own, remote, subscriptions, account =>
      assignedSubscription(account, keys, clock.now()),
    ),
    sold: {
      page: subscriptions.page,
      count: subscriptions.countOf,
      byId: subscriptions.byId,
    },
    payments: createBillingPayments({
      ...shared,
      manual,
      methodOf,
      customerOf,
      retry: remote?.retryAll ?? own.retryAll,
    }),
    credits: sales,
    invoices: {
      page: invoices.page,
      count: invoices.count,
      byId: invoices.byId,
      returned: invoices.returned,
      own(accountId, id) {
        const invoice = invoices.byId(id)
        return invoice?.accountId === accountId ? invoice : undefined
      },
    },
    ledger: createBillingLedger({ ...shared, agree: own.agree }),
    receive: messages.receive,
    duties: {
      pass() {
        own.pass()
        sales.lapse()
        messages.forget()
      },
      async ask() {
        await sales.pass()
        await remote?.pass()
      },
      nextStop: after => Math.min(own.nextStop(after), sales.nextStop(after)),
    },
  }
}

const withoutSubscription: Readonly<Record<string, BillingStatus['status']>> = {
  paid_active: 'active',
  trial_active: 'trialing',
}

/** A subscription is changed where it is run; a new one is made where they are run now. */
function byWhomItIsRun(
  own: ManualSubscriptions,
  remote: SubscriptionEngine | undefined,
  subscriptions: SubscriptionStore,
  assigned: (account: AccountState) => Subscription | undefined,
): SubscriptionEngine {
  const engineOf = (state: AccountState): SubscriptionEngine => {
    const subscription = subscriptions.running(state.account.id)
    if (subscription?.provider === 'manual' || !(subscription || remote)) return own
    if (!remote)
      throw new ProcessorUnavailable(
        'The subscription is run by a processor that is not configured.',
      )
    return remote
  }
  /** A plan that the operator set is managed here, until another one is bought. */
  const changedBy = (account: AccountState) =>
    !subscriptions.running(account.account.id) && assigned(account) ? own : engineOf(account)
  return {
    subscribe: async (account, ...rest) => engineOf(account).subscribe(account, ...rest),
    changePlan: async (account, ...rest) => changedBy(account).changePlan(account, ...rest),
    cancel: async account => changedBy(account).cancel(account),
    endNow: async (account, ...rest) => engineOf(account).endNow(account, ...rest),
    reactivate: async account => changedBy(account).reactivate(account),
  }
}

/** The configured payment processor. Throws when a required setting is missing. */
export function processorOf(
  { billing: settings }: Config,
  clock: Clock,
  watch: ProviderWatch,
): Processor | undefined {
  if (settings.provider === 'manual') return undefined
  const needed = (key: string, value: string): string => {
    if (value === '')
      throw new ConfigProblem([
        `${key} must be set, because billing.provider is stripe; or choose another provider.`,
      ])
    return value
  }
  return createStripeProcessor({
    key: needed('billing.stripe_key', settings.stripeKey.reveal()),
    webhookSecret: needed('billing.stripe_webhook_secret', settings.stripeWebhookSecret.reveal()),
    url: settings.stripeUrl,
    now: clock.now,
    watch,
  })
}
