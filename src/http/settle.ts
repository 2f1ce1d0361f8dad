import type { Runtime } from '../config/runtime.ts'
import { scopeOf } from '../plans/roles/scopes.ts'
import { plainJsonType } from './answer/complete.ts'
import { corsHeaders } from './answer/cors.ts'
import { plainEtags } from './answer/encoding.ts'
import { withIgnoredParameters } from './answer/ignored-parameters.ts'
import type { Text } from './answer/own-text.ts'
import { hasEtag } from './answer/reply.ts'
import { detailsOf } from './gate/audited.ts'
import { cacheControlOf } from './gate/cache-control.ts'
import type { Gate } from './gate/gate.ts'
import type { RequestContext } from './gate/request-context.ts'
import { ignoredParametersHeader } from './input/ignored-parameters.ts'
import { Problem } from './problem/problem.ts'
import { requestIdOf } from './request-id.ts'
import { pathOf } from './request-path.ts'

export interface SettleDeps extends Pick<Runtime, 'ids' | 'log'> {
  gate: Pick<Gate, 'answer' | 'leave'>
  corsOrigins: readonly string[]
  /**
   * The prefix of the service's own headers; absent: pages of other origins cannot read these
   * headers.
   */
  headerPrefix?: string
}

/** A response that is about to be sent. */
export interface Leaving {
  set: { headers: unknown; status?: number | string }
  request: Request
  requestContext: RequestContext | undefined
  responseValue: unknown
}

/**
 * Settles the request context of a response and adds every header. Returns the response itself
 * where it can be created here: creating one from text and Headers in Elysia copies them once more.
 */
type Settle = (leaving: Leaving) => Response | undefined

export function createSettle({ gate, ids, log, corsOrigins, headerPrefix }: SettleDeps): Settle {
  const ignoredHeader = ignoredParametersHeader(headerPrefix ?? '').toLowerCase()
  const logAction = (
    actor: string,
    request: Request,
    status: number,
    headers: Record<string, string>,
  ) =>
    log.info('admin_action', {
      actor,
      method: request.method,
      path: pathOf(request),
      status,
      request_id: headers['x-request-id'],
    })
  return ({ set, request, requestContext, responseValue }) => {
    // An unknown route, also where a path's parameter names none: no body, no request id. A refusal
    // that a handler passes on has a context.
    if (!requestContext && responseValue instanceof Response && responseValue.status === 404)
      return undefined
    const headers = set.headers as Record<string, string>
    headers['x-request-id'] ??= requestIdOf(request, ids)
    const origin = request.headers.get('origin')
    if (origin !== null) corsHeaders(headers, origin, corsOrigins, headerPrefix)
    if (!requestContext) return undefined
    if (headers['cache-control'] === undefined && !hasOwnCacheControl(responseValue)) {
      const cacheControl = cacheControlOf(
        requestContext.access,
        requestContext.route,
        request.method,
      )
      if (cacheControl !== undefined) headers['cache-control'] = cacheControl
    }
    const status = responseValue instanceof Response ? responseValue.status : set.status
    const sent = typeof status === 'number' ? status : 200
    // A refusal with another status, as spreadsheets get it, is sent as it is.
    if (requestContext.outcome === undefined && !isMet(request, sent, headers)) {
      if (responseValue instanceof Response) void responseValue.body?.cancel()
      // They are of what is not sent, such as the coding of its bytes.
      set.headers = {}
      throw unmet(headers)
    }
    const { action } = requestContext
    if (action) action.details = detailsOf(responseValue, action.changes)
    if (requestContext.actor !== undefined && isAction(requestContext, request, sent))
      logAction(requestContext.actor, request, sent, headers)
    const ignored = headers[ignoredHeader]
    // The `metadata` of an alert belongs to the caller.
    const named =
      ignored !== undefined && sent === 200 && scopeOf(requestContext.route) !== 'alerts'
        ? withIgnoredParameters(responseValue, ignored, headers)
        : undefined
    if (named !== undefined) headers['content-type'] ??= plainJsonType
    const { vouched } = requestContext
    // The framework would make text of the numbers.
    const bytes = responseValue instanceof Uint8Array ? responseValue : undefined
    const text = vouched
      ? (named ?? (bytes as Text | undefined))
      : textOf(named ?? responseValue, headers)
    if (text !== undefined) {
      const answer = vouched
        ? new Response(text, { status: sent, headers })
        : gate.answer(requestContext, sent, headers, text)
      if (!answer) return undefined
      // Headers that remain here would be added to a response that has all of them.
      set.headers = {}
      set.status = 200
      return answer
    }
    const all = gate.leave(requestContext, sent, headers)
    // A value that becomes a Response takes Headers as they are; into a Response of a handler,
    // Elysia copies the fields of an object.
    if (all)
      Object.assign(set, {
        headers: responseValue instanceof Response ? Object.fromEntries(all) : all,
      })
    return undefined
  }
}

/**
 * Whether a read meets its `If-Match` or `If-Unmodified-Since` (RFC 9110); one without an entity tag,
 * such as a stream, has no version that `If-Match` could mean. Known before anything is charged.
 */
function isMet(request: Request, status: number, headers: Record<string, string>): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return true
  if ((status < 200 || status > 299) && status !== 304) return true
  const tags = request.headers.get('if-match')
  const { etag, 'last-modified': modified } = headers
  // A query worker has encoded its answer already.
  if (tags !== null) return etag === undefined || hasEtag(tags, plainEtags(etag))
  if (modified === undefined) return true
  return !(Date.parse(modified) > Date.parse(request.headers.get('if-unmodified-since') ?? ''))
}

/** Thrown where the answer would leave: the framework then settles the refusal. */
const unmet = ({ etag }: Record<string, string>): Problem =>
  new Problem(
    'PRECONDITION_FAILED',
    'The resource is not the one that If-Match or If-Unmodified-Since names.',
    {},
    etag === undefined ? {} : { headers: { etag } },
  )

const hasOwnCacheControl = (value: unknown): boolean =>
  value instanceof Response && value.headers.has('cache-control')

/** The text that a value is sent as; undefined: Elysia creates the response. */
function textOf(value: unknown, headers: Record<string, string>): Text | undefined {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return value as Uint8Array<ArrayBuffer>
  if (!isListOrFields(value)) return undefined
  headers['content-type'] ??= plainJsonType
  return JSON.stringify(value)
}

/** Instances of classes are excluded: Elysia sends them as responses or files. */
const isListOrFields = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)

/** Ingestion logs its own lines, which include the number of rows. */
const dataRoutes: ReadonlySet<string> = new Set([
  '/admin/v1/observations',
  '/admin/v1/observations/compare',
  '/admin/v1/datasets/:name',
  '/admin/v1/batches',
  '/admin/v1/batches/:id/end',
])

const isAction = ({ route }: RequestContext, { method }: Request, status: number): boolean =>
  method !== 'GET' && method !== 'HEAD' && !(status < 300 && dataRoutes.has(route))
