import type { Ids } from '../../lib/ids.ts'
import type { Meter } from '../../topics/keys/service/meter.ts'
import type { Reply } from '../answer/reply.ts'
import { wholeBody } from '../answer/stream.ts'
import { type Connections, idleSeconds } from '../cable.ts'
import { overloaded, queryWorkerUnavailable } from '../problem/refusals.ts'
import type { Profiles } from '../profiles/profiles.ts'
import { type QueryWorkerCaller, refusalStatusHeader } from '../query-workers/messages.ts'
import type { QueryWorkerPool } from '../query-workers/pool.ts'
import { requestIdOf } from '../request-id.ts'
import type { Caller, RequestContext } from './request-context.ts'

/** Hands admitted heavy requests to the query workers. */
export type QueryWorkerDispatch = ReturnType<typeof createQueryWorkerDispatch>

export interface QueryWorkerDispatchDeps {
  pool: Pick<QueryWorkerPool, 'ask' | 'rest'>
  meter: Pick<Meter, 'noteRequested'>
  profiles: Profiles | undefined
  ids: Ids
  now(): number
  /** The time by which everything visible to a read of now was recorded. */
  snapshotAt(): number
  connections: Pick<Connections, 'idle'>
  /** Whether the route refuses the query for the text of a parameter. */
  isMalformed(method: string, route: string, query: URLSearchParams): boolean
  /** Whether the catalogue has a series or alias of this name. */
  isKnownCode(code: string): boolean
}

/** Parameters of heavy operations that name series, one or several with commas. */
const codeParameters = ['by_code', 'code', 'codes', 'code1', 'code2', 'commodity']

/** Longer than a request may wait for a query worker and then for its response. */
const waitingSeconds = 60

/** The request headers that a query worker gets; a response depends on no others but the id. */
const passedOn = [
  'accept',
  'accept-encoding',
  'content-type',
  'if-match',
  'if-range',
  'prefer',
  'range',
]
/** Headers that the main thread sets itself, or that belong to the connection. */
const mainThreadHeaders = new Set([
  'content-length',
  'date',
  'connection',
  'transfer-encoding',
  'x-request-id',
])

export function createQueryWorkerDispatch({
  pool,
  meter,
  profiles,
  ids,
  now,
  snapshotAt,
  connections,
  isMalformed,
  isKnownCode,
}: QueryWorkerDispatchDeps) {
  const namesUnknownCode = (texts: (string | undefined)[]): boolean =>
    texts.some(text => text?.split(',').some(code => code.trim() !== '' && !isKnownCode(code)))
  /** Checks for refusals first, so that no request waits for a query worker only to be refused. */
  const isRefused = ({ route }: RequestContext, { method, url }: Request): boolean => {
    const { pathname, searchParams } = new URL(url)
    if (route.endsWith('/:code') && namesUnknownCode([lastSegment(pathname)])) return true
    if (searchParams.size === 0) return false
    return (
      isMalformed(method, route, searchParams) ||
      namesUnknownCode(codeParameters.flatMap(name => searchParams.getAll(name)))
    )
  }
  const headersOf = (request: Request): [string, string][] => {
    const headers = passedOn.flatMap((name): [string, string][] => {
      // Only GET has ranges.
      const value = request.method === 'HEAD' && name === 'range' ? null : request.headers.get(name)
      return value === null ? [] : [[name, value]]
    })
    const condition = profiles?.conditionOf(request) ?? request.headers.get('if-none-match')
    return condition === null ? headers : [...headers, ['if-none-match', condition]]
  }

  const ask = async (
    requestContext: RequestContext,
    request: Request,
    body: unknown,
    set: Reply,
  ): Promise<Response | undefined> => {
    const { caller } = requestContext
    const requestId = requestIdOf(request, ids)
    set.headers['x-request-id'] = requestId
    // The connection is silent while the worker answers, and must not count as idle.
    connections.idle(request, waitingSeconds)
    const outcome = await pool.ask(caller?.key.account.account.id ?? requestContext.route, {
      url: request.url,
      // The framework counts the bytes that HEAD leaves out, so it needs the body of GET.
      method: request.method === 'HEAD' ? 'GET' : request.method,
      // Errors and log lines of the worker name the request as the response does.
      headers: [...headersOf(request), ['x-request-id', requestId]],
      body: body === undefined ? undefined : JSON.stringify(body),
      caller: caller && plainCaller(caller),
      profile: profiles?.assignedTo(request),
      now: now(),
      snapshotAt: snapshotAt(),
    })
    if (outcome.kind === 'needs_writer' || outcome.kind === 'no_worker') return undefined
    connections.idle(request, idleSeconds)
    if (outcome.kind === 'overloaded') throw overloaded()
    if (outcome.kind === 'lost') throw queryWorkerUnavailable()
    if (caller)
      for (const { seriesIds, etag } of outcome.asked)
        meter.noteRequested(caller.key, seriesIds, etag)
    for (const [name, value] of outcome.headers) {
      if (name === refusalStatusHeader) requestContext.outcome = Number(value)
      else if (!mainThreadHeaders.has(name)) set.headers[name] = value
    }
    set.status = outcome.status
    return new Response(
      outcome.goesOn ? pool.rest(outcome.id, outcome.body) : bodyOf(outcome.status, outcome.body),
      { status: outcome.status },
    )
  }

  return {
    /**
     * Returns the response; undefined if the main thread must answer, because the request writes or
     * no worker starts.
     */
    answer(requestContext: RequestContext, request: Request, body: unknown, set: Reply) {
      if (isRefused(requestContext, request)) return undefined
      return ask(requestContext, request, body, set)
    },
  }
}

const bodyOf = (status: number, body: Uint8Array<ArrayBuffer>) =>
  isBodiless(status) ? null : wholeBody(body)

/** Undefined where it cannot be decoded. */
function lastSegment(path: string): string | undefined {
  try {
    return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
  } catch {
    return undefined
  }
}

const isBodiless = (status: number): boolean => status === 204 || status === 304

/** The caller without what only the main thread can use: other keys, networks, the token's hash. */
const plainCaller = ({ key: state, entitled, session }: Caller): QueryWorkerCaller => ({
  key: state.key,
  account: state.account.account,
  holder: state.holder.account,
  role: state.holder.role,
  entitled,
  session,
})
