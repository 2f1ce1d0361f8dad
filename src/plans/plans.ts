import type { Limits } from './limits.ts'
import { defaultLimits } from './limits.ts'
import type {
  AddOn,
  AddOnId,
  Allowances,
  Feature,
  PlanId,
  QuotaKind,
  Tier,
  TierId,
} from './tiers.ts'
import { addOnIds, features, planIds, recordOf, specAddOns, specTiers, tierIds } from './tiers.ts'

/**
 * The current rights of an account. Shared between accounts and frozen: the same tier and add-ons
 * give the same object.
 */
export interface Entitlements extends Readonly<Allowances> {
  readonly planId: PlanId
  readonly planName: string
  /** `X-RateLimit-Tier`: the plan's id, `trial` while a trial runs. */
  readonly tier: TierId
  readonly tierName: string
  readonly legacyName: Tier['legacyName']
  readonly reservoirMastery: boolean
  readonly trialActive: boolean
  readonly customPricing: boolean
  readonly quotaKind: QuotaKind
  readonly state: Tier['state']
  readonly features: ReadonlySet<Feature>
  /** Add-ons of the account that give it something on this tier. */
  readonly addOns: readonly AddOnId[]
  /** The free plan's daily quota, which holds while the account's e-mail is unconfirmed. */
  readonly unconfirmedQuota: number | null
}

export interface Plans {
  readonly tiers: readonly Tier[]
  readonly addOns: readonly AddOn[]
  readonly limits: Readonly<Limits>
  /** By tier, then by the bit set of add-ons held. */
  readonly entitlements: ReadonlyMap<TierId, readonly Entitlements[]>
}

export interface PlanAccount {
  plan: string
  addOns: readonly string[]
  trialStartedAt: number | null
  trialEndsAt: number | null
}

/** The plans of the specification. */
export const specPlans = (limits: Readonly<Limits> = defaultLimits): Plans =>
  assemblePlans(specTiers(limits), specAddOns, limits)

/**
 * The plans of a private instance: every feature on every plan and no quotas. Limits on the work of
 * one request or one account stay: rolling rates, active keys, codes of a brief, the shortest watch
 * interval.
 */
export function unlimitedPlans(limits: Readonly<Limits> = defaultLimits): Plans {
  const spec = specPlans(limits)
  const best = spec.tiers.at(-1)!
  const open = spec.tiers.map(tier => ({
    ...tier,
    requestQuota: null,
    scheduledDeliveries: null,
    webhookEndpoints: null,
    webhookEventsPerMonth: null,
    smsPerMonth: null,
    alerts: null,
    watches: null,
    formulaSeries: null,
    marketBriefCodes: best.marketBriefCodes,
    minWatchIntervalSeconds: best.minWatchIntervalSeconds,
    access: recordOf(features, () => 'included' as const),
  }))
  return assemblePlans(open, spec.addOns, limits)
}

/**
 * Computes once the rights of every tier with every set of add-ons. `tiers` are the seven of
 * `tierIds`, in that order.
 */
export function assemblePlans(
  tiers: readonly Tier[],
  addOns: readonly AddOn[],
  limits: Readonly<Limits>,
): Plans {
  const unconfirmedQuota = tiers[0]!.requestQuota
  const sets = Array.from({ length: 1 << addOnIds.length }, (_, addOnBits) => addOnBits)
  const entitlementsOf = (tier: Tier) =>
    sets.map(addOnBits => grant(tier, addOns, addOnBits, unconfirmedQuota))
  return {
    tiers,
    addOns,
    limits,
    entitlements: new Map(tiers.map(tier => [tier.id, entitlementsOf(tier)])),
  }
}

function grant(
  tier: Tier,
  addOns: readonly AddOn[],
  addOnBits: number,
  unconfirmedQuota: number | null,
): Entitlements {
  const { id, name, access: _access, ...rest } = tier
  const useful = addOns.filter(
    addOn => addOnBits & (1 << addOnIds.indexOf(addOn.id)) && addOnFits(tier, addOn),
  )
  const has = (feature: Feature) =>
    ['included', 'allowance'].includes(tier.access[feature]) ||
    useful.some(a => a.feature === feature)
  const messages = useful.find(addOn => addOn.smsPerMonth !== null)
  return Object.freeze({
    ...rest,
    tier: id,
    planName: name,
    reservoirMastery: tier.legacyName === 'reservoir_mastery',
    trialActive: tier.state === 'trial_active',
    features: new Set(features.filter(has)),
    addOns: useful.map(addOn => addOn.id),
    smsPerMonth: messages ? messages.smsPerMonth : tier.smsPerMonth,
    unconfirmedQuota,
  })
}

/** Whether an add-on is available on a plan. */
export const addOnFits = (tier: Tier, addOn: AddOn): boolean =>
  tier.access[addOn.feature] === 'addon'

/** The plan that an account begins on, and the only one that a trial can run on. */
export const firstPlan: PlanId = 'free'

export const isPlanId = (text: string): text is PlanId =>
  (planIds as readonly string[]).includes(text)

export function tierOf(plans: Plans, id: TierId): Tier {
  return plans.tiers[tierIds.indexOf(id)]!
}

/** The plans one can be on, cheapest first: every tier but the trial. */
export const offeredPlans = (plans: Plans): readonly Tier[] =>
  plans.tiers.filter(tier => tier.id === tier.planId)

/**
 * The rights of the account at `now`. Allocates nothing. Throws on a plan that does not exist;
 * unknown add-ons give nothing.
 */
export function entitlements(plans: Plans, account: PlanAccount, now: number): Entitlements {
  const { plan } = account
  if (!isPlanId(plan))
    throw new Error(
      `account.plan: ${JSON.stringify(plan)} is not a plan; one of ${planIds.join(', ')}`,
    )
  let addOnBits = 0
  for (const id of account.addOns) {
    const bit = addOnIds.indexOf(id as AddOnId)
    if (bit >= 0) addOnBits |= 1 << bit
  }
  return plans.entitlements.get(plan === firstPlan && trialRuns(account, now) ? 'trial' : plan)![
    addOnBits
  ]!
}

/** The trial is the half-open range [start, end) of an account on the free plan. */
function trialRuns(account: PlanAccount, now: number): boolean {
  const { trialStartedAt, trialEndsAt } = account
  return (
    trialStartedAt !== null && trialEndsAt !== null && trialStartedAt <= now && now < trialEndsAt
  )
}

export const hasFeature = (entitled: Entitlements, feature: Feature): boolean =>
  entitled.features.has(feature)

/**
 * The cheapest plan that includes a feature, and the add-on that gives it on the tier the account
 * is on, if there is one. When no plan includes it: the cheapest that can add it. Undefined when it
 * cannot be had at all.
 */
export function cheapestWith(
  plans: Plans,
  feature: Feature,
  current: TierId,
): { plan: Tier; addOn: AddOn | undefined } | undefined {
  const addOn = plans.addOns.find(candidate => candidate.feature === feature)
  const offered = offeredPlans(plans)
  const plan =
    offered.find(tier => tier.access[feature] === 'included') ??
    offered.find(tier => addOn && addOnFits(tier, addOn))
  if (!plan) return undefined
  return { plan, addOn: addOn && addOnFits(tierOf(plans, current), addOn) ? addOn : undefined }
}

const quotaDays: Readonly<Record<QuotaKind, (limits: Limits) => number>> = {
  daily_counter: () => 1,
  trial_counter: limits => limits.trialDays,
  monthly_counter: () => 30,
}

/** Requests a day that a tier's quota carries, for comparing quotas over different windows. */
const pace = (tier: Tier, limits: Limits) =>
  tier.requestQuota === null ? Infinity : tier.requestQuota / quotaDays[tier.quotaKind](limits)

/**
 * The plan to recommend when the quota of `current` is used up: the next one that carries more
 * requests a day, else the last. `capped`: an unconfirmed account, held at the free quota, may
 * already be on a plan that is enough.
 */
export function recommendedPlan(plans: Plans, current: TierId, capped = false): Tier {
  const spent = pace(capped ? plans.tiers[0]! : tierOf(plans, current), plans.limits)
  const higher = offeredPlans(plans).filter(
    tier => tierIds.indexOf(tier.id) >= tierIds.indexOf(current),
  )
  return higher.find(tier => pace(tier, plans.limits) > spent) ?? plans.tiers.at(-1)!
}

/** Descriptions of the quota windows, for people and for programs. */
export const quotaPeriods = {
  daily_counter: { period: 'day', resets: 'daily at 00:00 UTC' },
  monthly_counter: { period: 'month', resets: 'on the 1st of each month at 00:00 UTC' },
  trial_counter: {
    period: 'trial',
    resets: 'never; the account continues on the free plan when the trial ends',
  },
} as const satisfies Record<QuotaKind, { period: string; resets: string }>
