import { dayMs } from '../lib/instant.ts'
import { type QuotaWindow, quotaRemaining } from '../plan/quota.ts'
import type { RateDecision } from '../plan/rate.ts'
import type { Standing } from '../service/meter.ts'

/** A rolling window as one request found it. */
export interface WindowReading {
  name: 'burst' | 'address' | 'demo' | 'marine' | 'marine_historical'
  limit: number
  remaining: number
  resetMs: number
  retryAfterMs: number
  admitted: boolean
}

/** A copy, because the table overwrites its decision at the next call. */
export const reading = (name: WindowReading['name'], decision: RateDecision): WindowReading => ({
  name,
  limit: decision.limit,
  remaining: decision.remaining,
  resetMs: decision.resetMs,
  retryAfterMs: decision.retryAfterMs,
  admitted: decision.admitted,
})

type Headers = Record<string, string | number>

const seconds = (ms: number) => Math.ceil(ms / 1000)
const windowSeconds = (one: WindowReading) => (one.name === 'demo' ? 3600 : 60)

/** What of the headers stays the same for a whole quota window is made once for it. */
const fixed = new WeakMap<QuotaWindow, { limit: string | undefined; reset: string; policy: string }>()

function fixedOf(window: QuotaWindow) {
  let held = fixed.get(window)
  if (!held) {
    held = {
      limit: window.limit === null ? undefined : String(window.limit),
      reset: String(Math.floor(window.endsAt / 1000)),
      policy: window.limit === null ? '' : `"quota";q=${window.limit};w=${seconds(window.endsAt - window.startsAt)}, `,
    }
    fixed.set(window, held)
  }
  return held
}

/**
 * Every rate header of an answer to a key. Without a quota the counting headers name what was used and no limit.
 * `RateLimit` and `RateLimit-Policy` follow the IETF draft and name every window that applies.
 */
export function keyHeaders(
  headers: Headers,
  { entitled, window, used, state }: Standing,
  windows: readonly WindowReading[],
  now: number,
): void {
  const { limit, reset, policy } = fixedOf(window)
  const remaining = quotaRemaining(window, used)
  if (limit !== undefined) {
    headers['x-ratelimit-limit'] = limit
    headers['x-ratelimit-remaining'] = String(remaining)
  }
  headers['x-ratelimit-used'] = String(used)
  headers['x-ratelimit-reset'] = reset
  headers['x-ratelimit-window'] = window.kind
  headers['x-ratelimit-state'] = state
  headers['x-ratelimit-tier'] = entitled.tier
  const quota = limit === undefined ? '' : `"quota";r=${remaining};t=${seconds(window.endsAt - now)}, `
  if (windows.length === 1) {
    const burst = windows[0]!
    headers['ratelimit-policy'] = `${policy}"burst";q=${burst.limit};w=60`
    headers.ratelimit = `${quota}"burst";r=${burst.remaining};t=${seconds(burst.resetMs)}`
    return
  }
  headers['ratelimit-policy'] = policy + windows.map(one => `"${one.name}";q=${one.limit};w=${windowSeconds(one)}`).join(', ')
  headers.ratelimit = quota + windows.map(one => `"${one.name}";r=${one.remaining};t=${seconds(one.resetMs)}`).join(', ')
}

/** Headers of answers without a key: the window of the client's address. */
export function addressHeaders(headers: Headers, windows: readonly WindowReading[], now: number): void {
  const one = windows[0]
  if (!one) return
  headers['ratelimit-policy'] = `"${one.name}";q=${one.limit};w=${windowSeconds(one)}`
  headers.ratelimit = `"${one.name}";r=${one.remaining};t=${seconds(one.resetMs)}`
  if (one.name !== 'demo') return
  headers['x-ratelimit-limit'] = String(one.limit)
  headers['x-ratelimit-remaining'] = String(one.remaining)
  headers['x-ratelimit-reset'] = String(Math.ceil((now + (one.resetMs || dayMs / 24)) / 1000))
}
