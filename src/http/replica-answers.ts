import { within } from '../lib/time/clock.ts'
import type { ReplicaView } from '../replication/service/condition.ts'
import type { KeyState } from '../topics/keys/service/keyring.ts'
import { sequenceHeader } from './commit-answers.ts'
import { readMethods } from './front.ts'
import { credentialsOf, isSessionToken } from './gate/credentials.ts'
import { problemResponse } from './problem/details.ts'
import { Problem } from './problem/problem.ts'

export interface ReplicaDeps {
  handle(request: Request): Response | Promise<Response>
  /** Asks the primary. */
  ask(request: Request): Promise<Response>
  /** Connects the socket of a session, which only the primary knows. */
  connect(request: Request): Promise<Response>
  keys: { find(token: string): KeyState | undefined }
  /** Whether requests of a key that count may be answered here. */
  mayAnswer(key: KeyState): boolean
  /** Waits a while until they may be; false where they may not. */
  comesToAnswer(key: KeyState, withinMs: number): Promise<boolean>
  /** Fields of the error that is returned while the primary is unreachable. */
  unreachable(request: Request): { requestId: string; docsUrl: string }
  /** Allows the connection of a request to be idle for as long as its response continues. */
  stays(request: Request): void
  /** The replication state of this replica. */
  view(): ReplicaView
  monotonic(): number
  reaches(sequence: number, withinMs: number): Promise<boolean>
  waitMs: number
  headerPrefix: string
}

/** Paths that need only prices, the catalogue and rows that are read at each request. */
const answeredPaths =
  /^\/v1\/(?:prices|changes|commodities|analytics|indicators|spreads|futures|storage|forecasts|fuel-surcharge|bunker-fuels|marine-fuels|marine-ports|diesel-prices|ei|rig-counts|drilling|drilling-intelligence|pseo|well-production|market-brief|data-quality|alerts|subscriptions|notifications|scheduled-deliveries)(?:\/|$)/
/** Paths whose read changes records of an account. */
const primaryPaths = /^\/v1\/prices\/board(?:\/|$)/
/** Reads that are too long for an address, and are sent by POST. */
const readByPost = new Set(['/v1/prices/batch'])
/** Paths that are open to everyone. */
const openPaths =
  /^\/(?:docs|swagger|openapi\.json|limits\.json|product-facts\.json|v1\/(?:demo|meta|sources))(?:\/|$)/
/** Only rate windows count it, so the quota does not matter. */
const eventsPath = '/v1/stream'
/** Sockets of keys are served here. */
const socketPath = '/cable'
/** Paths that report the health of this instance, which no other instance can report. */
const ownPaths = new Set(['/health', '/v1/health', '/metrics'])
const unavailable = 503
/** The code of a response whose statement tried to write: a replica is read-only. */
const writerCode = 'STORAGE_UNAVAILABLE'
/** Errors for a quota slice that was used up between the check and the request. */
const spentCodes = new Set([
  'PAYMENT_REQUIRED',
  'MONTHLY_QUOTA_EXCEEDED',
  'TRIAL_LIMIT_EXCEEDED',
  'FREE_TIER_LIMIT_EXCEEDED',
])

/** How long a replica that is behind waits for the primary, and then answers without it. */
const freshWithinMs = 5000
const awayMs = 1000

/**
 * How long a request waits for a quota slice, milliseconds: before it is forwarded to the primary,
 * and while the primary is unreachable.
 */
const sliceWaitMs = { primary: 50, alone: 2000 }

/**
 * The requests that a replica answers itself: reads of data by keys without a quota, or with a
 * slice of it here. All others go to the primary.
 */
export function createReplicaAnswers(
  deps: ReplicaDeps,
): (request: Request) => Response | Promise<Response> {
  const { keys, mayAnswer, headerPrefix } = deps
  const unreachable = (request: Request): Response => {
    const problem = new Problem('STORAGE_UNAVAILABLE', 'The primary does not answer.')
    return problemResponse(request, problem, deps.unreachable(request))
  }
  const ask = (request: Request) => deps.ask(request).catch(() => unreachable(request))
  const keyOf = (request: Request): KeyState | undefined => {
    const { token } = credentialsOf(request, false)
    // The primary may know a key that this replica does not have yet.
    return token === undefined ? undefined : keys.find(token)
  }
  /**
   * The caller whose request this replica may answer; undefined: it must be forwarded to the
   * primary.
   */
  const callerOf = (request: Request, path: string): KeyState | 'anybody' | undefined => {
    if (request.method === 'POST') return readByPost.has(path) ? keyOf(request) : undefined
    if (!readMethods.has(request.method)) return undefined
    if (path === eventsPath) return keyOf(request) && 'anybody'
    if (openPaths.test(path)) return 'anybody'
    return answeredPaths.test(path) && !primaryPaths.test(path) ? keyOf(request) : undefined
  }
  const marked = (response: Response): Response => {
    const { lagMs, stale } = deps.view()
    response?.headers.set(`${headerPrefix}Replica-Lag`, lagText(lagMs))
    if (stale !== undefined) response?.headers.set(`${headerPrefix}Replica-Stale`, stale)
    return response
  }
  const unreadCopyOf = (request: Request) =>
    (request.body === null ? request : request.clone()) as Request
  const checked = (response: Response, unread: Request): Response | Promise<Response> => {
    if (response?.ok) return marked(response)
    const code = response?.headers.get('x-error-code') ?? ''
    return code === writerCode || spentCodes.has(code) ? ask(unread) : marked(response)
  }
  /** Returns no promise where the response is ready at once, as for nearly every read. */
  const answerNow = (request: Request): Response | Promise<Response> => {
    const unread = unreadCopyOf(request)
    const response = deps.handle(request)
    return response instanceof Promise
      ? response.then(later => checked(later, unread))
      : checked(response, unread)
  }
  const answer = (request: Request, sequence: string | null): Response | Promise<Response> =>
    sequence === null
      ? answerNow(request)
      : deps
          .reaches(Number(sequence), deps.waitMs)
          .then(isThere => (isThere ? answerNow(request) : ask(request)))
  /** A pool gives a slice in milliseconds; where it is empty the primary answers, if it is there. */
  const answerOnceMay = async (
    request: Request,
    key: KeyState,
    sequence: string | null,
  ): Promise<Response> => {
    if (await deps.comesToAnswer(key, sliceWaitMs.primary)) return await answer(request, sequence)
    const unread = unreadCopyOf(request)
    const byPrimary = await ask(unread)
    // The primary is unreachable, or does not know whether it is still the primary.
    if (byPrimary.status !== unavailable) return byPrimary
    const comes = await deps.comesToAnswer(key, sliceWaitMs.alone)
    return comes ? await answer(request, sequence) : byPrimary
  }
  const answerHere = (request: Request, caller: KeyState | 'anybody') => {
    const sequence = request.headers.get(sequenceHeader(headerPrefix))
    return caller === 'anybody' || mayAnswer(caller)
      ? answer(request, sequence)
      : answerOnceMay(request, caller, sequence)
  }
  let isAwayUntil = Number.NEGATIVE_INFINITY
  /**
   * The response of the primary, while it is reachable; an old response marked as old is better
   * than none.
   */
  const fresher = async (request: Request, caller: KeyState | 'anybody'): Promise<Response> => {
    if (deps.monotonic() < isAwayUntil) return await answerHere(request, caller)
    const unread = unreadCopyOf(request)
    const byPrimary = deps.ask(request).catch(() => undefined)
    const response = await within(freshWithinMs, byPrimary)
    if (response && response.status < 500) return response
    isAwayUntil = deps.monotonic() + awayMs
    // A late response is discarded.
    void byPrimary.then(late => late?.body?.cancel()).catch(() => undefined)
    return await answerHere(unread, caller)
  }
  return request => {
    const pathname = pathIn(request.url)
    if (ownPaths.has(pathname)) return deps.handle(request)
    if (pathname === socketPath) {
      const { token = '' } = credentialsOf(request, false)
      return isSessionToken(token) ? deps.connect(request) : deps.handle(request)
    }
    // Clients of a stream wait longer for its next event than a connection may idle.
    if (pathname === eventsPath) deps.stays(request)
    const caller = callerOf(request, pathname)
    if (caller === undefined) return ask(request)
    if (pathname === eventsPath || deps.view().stale === undefined)
      return answerHere(request, caller)
    return fresher(request, caller)
  }
}

/** The path of an address: it begins after the host and ends before the query. */
function pathIn(url: string): string {
  const from = url.indexOf('/', url.indexOf('//') + 2)
  const to = url.indexOf('?', from)
  return to === -1 ? url.slice(from) : url.slice(from, to)
}

/** Milliseconds, rounded up. Before the first message the lag is unknown. */
const lagText = (ms: number): string => (Number.isFinite(ms) ? String(Math.ceil(ms)) : 'unknown')
