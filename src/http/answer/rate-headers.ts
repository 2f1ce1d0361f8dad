import { dayMs } from '../../lib/time/instant.ts'
import { type QuotaWindow, quotaRemaining } from '../../plans/quota.ts'
import type { RateDecision } from '../../plans/rates/rate.ts'
import type { QuotaUsage } from '../../topics/keys/service/meter.ts'

/** A rolling window as one request found it. */
export interface WindowReading {
  name: 'burst' | 'address' | 'demo' | 'marine' | 'marine_historical' | 'browsing'
  limit: number
  remaining: number
  resetMs: number
  retryAfterMs: number
  admitted: boolean
}

/** Copies the decision, because the table overwrites it at the next call. */
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
/** A window as `RateLimit-Policy` names it, and as `RateLimit` does. */
const policyOf = ({ name, limit }: WindowReading) =>
  `"${name}";q=${limit};w=${name === 'demo' ? 3600 : 60}`
const leftOf = ({ name, remaining, resetMs }: WindowReading) =>
  `"${name}";r=${remaining};t=${seconds(resetMs)}`

/** The parts that stay the same for a whole quota window, computed once. */
interface Fixed {
  hasQuota: boolean
  policy: string
  /**
   * One template for each state, tier and limit of the rolling window in this quota window: few.
   */
  templates: Template[]
}

/**
 * The headers that no request changes, and places for those that every request sets: finding one
 * costs less than adding one.
 */
interface Template {
  state: string
  tier: string
  /** The name of the rolling window, if it is the only window. */
  rolling: WindowReading['name'] | undefined
  limit: number | undefined
  headers: Headers
  /**
   * The first headers of repeated responses, by entity tag: those of the template and of the
   * handler.
   */
  answers: Map<string, Begun>
}

interface Begun {
  given: GivenHeaders
  /** The number of headers from the handler. */
  size: number
  headers: Headers
}

/**
 * An address that is requested again and again has few entity tags at a time: one for each series.
 */
const answersMax = 64

const fixed = new WeakMap<QuotaWindow, Fixed>()

function fixedOf(window: QuotaWindow): Fixed {
  let entry = fixed.get(window)
  if (!entry) {
    const hasQuota = window.limit !== null
    const policy = hasQuota
      ? `"quota";q=${window.limit};w=${seconds(window.endsAt - window.startsAt)}, `
      : ''
    entry = { hasQuota, policy, templates: [] }
    fixed.set(window, entry)
  }
  return entry
}

function templateOf(
  { entitled, window, state }: QuotaUsage,
  fixed: Fixed,
  burst: WindowReading | undefined,
): Template {
  const { limit, name: rolling } = burst ?? {}
  const match = fixed.templates.find(
    template =>
      template.state === state &&
      template.tier === entitled.tier &&
      template.limit === limit &&
      template.rolling === rolling,
  )
  if (match) return match
  const headers = new Headers()
  if (fixed.hasQuota) {
    headers.set('x-ratelimit-limit', String(window.limit))
    headers.set('x-ratelimit-remaining', '')
  }
  headers.set('x-ratelimit-used', '')
  headers.set('x-ratelimit-reset', String(Math.floor(window.endsAt / 1000)))
  headers.set('x-ratelimit-window', window.kind)
  headers.set('x-ratelimit-state', state)
  headers.set('x-ratelimit-tier', entitled.tier)
  headers.set('x-request-id', '')
  headers.set('ratelimit', '')
  headers.set('ratelimit-policy', fixed.policy + (burst ? policyOf(burst) : ''))
  const template = { state, tier: entitled.tier, rolling, limit, headers, answers: new Map() }
  fixed.templates.push(template)
  return template
}

/**
 * Every header of an answer to a key: what the handler gave and all of the rate headers. Without a
 * quota the counting headers name what was used and no limit. `RateLimit` and `RateLimit-Policy`
 * follow the IETF draft and name every window that applies.
 *
 * Copying made headers and changing a few takes half as long as building all of them from an
 * object, and this is done for every request.
 */
export function keyHeaders(
  handlerHeaders: GivenHeaders,
  quotaUsage: QuotaUsage,
  windows: readonly WindowReading[],
  now: number,
): Headers {
  const fixed = fixedOf(quotaUsage.window)
  const headers = new Headers(templateOf(quotaUsage, fixed, onlyOf(windows)).headers)
  for (const name in handlerHeaders) headers.set(name, handlerHeaders[name] as string)
  setCounting(headers, quotaUsage, fixed, windows, now)
  return headers
}

/**
 * The response itself, where it is a text, with the headers of `keyHeaders`. One with an entity tag
 * is requested repeatedly: its first headers are cached.
 */
export function keyAnswer(
  body: ConstructorParameters<typeof Response>[0],
  status: number,
  handlerHeaders: GivenHeaders,
  quotaUsage: QuotaUsage,
  windows: readonly WindowReading[],
  now: number,
): Response {
  if (handlerHeaders.etag === undefined)
    return new Response(body, {
      status,
      headers: keyHeaders(handlerHeaders, quotaUsage, windows, now),
    })
  const fixed = fixedOf(quotaUsage.window)
  // These are changed for each answer, which copies them: an answer whose own headers are changed
  // has an object for them, which is garbage.
  const headers = begun(templateOf(quotaUsage, fixed, onlyOf(windows)), handlerHeaders)
  headers.set(idHeader, handlerHeaders[idHeader] as string)
  setCounting(headers, quotaUsage, fixed, windows, now)
  return new Response(body, { status, headers })
}

const idHeader = 'x-request-id'

/** The headers of a response with an entity tag; the request's id is added later. */
function begun({ headers, answers }: Template, handlerHeaders: GivenHeaders): Headers {
  const answer = answers.get(handlerHeaders.etag as string)
  if (answer && isAlike(answer, handlerHeaders)) return answer.headers
  const copy = new Headers(headers)
  for (const name in handlerHeaders) copy.set(name, handlerHeaders[name] as string)
  if (answers.size >= answersMax) answers.clear()
  answers.set(handlerHeaders.etag as string, {
    given: handlerHeaders,
    size: Object.keys(handlerHeaders).length,
    headers: copy,
  })
  return copy
}

/** Whether the same headers were given, but for the request's id. */
function isAlike(begun: Begun, handlerHeaders: GivenHeaders): boolean {
  let size = 0
  for (const name in handlerHeaders) {
    if (name !== idHeader && begun.given[name] !== handlerHeaders[name]) return false
    size += 1
  }
  return size === begun.size
}

const onlyOf = (windows: readonly WindowReading[]): WindowReading | undefined =>
  windows.length === 1 ? windows[0] : undefined

/**
 * Sets what is different for every request. Each number is put into words once: new texts are what
 * costs here.
 */
function setCounting(
  headers: Headers,
  { window, used, extra }: QuotaUsage,
  fixed: Fixed,
  windows: readonly WindowReading[],
  now: number,
): void {
  const remaining = String(quotaRemaining(window, used, extra))
  if (fixed.hasQuota) headers.set('x-ratelimit-remaining', remaining)
  headers.set('x-ratelimit-used', String(used))
  const burst = onlyOf(windows)
  const quota = fixed.hasQuota ? `"quota";r=${remaining};t=${seconds(window.endsAt - now)}, ` : ''
  if (burst) {
    headers.set('ratelimit', quota + leftOf(burst))
    return
  }
  headers.set('ratelimit-policy', fixed.policy + windows.map(policyOf).join(', '))
  headers.set('ratelimit', quota + windows.map(leftOf).join(', '))
}

/**
 * Headers of answers without a key: what the handler gave and the window of the client's address.
 */
export function addressHeaders(
  handlerHeaders: GivenHeaders,
  windows: readonly WindowReading[],
  now: number,
): Headers {
  const headers = new Headers(handlerHeaders as Record<string, string>)
  const window = windows[0]
  if (!window) return headers
  headers.set('ratelimit-policy', policyOf(window))
  headers.set('ratelimit', leftOf(window))
  if (window.name !== 'demo') return headers
  headers.set('x-ratelimit-limit', String(window.limit))
  headers.set('x-ratelimit-remaining', String(window.remaining))
  headers.set('x-ratelimit-reset', String(Math.ceil((now + (window.resetMs || dayMs / 24)) / 1000)))
  return headers
}
