import type { Ids } from '../lib/ids.ts'
import type { TurnQueue } from '../lib/process/loop-turns.ts'
import type { AccessLog } from './access-log.ts'
import { constantHeaders, isComplete } from './answer/complete.ts'
import { corsHeaders, preflight } from './answer/cors.ts'
import type { Encoder } from './answer/encoding.ts'
import { createCommitAnswers, type ReplicatedCommits } from './commit-answers.ts'
import { problemResponse } from './problem/details.ts'
import { Problem } from './problem/problem.ts'
import type { Links } from './problem/refusals.ts'
import { requestIdOf } from './request-id.ts'

export interface FrontDeps extends ReplicatedCommits {
  handle(request: Request): Response | Promise<Response>
  ids: Ids
  links(request: Request): Links
  corsOrigins: readonly string[]
  /**
   * The prefix of the service's own headers; absent: pages of other origins cannot send these
   * headers.
   */
  headerPrefix?: string
  /** The service is only reached by https: browsers are instructed to use nothing else (HSTS). */
  isSecure?: boolean
  /** The `Vary` header of every response; empty: none. */
  vary: string
  /** Requests whose address was rewritten, with the original, whose connection is still needed. */
  originals: WeakMap<Request, Request>
  /** Why nothing may be written now; absent: it always may be. */
  refusal?: (() => string | undefined) | undefined
  /** Compresses bodies for clients that accept it; absent: bodies are sent as they are. */
  encoder?: Encoder
  /** Answers competing requests after the event loop has polled all sockets; absent: at once. */
  turns?: TurnQueue<Request>
  /** Logs a line per response; absent: none, at no cost. */
  accessLog?: AccessLog
}

/** Adds headers to a response. A connection that became a socket has none. */
function guardedBy(constant: Readonly<Record<string, string>>) {
  const entries = Object.entries(constant)
  return (response: Response): Response => {
    if (response) for (const [name, value] of entries) response.headers.set(name, value)
    return response
  }
}

/** Sets the header that forbids browsers to guess the content type. */
export const withSniffingOff = guardedBy(constantHeaders(false))

/**
 * Answers a request whose connection was closed while it waited for its turn: nothing has changed,
 * and no one receives the response. The runtime closes a connection on which another request
 * arrives during the wait.
 */
const abandoned = () => new Response(null, { status: 499 })

const slash = 47
const hostMessage = 'Exactly one well-formed Host header is required.'

/** Other methods are refused before routing; the runtime rejects names that are not HTTP tokens. */
export const servedMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** Methods without writes that another instance must have. */
export const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A name or an address in brackets, and a port where there is one. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i
const hostCharacters = { min: 4, max: 261 }
const portMax = 65_535

/** Shorter ones shift the path that the router reads by position. */
function isWellFormedHost(host: string): boolean {
  if (host.length < hostCharacters.min || host.length > hostCharacters.max) return false
  const match = hostPattern.exec(host)
  // Names such as `xn--` and `1.2.3.4.5` match the pattern but are invalid hosts.
  return match !== null && Number(match[1] ?? 0) <= portMax && URL.canParse(`http://${host}`)
}

/**
 * Steps before routing: ambiguous requests are refused, preflights answered, repeated slashes
 * collapsed. They run in front of the router because the router reads the path by position: a Host
 * of one to three characters would shift it.
 */
export function front(deps: FrontDeps): (request: Request) => Response | Promise<Response> {
  const guarded = guardedBy(constantHeaders(deps.isSecure === true))
  const varied = (response: Response): Response => {
    if (deps.vary !== '') response.headers.append('vary', deps.vary)
    return response
  }
  const refuse = (request: Request, problem: Problem, more: Record<string, string> = {}) => {
    const context = {
      requestId: requestIdOf(request, deps.ids),
      docsUrl: deps.links(request).docsUrl,
    }
    return varied(problemResponse(request, problem, context, more))
  }
  const notImplemented = (request: Request): Response => {
    const headers: Record<string, string> = { allow: [...servedMethods].join(', ') }
    const origin = request.headers.get('origin')
    if (origin !== null) corsHeaders(headers, origin, deps.corsOrigins, deps.headerPrefix)
    const shown = request.method.slice(0, 20)
    const why = `${shown}: is not a method of this service.`
    return refuse(request, new Problem('METHOD_NOT_IMPLEMENTED', why), headers)
  }
  const commits = createCommitAnswers(deps, (request, why) =>
    refuse(request, new Problem('STORAGE_UNAVAILABLE', why)),
  )
  /**
   * Routes a 404 again with a single slash at the start of its path. Other responses are not
   * checked, because parsing the address costs as much as looking up the key.
   */
  const again = (request: Request, answer: Response): Response | Promise<Response> => {
    // A connection that became a socket has no response.
    if (answer?.status !== 404) return answer
    const { url } = request
    const pathAt = url.indexOf('/', 8)
    if (url.charCodeAt(pathAt + 1) !== slash) return answer
    const collapsed = new Request(
      url.slice(0, pathAt) + url.slice(pathAt).replace(/^\/+/, '/'),
      request,
    )
    deps.originals.set(collapsed, request)
    deps.accessLog?.reroute(request, collapsed)
    return commits.onceCharged(collapsed, deps.handle(collapsed))
  }
  const answer = (request: Request): Response | Promise<Response> => {
    if (!isWellFormedHost(request.headers.get('host') ?? ''))
      return refuse(request, new Problem('MALFORMED_REQUEST', hostMessage))
    if (!servedMethods.has(request.method)) return notImplemented(request)
    // Other OPTIONS requests are about the path, which the router knows.
    if (request.method === 'OPTIONS' && request.headers.has('access-control-request-method'))
      return varied(preflight(request, deps.corsOrigins, deps.headerPrefix))
    const isRead = readMethods.has(request.method)
    if (!isRead && request.signal.aborted) return abandoned()
    const refusal = isRead ? undefined : deps.refusal?.()
    if (refusal !== undefined)
      return refuse(
        request,
        new Problem('STORAGE_UNAVAILABLE', `Nothing is written here: ${refusal}.`),
      )
    const sent = deps.handle(request)
    const answered =
      sent instanceof Promise
        ? sent.then(response => again(request, response))
        : again(request, sent)
    return commits.onceCharged(request, isRead ? answered : commits.afterWrite(request, answered))
  }
  const { turns, encoder } = deps
  const finished = (request: Request, response: Response) => {
    if (isComplete(response)) return response
    // A connection that became a socket has no response.
    return encoder && response ? encoder.leave(request, guarded(response)) : guarded(response)
  }
  const leave = (request: Request): Response | Promise<Response> => {
    const sent = answer(request)
    return sent instanceof Promise
      ? sent.then(response => finished(request, response))
      : finished(request, sent)
  }
  const { accessLog } = deps
  const inTurn = turns ? (request: Request) => turns.run(request, () => leave(request)) : leave
  if (!accessLog) return inTurn
  return async request => {
    const startedMs = accessLog.now()
    return accessLog.leave(request, await inTurn(request), startedMs)
  }
}
