import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { CreditPack } from '../../../plans/billing/credit-packs.ts'
import { offeredPlans, type Plans, quotaPeriods } from '../../../plans/plans.ts'
import { percentUsed, quotaWindow } from '../../../plans/quota.ts'
import { disputeStates, type PaymentMethod } from '../../../send/billing/processor.ts'
import { FeatureList } from '../../keys/operations/tier-shape.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import type { CreditPurchase } from '../../keys/store/credits.ts'
import type { Invoice } from '../store/invoices.ts'

const moment = (description?: string) =>
  t.String({ format: 'date-time', ...(description && { description }) })
const currency = t.Literal('USD')
export const periodName = t.oneOf(['monthly', 'yearly'])

export const PlanShape = t.object('Plan', {
  id: t.String({ examples: ['professional'] }),
  name: t.String({ examples: ['Professional'] }),
  tier_name: t.String({ examples: ['Reservoir Mastery'] }),
  price_monthly: t.integer('In cents.', 9900),
  price_yearly: t.integer('In cents.', 118_800),
  currency,
  request_limit: t.integerOrNull('Null: no quota.'),
  request_period: t.oneOf(['day', 'month']),
  features: FeatureList,
  custom_pricing: t.boolean('The price is agreed with the operator.'),
})
export type PlanShape = (typeof PlanShape)['static']

export const AddOnShape = t.object('AddOn', {
  id: t.String({ examples: ['futures_data'] }),
  name: t.String({ examples: ['Futures Data'] }),
  price_monthly: t.integer('In cents.', 4900),
  currency,
})

export const SubscriptionShape = t.object('Subscription', {
  id: t.string(
    "The account's id if it has no subscription.",
    '00000000-0000-4000-8000-000000000902',
  ),
  plan: t.String({ examples: ['professional'] }),
  status: t.oneOf(['active', 'trialing', 'past_due', 'cancelled']),
  billing_period: periodName,
  price: t.integer('Of a period, in cents: the agreed one, or that of the plan. 0: free.', 9900),
  current_period_start: moment(),
  current_period_end: moment('For the free plan the end of the day.'),
  cancel_at_period_end: t.Boolean(),
  pending_plan: t.stringOrNull('The plan that follows at the end.', 'starter'),
  usage: t.Object({
    requests_used: t.integer('Requests of all keys in the current quota window.', 1234),
    requests_limit: t.integerOrNull('Null: no quota.'),
    percent_used: t.Number({ examples: [1.23] }),
  }),
  addons: t.Array(t.String({ examples: ['futures_data'] })),
})
export type SubscriptionShape = (typeof SubscriptionShape)['static']

export const MethodShape = t.object('PaymentMethod', {
  id: t.String({ examples: ['pm_0001'] }),
  type: t.oneOf(['card', 'invoice', 'manual']),
  brand: t.orNull(t.String({ examples: ['visa'] })),
  last4: t.orNull(t.String({ examples: ['4242'] })),
  exp_month: t.orNull(t.integer({ examples: [12] })),
  exp_year: t.orNull(t.integer({ examples: [2039] })),
  is_default: t.Boolean(),
})
export type MethodShape = (typeof MethodShape)['static']

export const InvoiceStatusName = t.oneOf(['draft', 'open', 'paid', 'void', 'uncollectible'])

export const InvoiceShape = t.object('Invoice', {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000901'] }),
  number: t.String({ examples: ['2026-000001'] }),
  amount: t.integer('In cents.', 9900),
  currency: t.String({ examples: ['USD'] }),
  status: InvoiceStatusName,
  amount_refunded: t.integer('In cents.', 0),
  dispute: t.orNull(
    t.oneOf(disputeStates),
    'A dispute of the payment at the bank; `lost`: the money was returned. Null: none.',
  ),
  period_start: moment(),
  period_end: moment(),
  pdf_url: t.orNull(
    t.String({
      examples: [
        'https://prices.example.com/billing/invoices/00000000-0000-4000-8000-000000000901/pdf',
      ],
    }),
  ),
  created_at: moment(),
})
export type InvoiceShape = (typeof InvoiceShape)['static']

export const PackShape = t.object('CreditPack', {
  id: t.String({ examples: ['pack_10k'] }),
  name: t.String({ examples: ['10,000 requests'] }),
  requests: t.integer({ examples: [10_000] }),
  price: t.integer('In cents.', 900),
  currency,
  expires_after_days: t.integerOrNull('From the purchase; null if they never expire.'),
})
export type PackShape = (typeof PackShape)['static']

export const PurchaseShape = t.object('CreditPurchase', {
  id: t.String(),
  pack_id: t.String({ examples: ['pack_10k'] }),
  quantity: t.integer({ examples: [1] }),
  requests: t.integer('Of all packs together.', 10_000),
  amount: t.integer('In cents.', 900),
  currency: t.String({ examples: ['USD'] }),
  status: t.oneOf(
    ['completed', 'pending'],
    'Pending: the credits are added once the invoice is paid.',
  ),
  created_at: moment(),
})

export function planRows(plans: Plans): PlanShape[] {
  return offeredPlans(plans).map(tier =>
    answerRow(PlanShape, tier, {
      price_monthly: tier.priceMonthlyCents,
      price_yearly: tier.priceYearlyCents,
      currency: 'USD',
      request_limit: tier.requestQuota,
      request_period: quotaPeriods[tier.quotaKind].period === 'day' ? 'day' : 'month',
      features: [...plans.entitlements.get(tier.id)![0]!.features],
    }),
  )
}

export const addOnRows = (plans: Plans) =>
  plans.addOns.map(addOn =>
    answerRow(AddOnShape, addOn, { price_monthly: addOn.priceMonthlyCents, currency: 'USD' }),
  )

export const methodRow = (method: PaymentMethod, defaultId: string | null) =>
  answerRow(MethodShape, method, { is_default: method.id === defaultId })

export const invoiceRow = (invoice: Invoice, baseUrl: string): InvoiceShape =>
  answerRow(InvoiceShape, invoice, {
    amount: invoice.amountCents,
    amount_refunded: invoice.refundedCents,
    period_start: isoInstant(invoice.startsAt),
    period_end: isoInstant(invoice.endsAt),
    pdf_url: `${baseUrl}/billing/invoices/${invoice.id}/pdf`,
  })

export const packRow = (pack: CreditPack): PackShape =>
  answerRow(PackShape, pack, { price: pack.priceCents, currency: 'USD' })

export const purchaseRow = (purchase: CreditPurchase) =>
  answerRow(PurchaseShape, purchase, {
    amount: purchase.amountCents,
    status: purchase.status === 'completed' ? 'completed' : 'pending',
  })

/** Builds the JSON of subscriptions; an account without one gets the equivalent of its plan. */
export const subscriptionRows = ({
  billing,
  keys,
  meter,
  now,
}: Pick<Context, 'billing' | 'keys' | 'meter' | 'now'>) => {
  return (state: AccountState): SubscriptionShape => {
    const subscription = billing.current(state)
    const { account } = state
    const entitled = keys.entitlements(state)
    const window = quotaWindow(entitled, account, now())
    const used = meter
      .daily(state, window.startsAt, window.endsAt)
      .reduce((sum, day) => sum + day.requests, 0)
    return {
      id: subscription?.id ?? account.id,
      plan: subscription?.plan ?? entitled.planId,
      status: subscription?.status ?? (entitled.trialActive ? 'trialing' : 'active'),
      billing_period: subscription?.billingPeriod ?? 'monthly',
      price: subscription?.priceCents ?? 0,
      current_period_start: isoInstant(subscription?.startsAt ?? window.startsAt),
      current_period_end: isoInstant(subscription?.endsAt ?? window.endsAt),
      cancel_at_period_end: subscription?.cancelAtPeriodEnd ?? false,
      pending_plan: subscription?.pendingPlan ?? null,
      usage: {
        requests_used: used,
        requests_limit: window.limit,
        percent_used: percentUsed(window, used),
      },
      addons: account.addOns,
    }
  }
}
