import { isoInstant } from '../../lib/time/instant.ts'
import { efficiency, reduceUsage } from '../../plans/efficiency.ts'
import { cheapestWith, type Entitlements, type Plans, recommendedPlan } from '../../plans/plans.ts'
import { percentUsed, type QuotaWindow, quotaRefusals } from '../../plans/quota.ts'
import type { Scope } from '../../plans/roles/scopes.ts'
import { type Feature, featureSubjects } from '../../plans/tiers.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import type { Meter } from '../../topics/keys/service/meter.ts'
import type { WindowReading } from '../answer/rate-headers.ts'
import { Problem, type ProblemCode, type ProblemShape, passing, problems } from './problem.ts'

/** Addresses that refusals link to, as the request reached the server. */
export interface Links {
  baseUrl: string
  docsUrl: string
  upgradeUrl: string
  signupUrl: string
}

/** 429 for a full rolling window; retry when the window has room again. */
export function tooFast(window: WindowReading, reason = ''): Problem {
  const windowSeconds = window.name === 'demo' ? 3600 : 60
  const retryAfter = Math.max(1, Math.ceil(window.retryAfterMs / 1000))
  return passing(
    'RATE_LIMIT_EXCEEDED',
    `Rate limit exceeded: ${window.limit} requests per ${windowSeconds === 60 ? '60 seconds' : 'hour'}. Try again in ${retryAfter} s.${reason}`,
    retryAfter,
    { limit: window.limit, window_seconds: windowSeconds },
  )
}

/** Whether a key has a scope. */
export const hasScope = ({ key, isRestricted }: KeyState, scope: Scope): boolean =>
  !isRestricted || key.scopes.length === 0 || key.scopes.includes(scope)

/** 403 for a key that is limited to other parts of the API. `what` belongs to `scope`. */
export const scopeMissing = ({ key }: KeyState, scope: Scope, what: string): Problem =>
  new Problem(
    'KEY_SCOPE_MISSING',
    `This API key has the scopes ${key.scopes.join(', ')}; ${what} needs the scope ${scope}.`,
    { required_scope: scope, scopes: key.scopes },
  )

/** 503 for a heavy request while the instance is overloaded. */
export const overloaded = (): Problem =>
  passing('OVERLOADED', 'Too many heavy requests at once. Try again in 5 s.', 5)

/** 503 for a heavy request whose worker ended, or for which none was ready in time. */
export const queryWorkerUnavailable = (): Problem =>
  passing(
    'QUERY_WORKER_UNAVAILABLE',
    'The query worker for this request ended or was not ready in time: try again in 5 s.',
    5,
  )

/** A used-up quota: the usage, suggestions to reduce it, and the plan with a larger quota. */
interface UsedUpQuota {
  window: Pick<QuotaWindow, 'kind' | 'limit' | 'endsAt'>
  used: number
  planId: string
  report: ReturnType<typeof efficiency>
  advice: ReturnType<typeof reduceUsage>
  recommendedPlan: string
}

/** 402 or 429 for a used-up quota, with the time of its reset and the plan to upgrade to. */
export function quotaProblem(
  code: ProblemCode,
  { window, used, planId, report, advice, recommendedPlan }: UsedUpQuota,
  { docsUrl, upgradeUrl }: Links,
  now: number,
): Problem {
  const { kind, limit, endsAt } = window
  const inSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000))
  const resetAt = isoInstant(endsAt)
  const message = `The quota of ${limit} requests is used up; it resets at ${resetAt}. Upgrading raises the limit immediately.`
  const extra = {
    reset: { date: resetAt, timestamp: Math.floor(endsAt / 1000), in_seconds: inSeconds },
    reset_at: resetAt,
    current_usage: {
      used,
      limit,
      remaining: 0,
      window: kind,
      percent_used: percentUsed(window, used),
    },
    current_plan: planId,
    efficiency: {
      requests_today: report.requestsToday,
      distinct_codes: report.distinctCodes,
      batchable_requests: report.batchableRequests,
      cacheable_requests: report.cacheableRequests,
      score: report.score,
    },
    reduce_usage: advice.map(({ anchor, ...rest }) => ({
      ...rest,
      docs_url: `${docsUrl}#${anchor}`,
    })),
    recommended_plan: recommendedPlan,
    upgrade_url: upgradeUrl,
    remediation_url: upgradeUrl,
  }
  return problems[code].status === 429
    ? passing(code, message, inSeconds, extra)
    : new Problem(code, message, extra)
}

export function quotaUsedUp(
  meter: Meter,
  plans: Plans,
  links: Links,
  key: KeyState,
  now: number,
  futures: boolean,
): Problem {
  const { window, used, entitled } = meter.quotaUsage(key)
  const { code, futuresCode } = quotaRefusals[window.kind]
  const day = meter.day(key)
  const { codesPerRequestMax } = plans.limits
  const quota = {
    window,
    used,
    planId: entitled.planId,
    report: efficiency(day, codesPerRequestMax),
    advice: reduceUsage(day, codesPerRequestMax),
    recommendedPlan: recommendedPlan(plans, entitled.tier, window.capped).id,
  }
  return quotaProblem(futures ? futuresCode : code, quota, links, now)
}

const codeByFeature: Partial<Record<Feature, ProblemCode>> = {
  futures: 'FORBIDDEN',
  well_production: 'ENTERPRISE_REQUIRED',
}

/**
 * 403 for a feature that the plan does not include: names the feature, the plan that has it and the
 * add-on.
 */
export function featureMissing(
  plans: Plans,
  links: Links,
  entitled: Entitlements,
  feature: Feature,
  shape?: ProblemShape,
): Problem {
  const best = cheapestWith(plans, feature, entitled.tier)
  const addOn = best?.addOn
  const plan = best?.plan
  const ways = [plan && `upgrade to ${plan.name}`, addOn && `add the "${addOn.id}" add-on`]
    .filter(Boolean)
    .join(' or ')
  const instead =
    ways === ''
      ? 'There is no plan to upgrade to that includes them.'
      : `To use them, ${ways}: ${links.upgradeUrl}`
  return new Problem(
    codeByFeature[feature] ?? 'INSUFFICIENT_PLAN',
    `${featureSubjects[feature]} not included in the ${entitled.planName} plan. ${instead}`,
    {
      ...planNeeded(links, entitled, feature, plan),
      ...(addOn && { addon: addOn.id, billing_url: links.upgradeUrl }),
    },
    shape ? { shape } : {},
  )
}

/** What a refusal says of the plan that has something; undefined: none has. */
export const planNeeded = (
  { upgradeUrl }: Pick<Links, 'upgradeUrl'>,
  { planId }: Entitlements,
  feature: string,
  plan: Plans['tiers'][number] | undefined,
) => ({
  required_tier: plan?.tierName ?? null,
  required_plan: plan?.id ?? null,
  current_plan: planId,
  required_feature: feature,
  feature,
  upgrade_url: upgradeUrl,
  remediation_url: upgradeUrl,
  upgrade_required: true,
  recommended_plan: plan?.id ?? null,
})
