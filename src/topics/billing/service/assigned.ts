import { startOfMonth } from '../../../lib/time/instant.ts'
import { periodEnd, type Terms } from '../../../plans/billing/subscription.ts'
import { firstPlan, isPlanId } from '../../../plans/plans.ts'
import type { AccountState, Keyring } from '../../keys/service/keyring.ts'
import type { Subscription } from '../store/subscriptions.ts'

/** A subscription that begins without a payment processor. */
export const manualSubscription = ({
  startsAt,
  billingPeriod,
  createdAt,
  ...own
}: Terms &
  Pick<Subscription, 'id' | 'accountId' | 'agreed' | 'startsAt' | 'createdAt'>): Subscription => ({
  ...own,
  billingPeriod,
  status: 'active',
  anchorAt: startsAt,
  startsAt,
  endsAt: periodEnd(startsAt, startsAt, billingPeriod),
  cancelAtPeriodEnd: false,
  cancelledAt: null,
  pendingPlan: null,
  pendingBillingPeriod: null,
  pastDueAt: null,
  endedAt: null,
  provider: 'manual',
  providerRef: null,
  createdAt,
  updatedAt: createdAt,
  creditCents: 0,
})

/**
 * The subscription of an account whose plan the operator set: by the calendar month, at no price,
 * until another is agreed on. Its row is written with the first change to it; undefined on the free
 * plan.
 */
export function assignedSubscription(
  state: AccountState,
  keys: Pick<Keyring, 'entitlements'>,
  now: number,
): Subscription | undefined {
  const { plan, id, createdAt } = state.account
  if (!isPlanId(plan) || plan === firstPlan || keys.entitlements(state).state !== 'paid_active')
    return undefined
  return manualSubscription({
    id,
    accountId: id,
    plan,
    billingPeriod: 'monthly',
    priceCents: 0,
    agreed: true,
    startsAt: startOfMonth(now),
    createdAt,
  })
}
