import type { PlanFacts } from '../../../topics/catalogue/operations/meta.ts'
import { ask, type Loaded, useLoaded } from '../requests/ask.ts'
import { number, words } from '../text/format.ts'

/** A plan as everybody may read it. */
export type Plan = PlanFacts

/** Every plan that is offered, the cheapest first. */
export const usePlans = (isWanted = true): Loaded<Plan[]> =>
  useLoaded(isWanted ? 'plans' : undefined, async signal => {
    const { plans } = await ask<{ plans: Plan[] }>('/product-facts.json', { signal })
    // The trial is a state of the free plan.
    return plans.filter(({ request_quota: { period } }) => period !== 'trial')
  })

export const moneyOf = (cents: number, currency: string): string =>
  `${currency} ${number(cents / 100, 2)}`

/** `USD 99.00 a month`; undefined where a price is agreed. */
export const priceOf = (plan: Plan): string | undefined =>
  plan.custom_pricing ? undefined : `${moneyOf(plan.price_monthly, plan.currency)} a month`

/** The cheapest plan that has one of the features. */
export const cheapestWith = (
  plans: readonly Plan[],
  features: readonly string[],
): Plan | undefined =>
  plans
    .filter(plan => features.some(feature => plan.features.includes(feature)))
    .sort(
      (a, b) =>
        Number(a.custom_pricing) - Number(b.custom_pricing) || a.price_monthly - b.price_monthly,
    )[0]

/** `50 requests a day`. */
export const requestsOf = ({ request_quota: { limit, period } }: Plan): string =>
  limit === null ? 'unlimited requests' : `${number(limit)} requests a ${period}`

/** A feature as people write it. */
export const featureText = (feature: string): string => (feature === 'sms' ? 'SMS' : words(feature))
