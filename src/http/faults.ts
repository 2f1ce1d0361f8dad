import { sleep } from '../lib/time/clock.ts'
import { dayMs } from '../lib/time/instant.ts'
import { efficiency } from '../plans/efficiency.ts'
import type { Plans } from '../plans/plans.ts'
import { type QuotaKind, tierIds } from '../plans/tiers.ts'
import type { WindowReading } from './answer/rate-headers.ts'
import { servedMethods } from './front.ts'
import type { RequestContext, SimulatedQuota } from './gate/request-context.ts'
import { Problem, type ProblemCode, problems } from './problem/problem.ts'
import { type Links, overloaded, quotaProblem, tooFast } from './problem/refusals.ts'

/** A simulated error or delay for the next requests of a route. */
export interface Fault {
  id: number
  /**
   * Path as in the documentation, `/v1/prices/latest` or `/v1/commodities/{code}`; `*` is every
   * route.
   */
  path: string
  method: string | undefined
  code: ProblemCode | undefined
  delayMs: number
  /** Requests left to meet it; undefined: no end. */
  count: number | undefined
  probability: number
}

/**
 * Faults on demand, for developers who test how their client handles errors. Demo instances
 * only.
 */
export type Faults = ReturnType<typeof createFaults>

/** `chance` returns the next number in [0, 1). */
export function createFaults(chance: () => number) {
  let faults: Fault[] = []
  let ids = 0
  return {
    add(fault: Omit<Fault, 'id'>): Fault {
      ids += 1
      const added = { ...fault, id: ids }
      faults.push(added)
      return added
    },
    all: (): readonly Fault[] => faults,
    clear() {
      faults = []
    },
    /** Returns the fault for this request, if any, and counts it as used. */
    meet(method: string, route: string) {
      const path = documentedPath(route)
      const metFault = faults.find(
        fault =>
          (fault.path === '*' || fault.path === path) &&
          (!fault.method || fault.method === method) &&
          chance() < fault.probability,
      )
      if (metFault?.count !== undefined) {
        metFault.count -= 1
        if (metFault.count <= 0) faults = faults.filter(fault => fault !== metFault)
      }
      return metFault
    },
  }
}

/** `/v1/commodities/:code` as the documentation writes it. */
export const documentedPath = (route: string): string => route.replace(/:(\w+)/g, '{$1}')

const quotaCodes: Partial<Record<ProblemCode, QuotaKind>> = {
  PAYMENT_REQUIRED: 'daily_counter',
  FREE_TIER_LIMIT_EXCEEDED: 'daily_counter',
  MONTHLY_QUOTA_EXCEEDED: 'monthly_counter',
  TRIAL_LIMIT_EXCEEDED: 'trial_counter',
}

/**
 * The error as its cause would create it: limits and links are the real ones, and the usage equals
 * the limit.
 */
export function refusalOf(code: ProblemCode, plans: Plans, links: Links, now: number): Problem {
  if (code === 'RATE_LIMIT_EXCEEDED') return tooFast(fullWindow(plans))
  if (code === 'OVERLOADED') return overloaded()
  const kind = quotaCodes[code]
  if (!kind) {
    const seconds = retryAfterSeconds[code]
    const inBody = seconds !== undefined && problems[code].status === 429
    return new Problem(
      code,
      problems[code].when,
      inBody ? { simulated: true, retry_after: seconds } : { simulated: true },
      {
        headers: {
          ...(seconds !== undefined && { 'retry-after': String(seconds) }),
          ...ownHeaders[code],
        },
      },
    )
  }
  const tier = tierWith(kind, plans)
  const limit = tier.requestQuota ?? 0
  const next = plans.tiers[Math.min(tierIds.indexOf(tier.id) + 1, plans.tiers.length - 1)]!
  const quota = {
    window: { kind, limit, endsAt: now + dayMs },
    used: limit,
    planId: tier.planId,
    report: efficiency({ requests: limit, distinctCodes: 1, batchable: 0, cacheable: 0 }),
    advice: [],
    recommendedPlan: next.id,
  }
  const { message, extra, headers } = quotaProblem(code, quota, links, now)
  return new Problem(code, message, { ...extra, simulated: true }, { headers })
}

/**
 * Applies a simulated fault to a request: waits, then refuses it, with the headers that a real
 * cause would have.
 */
export const faultMeeter =
  (faults: Faults, plans: Plans, links: (request: Request) => Links, now: () => number) =>
  async (requestContext: RequestContext, request: Request, route: string): Promise<void> => {
    const fault = faults.meet(request.method, route)
    if (!fault) return
    if (fault.delayMs > 0) await sleep(fault.delayMs)
    if (!fault.code) return
    const kind = quotaCodes[fault.code]
    if (kind) requestContext.simulated = usedUp(kind, plans, now())
    if (fault.code === 'RATE_LIMIT_EXCEEDED') requestContext.windows = [fullWindow(plans)]
    throw refusalOf(fault.code, plans, links(request), now())
  }

/** A used-up quota that resets a day from now. */
function usedUp(kind: QuotaKind, plans: Plans, now: number): SimulatedQuota {
  const { requestQuota } = tierWith(kind, plans)
  const window = { kind, startsAt: now, endsAt: now + dayMs, limit: requestQuota, capped: false }
  return { window, used: requestQuota ?? 0, extra: 0, state: 'exhausted' }
}

const tierWith = (kind: QuotaKind, plans: Plans) =>
  plans.tiers.find(tier => tier.quotaKind === kind) ?? plans.tiers[0]!

const fullWindow = (plans: Plans): WindowReading => ({
  name: 'burst',
  limit: plans.limits.perMinute,
  remaining: 0,
  resetMs: 60_000,
  retryAfterMs: 12_000,
  admitted: false,
})

const allow = [...servedMethods].join(', ')
/** Additional headers of errors. */
const ownHeaders: Partial<Record<ProblemCode, Record<string, string>>> = {
  UPGRADE_REQUIRED: { upgrade: 'websocket', connection: 'Upgrade' },
  METHOD_NOT_IMPLEMENTED: { allow },
  METHOD_NOT_ALLOWED: { allow },
  ROUTE_NOT_FOUND: { allow, 'cache-control': 'no-store' },
  INVALID_CREDENTIALS: { 'cache-control': 'no-store' },
  SECOND_FACTOR_REQUIRED: { 'cache-control': 'no-store' },
  LOGIN_LOCKED: { 'cache-control': 'no-store' },
  DEMO_CODE_NOT_AVAILABLE: { 'x-demo-mode': 'true' },
}

/** `Retry-After` of simulated errors; real errors count down to the end of their cause. */
const retryAfterSeconds: Partial<Record<ProblemCode, number>> = {
  LOGIN_LOCKED: 900,
  SIGNUP_LIMITED: 3600,
  manual_send_cooldown: 600,
  sms_limit_reached: dayMs / 1000,
  PROCESSOR_UNAVAILABLE: 30,
  QUERY_WORKER_UNAVAILABLE: 5,
  STORAGE_UNAVAILABLE: 5,
}
