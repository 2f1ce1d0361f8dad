import { Elysia, ValidationError } from 'elysia'
import { storageFaultOf } from '../database/storage-fault.ts'
import { wrongValue } from '../lib/text/wrong-value.ts'
import { corsHeaders } from './answer/cors.ts'
import { Outcome } from './answer/outcome.ts'
import { type AccessPlugin, UnknownSegment } from './gate/access.ts'
import type { KnownSegment } from './gate/access-kind.ts'
import { createKnownNames, type KnownNames } from './input/known-names.ts'
import { bodyFor, problemResponse } from './problem/details.ts'
import { Problem, type ProblemContext, passing, problemHeaders } from './problem/problem.ts'
import type { Links } from './problem/refusals.ts'
import { problemOfValidation } from './problem/validation.ts'
import type { Profiles } from './profiles/profiles.ts'
import { refusalStatusHeader } from './query-workers/messages.ts'
import { requestIdOf } from './request-id.ts'
import { pathOf } from './request-path.ts'
import { createSettle, type Leaving, type SettleDeps } from './settle.ts'

export interface BaseDeps extends SettleDeps {
  access: AccessPlugin
  links(request: Request): Links
  /** The known paths, for suggestions; absent: none are suggested. */
  names?: KnownNames
  /** Shapes by client, where any are configured. */
  profiles?: Profiles | undefined
  /** Records an error; true if its cause is the disk. */
  disk?: { failed(error: unknown): boolean }
  /**
   * The page for browsers at unknown addresses; absent: browsers get the same response as other
   * clients.
   */
  pages?: UnknownPages | undefined
  /** Where a path describes its authorization server; undefined: it has none. */
  resourceMetadata?: ((path: string) => string | undefined) | undefined
  /** Counts errors by their code. */
  tally?: { refuse(code: string): void }
}

/** The page for unknown addresses, which the console sets when it is mounted. */
export interface UnknownPages {
  answer?: (request: Request) => Promise<Response>
}

/**
 * The response where no route matches: an empty body, as the API specifies, with the error in the
 * headers. Clients that accept JSON get the error with similar paths, and browsers get a page.
 * `OPTIONS`, which no route takes, gets the methods of the path. Pages of other origins may read
 * each of them.
 */
export function unknownRoute({
  names = createKnownNames(),
  ids,
  links,
  corsOrigins,
  headerPrefix,
  profiles,
  pages,
}: BaseDeps) {
  return (request: Request, known?: KnownSegment): Response | Promise<Response> => {
    const headers: Record<string, string> = { ...(profiles && { vary: profiles.vary }) }
    const origin = request.headers.get('origin')
    if (origin !== null) corsHeaders(headers, origin, corsOrigins, headerPrefix)
    const path = pathOf(request)
    const nearest = names.nearest(path)
    if (request.method === 'OPTIONS') {
      if (nearest.methods.length > 0) headers.allow = allowOf(nearest.methods)
      return new Response(null, { status: 204, headers })
    }
    // A route that accepts the method but reports an unknown path does not count.
    const methods = nearest.methods.includes(request.method) ? [] : nearest.methods
    const { paths, parameter } = nearest
    const why =
      methods.length === 0 && nearest.methods.length > 0 && parameter
        ? wrongSegment(path, parameter, known)
        : notHere(request.method, path, paths, methods)
    const isJson = acceptsJson(request)
    // If the client accepts no JSON, the API specification treats a wrong method as an unknown
    // path.
    const code = isJson && methods.length > 0 ? 'METHOD_NOT_ALLOWED' : 'ROUTE_NOT_FOUND'
    const problem = new Problem(code, why, {
      method: request.method,
      path: path.slice(0, pathCharactersMax),
      nearest_paths: paths,
      allowed_methods: methods,
    })
    if (methods.length > 0) headers.allow = allowOf(methods)
    // Other clients get another body at the same address.
    headers['cache-control'] = 'no-store'
    if (isJson) {
      const context = { requestId: requestIdOf(request, ids), docsUrl: links(request).docsUrl }
      return problemResponse(request, problem, context, headers)
    }
    Object.assign(headers, problemHeaders(problem))
    if (pages?.answer && isBrowser(request))
      return pages.answer(request).then(page => notFoundPage(page, headers))
    return new Response('', { status: 404, headers: { ...headers, 'content-type': 'text/html' } })
  }
}

/** The methods of a path in `Allow`, with those that every such path has. */
const allowOf = (methods: readonly string[]): string =>
  [...methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(
    ', ',
  )

function notFoundPage(page: Response, headers: Readonly<Record<string, string>>): Response {
  const answer = new Response(page.body, { status: 404, headers: page.headers })
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}

/** Whether the client is a browser: programs that accept anything do not name HTML. */
const isBrowser = ({ method, headers }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.get('accept') ?? '')

/**
 * The root of the application: how bodies are read, how every answer is settled and how every error
 * looks.
 */
export function createBase(deps: BaseDeps) {
  const { access, ids, log, links, profiles, disk, tally, resourceMetadata } = deps
  const settle = createSettle(deps)
  const answerUnknown = unknownRoute(deps)
  const app = new Elysia({ strictPath: false, normalize: true, precompile: false })
    .use(access)
    // Registered first, so that no text of an unknown error reaches a response.
    .onError({ as: 'global' }, ({ error, code, set, request, requestContext }) => {
      // Elysia takes the code of a Problem for its own: only its own NOT_FOUND is a route that does
      // not exist.
      if (code === 'NOT_FOUND' && !(error instanceof Problem))
        return answerUnknown(request, error instanceof UnknownSegment ? error.known : undefined)
      const problem = problemOf(error, code)
      for (const name of resourceHeaders) delete set.headers[name]
      disk?.failed(error)
      tally?.refuse(problem.code)
      const requestId = requestIdOf(request, ids)
      const context: ProblemContext = { requestId, docsUrl: links(request).docsUrl }
      if (problem.status === 500)
        log.error('request_failed', {
          message: 'a request failed inside the service',
          request_id: requestId,
          method: request.method,
          path: pathOf(request),
          error,
        })
      set.headers['x-request-id'] = requestId
      const instead =
        requestContext && 'meter' in requestContext.access
          ? requestContext.access.refusalAnswer?.(problem, request)
          : undefined
      set.status = instead?.status ?? problem.status
      // A spreadsheet reads errors with the status 200.
      if (set.status !== 200) Object.assign(set.headers, problemHeaders(problem))
      if (set.status === 401)
        set.headers['www-authenticate'] = challengeOf(resourceMetadata?.(pathOf(request)))
      if (requestContext && instead) {
        requestContext.outcome = problem.status
        if (requestContext.vouched) set.headers[refusalStatusHeader] = String(problem.status)
        set.headers['content-type'] = instead.contentType
        return instead.text
      }
      return bodyFor(request, problem, context, set.headers)
    })
  // The request is settled after its response was reshaped, because the final status counts. One
  // hook does both: Elysia skips the hooks after one that returns a value.
  const settleSwitched = ({ set, request, requestContext, responseValue }: Leaving) => {
    // Client profiles do not reshape responses of unknown routes.
    if (!profiles || (!requestContext && responseValue instanceof Response))
      return settle({ set, request, requestContext, responseValue })
    const headers = set.headers as Record<string, string>
    const outgoing = { headers, status: set.status }
    const switched = profiles.leave({
      request,
      route: requestContext?.route,
      set: outgoing,
      value: responseValue,
    })
    set.status = outgoing.status
    const answer = settle({
      set,
      request,
      requestContext,
      responseValue: switched === undefined ? responseValue : switched,
    })
    // Elysia sends any value; its types know of Responses only.
    return answer ?? (switched as Response | undefined)
  }
  if (profiles) app.onRequest(({ request }) => new Outcome(profiles.arrive, request).answer)
  return app.mapResponse(
    { as: 'global' },
    ({ set, request, requestContext, responseValue }) =>
      new Outcome(settleSwitched, { set, request, requestContext, responseValue }).answer,
  )
}

/** Headers that describe the resource that a handler was about to send, and not the error. */
const resourceHeaders = ['content-type', 'content-disposition', 'etag', 'last-modified']

/** The schemes that a key may come with; no `Basic`, for which browsers open a dialog. */
const challenge = 'Token realm="api", Bearer realm="api"'

/** With the address of the metadata by which a client finds where to get a token (RFC 9728). */
const challengeOf = (metadata: string | undefined): string =>
  metadata === undefined ? challenge : `Bearer realm="api", resource_metadata="${metadata}"`

const pathCharactersMax = 200

/** Whether JSON is named among what is accepted, alone or as the suffix of a type. */
const acceptsJson = (request: Request): boolean =>
  /[/+]json\b/i.test(request.headers.get('accept') ?? '')

function notHere(
  method: string,
  path: string,
  paths: readonly string[],
  methods: readonly string[],
): string {
  const shown = path.slice(0, pathCharactersMax)
  if (methods.length > 0) return `${method} ${shown}: the path takes ${methods.join(', ')} only.`
  const meant = paths.length > 0 ? ` Did you mean ${paths.join(', ')}?` : ''
  return `${shown}: there is no such path.${meant} GET /openapi.json lists all of them.`
}

/** The path exists, and does not accept the value of its parameter. */
const wrongSegment = (
  path: string,
  { name, value }: { name: string; value: string },
  { right, accepted }: Pick<KnownSegment, 'right' | 'accepted'> = {
    right: 'a value that GET /openapi.json describes',
  },
): string =>
  `${path.slice(0, pathCharactersMax)}: ${wrongValue(`{${name.slice(1)}}`, right, value, accepted)}`

/** Converts an error to the one for the caller. Only a Problem has details. */
function problemOf(error: unknown, code: string | number): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ValidationError) return problemOfValidation(error)
  // Errors of a body parser arrive wrapped.
  if (code === 'PARSE' && error instanceof Error && error.cause instanceof Problem)
    return error.cause
  if (code === 'PARSE') return new Problem('MALFORMED_JSON', 'The body must be valid JSON.')
  const fault = storageFaultOf(error)
  if (fault) {
    return passing(
      'STORAGE_UNAVAILABLE',
      `The data cannot be written: ${fault.reason}. Try again.`,
      5,
    )
  }
  return new Problem(
    'INTERNAL_ERROR',
    'An unexpected error occurred. The request id names it in the log.',
  )
}
