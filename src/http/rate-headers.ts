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

/** Headers that a handler has set. */
export type GivenHeaders = Record<string, string | number>

const seconds = (ms: number) => Math.ceil(ms / 1000)
const windowSeconds = (one: WindowReading) => (one.name === 'demo' ? 3600 : 60)

/** What stays the same for a whole quota window: made once for it. */
interface Fixed {
  counted: boolean
  policy: string
  /** By state and limit of the rolling window, the headers that no request changes. */
  templates: Map<string, Headers>
}

const fixed = new WeakMap<QuotaWindow, Fixed>()

/** Windows of many keys are alike and share their templates; what is here can be made again at any time. */
const shared = new Map<string, Headers>()
const sharedMax = 10_000

function fixedOf(window: QuotaWindow): Fixed {
  let held = fixed.get(window)
  if (!held) {
    const counted = window.limit !== null
    const policy = counted ? `"quota";q=${window.limit};w=${seconds(window.endsAt - window.startsAt)}, ` : ''
    held = { counted, policy, templates: new Map() }
    fixed.set(window, held)
  }
  return held
}

function templateOf({ entitled, window, state }: Standing, held: Fixed, burst: WindowReading | undefined): Headers {
  const name = `${state} ${burst?.limit}`
  const known = held.templates.get(name)
  if (known) return known
  const policy = burst ? `${held.policy}"burst";q=${burst.limit};w=60` : held.policy
  const content = [String(window.limit), String(Math.floor(window.endsAt / 1000)), window.kind, state, entitled.tier, policy] as const
  const key = content.join('|')
  const template = shared.get(key) ?? newTemplate(content, held.counted)
  if (shared.size >= sharedMax) shared.clear()
  shared.set(key, template)
  held.templates.set(name, template)
  return template
}

function newTemplate([limit, reset, kind, state, tier, policy]: readonly string[], counted: boolean): Headers {
  const template = new Headers()
  if (counted) template.set('x-ratelimit-limit', limit!)
  template.set('x-ratelimit-reset', reset!)
  template.set('x-ratelimit-window', kind!)
  template.set('x-ratelimit-state', state!)
  template.set('x-ratelimit-tier', tier!)
  template.set('ratelimit-policy', policy!)
  return template
}

/**
 * Every header of an answer to a key: what the handler gave and all of the rate headers. Without a quota the counting headers name what
 * was used and no limit. `RateLimit` and `RateLimit-Policy` follow the IETF draft and name every window that applies.
 *
 * Copying made headers and changing a few takes half as long as building all of them from an object, and this is done for every request.
 */
export function keyHeaders(given: GivenHeaders, standing: Standing, windows: readonly WindowReading[], now: number): Headers {
  const { window, used, extra } = standing
  const held = fixedOf(window)
  const burst = windows.length === 1 ? windows[0] : undefined
  const headers = new Headers(templateOf(standing, held, burst))
  for (const name in given) headers.set(name, given[name] as string)
  const remaining = quotaRemaining(window, used, extra)
  if (held.counted) headers.set('x-ratelimit-remaining', String(remaining))
  headers.set('x-ratelimit-used', String(used))
  const quota = held.counted ? `"quota";r=${remaining};t=${seconds(window.endsAt - now)}, ` : ''
  if (burst) {
    headers.set('ratelimit', `${quota}"burst";r=${burst.remaining};t=${seconds(burst.resetMs)}`)
    return headers
  }
  headers.set('ratelimit-policy', held.policy + windows.map(one => `"${one.name}";q=${one.limit};w=${windowSeconds(one)}`).join(', '))
  headers.set('ratelimit', quota + windows.map(one => `"${one.name}";r=${one.remaining};t=${seconds(one.resetMs)}`).join(', '))
  return headers
}

/** Headers of answers without a key: what the handler gave and the window of the client's address. */
export function addressHeaders(given: GivenHeaders, windows: readonly WindowReading[], now: number): Headers {
  const headers = new Headers(given as Record<string, string>)
  const one = windows[0]
  if (!one) return headers
  headers.set('ratelimit-policy', `"${one.name}";q=${one.limit};w=${windowSeconds(one)}`)
  headers.set('ratelimit', `"${one.name}";r=${one.remaining};t=${seconds(one.resetMs)}`)
  if (one.name !== 'demo') return headers
  headers.set('x-ratelimit-limit', String(one.limit))
  headers.set('x-ratelimit-remaining', String(one.remaining))
  headers.set('x-ratelimit-reset', String(Math.ceil((now + (one.resetMs || dayMs / 24)) / 1000)))
  return headers
}
