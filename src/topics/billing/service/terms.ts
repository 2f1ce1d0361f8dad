import type { BillingPeriod, Terms } from '../../../plans/billing/subscription.ts'
import { firstPlan, isPlanId, type Plans, tierOf } from '../../../plans/plans.ts'
import type { PlanId } from '../../../plans/tiers.ts'
import type { AccountState } from '../../keys/service/keyring.ts'
import type { Invoice } from '../store/invoices.ts'
import type { Subscription } from '../store/subscriptions.ts'

export type BillingRefusal =
  | {
      refused: 'invalid_plan' | 'payment_failed' | 'invoice_closed' | 'open_invoice'
      why: string
    }
  | { refused: 'no_active_subscription' | 'subscription_past_due' }

export const isRefusal = (result: object | undefined): result is BillingRefusal =>
  result !== undefined && 'refused' in result

/** Ways to handle open invoices of a subscription that ends before its period. */
export const openInvoiceChoices = ['keep', 'void'] as const
export type OpenInvoices = (typeof openInvoiceChoices)[number]

/** Why a subscription with open invoices cannot end, if the request does not decide about them. */
export function undecided(
  open: readonly Invoice[],
  choice: OpenInvoices | undefined,
): BillingRefusal | undefined {
  if (open.length === 0 || choice !== undefined) return undefined
  const numbers = open.map(({ number }) => number).join(', ')
  const [invoices, are] = open.length === 1 ? ['Invoice', 'is'] : ['Invoices', 'are']
  return {
    refused: 'open_invoice',
    why: `${invoices} ${numbers} of the running subscription ${are} open: open_invoices must be "void", to cancel what is owed, or "keep", to leave it owed.`,
  }
}

export interface AgreementOptions {
  openInvoices?: OpenInvoices | undefined
  /** The id of a new subscription; generated when absent. */
  id?: string
}

/** A subscription after a change, what the change costs now, and from when on it holds. */
export interface Changed {
  subscription: Subscription
  amountCents: number
  effectiveAt: number
  how: 'created' | 'changed' | 'pending' | 'same'
}

/**
 * The rest of the work, to be done inside the caller's transaction after everything that had to be
 * awaited.
 */
export type Ready<T> = () => T | BillingRefusal

/** The actions of an account on its subscription. */
export interface SubscriptionEngine {
  /** `repeatKey` names the request: the same one is not paid twice. */
  subscribe(
    account: AccountState,
    plan: string,
    billingPeriod: BillingPeriod,
    repeatKey: string,
  ): Promise<Ready<Changed>>
  /** From the free plan it begins a subscription by the month. */
  changePlan(account: AccountState, plan: string, repeatKey: string): Promise<Ready<Changed>>
  cancel(account: AccountState): Promise<Ready<Subscription>>
  /** Ends it before its period, without a refund. */
  endNow(account: AccountState, openInvoices?: OpenInvoices): Promise<Ready<Subscription>>
  /** Undefined where there is none. */
  reactivate(account: AccountState): Promise<Ready<Subscription | undefined>>
}

export const listPrice = (plans: Plans, plan: PlanId, billingPeriod: BillingPeriod): number => {
  const { priceMonthlyCents, priceYearlyCents } = tierOf(plans, plan)
  return billingPeriod === 'monthly' ? priceMonthlyCents : priceYearlyCents
}

export const termsOf = ({ plan, billingPeriod, priceCents }: Subscription): Terms => ({
  plan,
  billingPeriod,
  priceCents,
})

/**
 * The terms on which an account can have a plan. A price that is agreed is the operator's to agree
 * on.
 */
export function offered(
  plans: Plans,
  account: AccountState,
  current: Subscription | undefined,
  plan: string,
  billingPeriod: BillingPeriod,
): Terms | BillingRefusal {
  if (!isPlanId(plan))
    return {
      refused: 'invalid_plan',
      why: 'must be a plan of GET /billing/plans.',
    }
  if (plan === firstPlan)
    return {
      refused: 'invalid_plan',
      why: 'must be a paid plan. To return to the free plan, cancel the subscription.',
    }
  if (current?.plan === plan && current.billingPeriod === billingPeriod) return termsOf(current)
  if (tierOf(plans, plan).customPricing && (current?.agreed || account.account.plan !== plan)) {
    return {
      refused: 'invalid_plan',
      why: 'must be a plan with a public price: the operator assigns this plan at an agreed price.',
    }
  }
  return { plan, billingPeriod, priceCents: listPrice(plans, plan, billingPeriod) }
}
