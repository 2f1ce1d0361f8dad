import type { KeyState } from '../service/keys/keyring.ts'
import type { Standing } from '../service/keys/meter.ts'
import { readMethods, sequenceHeader } from './front.ts'
import { credentialsOf } from './gate/credentials.ts'
import { Problem, problemBody, problemHeaders } from './problem/problem.ts'

export interface ReplicaDeps {
  /** Answers from the copy. */
  handle(request: Request): Response | Promise<Response>
  /** Asks the primary. */
  ask(request: Request): Promise<Response>
  keys: { find(token: string): KeyState | undefined }
  meter: { standing(key: KeyState): Pick<Standing, 'window' | 'used'> }
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

/** So many requests of a quota are left, or such a share of it, when only the primary answers. */
const marginRequests = 10_000
const marginShare = 0.1
/** Counts that are older say nothing. */
const countedMaxMs = 5000

/**
 * What a replica answers itself: reads of data by keys that are far from the end of their quota.
 * Whatever else there is, is the primary's.
 */
export function createReplicaAnswers(
  deps: ReplicaDeps,
): (request: Request) => Response | Promise<Response> {
  const { keys, meter, headerPrefix } = deps
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
    return key !== undefined && hasMargin(meter.standing(key))
  }
  /** Near its end a quota is counted in one place, and where others' requests are not known. */
  const hasMargin = ({ window: { limit }, used }: Pick<Standing, 'window' | 'used'>) =>
    limit === null ||
    (limit - used > Math.max(marginRequests, limit * marginShare) && deps.lagMs() < countedMaxMs)
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
    return response?.headers.get('x-error-code') === writerCode
      ? await ask(asked)
      : marked(response)
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
