import type { KeyState } from '../service/keys/keyring.ts'
import { readMethods, sequenceHeader } from './front.ts'
import { credentialsOf } from './gate/credentials.ts'
import { Problem, problemBody, problemHeaders } from './problem/problem.ts'

export interface ReplicaDeps {
  /** Answers from the copy. */
  handle(request: Request): Response | Promise<Response>
  /** Asks the primary. */
  ask(request: Request): Promise<Response>
  keys: { find(token: string): KeyState | undefined }
  /** Whether requests of a key that count may be answered here. */
  mayAnswer(key: KeyState): boolean
  /** What stands in the answer where the primary does not answer. */
  unreachable(request: Request): { requestId: string; docsUrl: string }
  /** The connection of a request may be silent for as long as its answer goes on. */
  stays(request: Request): void
  lagMs(): number
  reaches(sequence: number, withinMs: number): Promise<boolean>
  waitMs: number
  headerPrefix: string
}

/** What stands on prices, the catalogue and rows that are read at each request. */
const answeredPaths =
  /^\/v1\/(?:prices|commodities|analytics|indicators|spreads|futures|storage|forecasts|fuel-surcharge|bunker-fuels|marine-fuels|marine-ports|diesel-prices|ei|rig-counts|drilling|drilling-intelligence|pseo|well-production|market-brief|data-quality|alerts|subscriptions|notifications|scheduled-deliveries)(?:\/|$)/
/** What an account keeps and changes as it is read. */
const primaryPaths = /^\/v1\/prices\/board(?:\/|$)/
/** A question that is too long for an address, and writes nothing. */
const askedByPost = new Set(['/v1/prices/batch'])
/** What anybody may read. */
const openPaths =
  /^\/(?:docs|swagger|openapi\.json|limits\.json|product-facts\.json|v1\/(?:demo|meta|sources))(?:\/|$)/
/** Counted by the windows of rates only, so that the quota says nothing of it. */
const eventsPath = '/v1/stream'
/** A socket cannot be passed on: who has no key here is refused here. */
const socketPath = '/cable'
/** How this copy is, which nobody else can say. */
const ownPaths = new Set(['/health', '/v1/health', '/metrics'])
/** An answer that says so: a statement wanted to write, and a copy is not written. */
const writerCode = 'STORAGE_UNAVAILABLE'
/** What is taken of the slice of a quota between the look at it and the request. */
const spentCodes = new Set([
  'PAYMENT_REQUIRED',
  'MONTHLY_QUOTA_EXCEEDED',
  'TRIAL_LIMIT_EXCEEDED',
  'FREE_TIER_LIMIT_EXCEEDED',
])

/**
 * What a replica answers itself: reads of data by keys without a quota, or with a slice of it here.
 * Whatever else there is, is the primary's.
 */
export function createReplicaAnswers(
  deps: ReplicaDeps,
): (request: Request) => Response | Promise<Response> {
  const { keys, mayAnswer, headerPrefix } = deps
  const ask = async (request: Request): Promise<Response> => {
    try {
      return await deps.ask(request)
    } catch {
      const problem = new Problem('STORAGE_UNAVAILABLE', 'The primary does not answer.')
      const about = deps.unreachable(request)
      return Response.json(problemBody(problem, about), {
        status: problem.status,
        headers: { ...problemHeaders(problem), 'x-request-id': about.requestId },
      })
    }
  }
  const keyOf = (request: Request): KeyState | undefined => {
    const { token } = credentialsOf(request, false)
    // A key that is not here yet may be there.
    return token === undefined ? undefined : keys.find(token)
  }
  const answersKey = (request: Request): boolean => {
    const key = keyOf(request)
    return key !== undefined && mayAnswer(key)
  }
  const isAnswered = (request: Request, path: string): boolean => {
    if (request.method === 'POST') return askedByPost.has(path) && answersKey(request)
    if (!readMethods.has(request.method)) return false
    if (path === eventsPath) return keyOf(request) !== undefined
    return (
      openPaths.test(path) ||
      (answeredPaths.test(path) && !primaryPaths.test(path) && answersKey(request))
    )
  }
  const marked = (response: Response): Response => {
    response?.headers.set(`${headerPrefix}Replica-Lag`, lagText(deps.lagMs()))
    return response
  }
  const answer = async (request: Request, sequence: string | null): Promise<Response> => {
    if (sequence !== null && !(await deps.reaches(Number(sequence), deps.waitMs)))
      return await ask(request)
    const asked = (request.body === null ? request : request.clone()) as Request
    const response = await deps.handle(request)
    const code = response?.headers.get('x-error-code') ?? ''
    return code === writerCode || spentCodes.has(code) ? await ask(asked) : marked(response)
  }
  return request => {
    const { pathname } = new URL(request.url)
    if (ownPaths.has(pathname) || pathname === socketPath) return deps.handle(request)
    // Clients of a stream wait longer for its next event than a connection may idle.
    if (pathname === eventsPath) deps.stays(request)
    if (!isAnswered(request, pathname)) return ask(request)
    return answer(request, request.headers.get(sequenceHeader(headerPrefix)))
  }
}

/** Milliseconds, rounded up. Before the first message nothing is known of it. */
const lagText = (ms: number): string => (Number.isFinite(ms) ? String(Math.ceil(ms)) : 'unknown')
