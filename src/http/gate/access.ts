import { Elysia, NotFoundError } from 'elysia'
import type { Viewer } from '../../topics/catalogue/service/viewers.ts'
import type { Reply } from '../answer/reply.ts'
import { readBody } from '../input/body.ts'
import type { IgnoredParameters } from '../input/ignored-parameters.ts'
import { parametersPassedOnKey } from '../input/known-names.ts'
import {
  headerKeySecurity,
  keySecurity,
  openSecurity,
  operatorSecurity,
  refusalsKey,
} from '../openapi/openapi.ts'
import { FlatProblem, NestedProblem, OverloadProblem } from '../problem/shape.ts'
import { type Access, isForQueryWorker, isHeavy, type KnownSegment } from './access-kind.ts'
import type { PeerLookup } from './address.ts'
import type { Gate } from './gate.ts'
import type { QueryWorkerDispatch } from './query-worker-dispatch.ts'
import type { Caller, RequestContext } from './request-context.ts'

/** Optional steps of every route, in addition to the admission by the gate. */
interface AccessSteps {
  /** Refuses or names parameters that the route does not have. */
  parameters?: IgnoredParameters
  queryWorkers?: QueryWorkerDispatch | undefined
  setViewer?(requestContext: RequestContext): void
  /** Applies a simulated fault: in a demo instance only. */
  meetFault?:
    | ((requestContext: RequestContext, request: Request, route: string) => Promise<void>)
    | undefined
  /** Records a request with its body before it is admitted or refused: in a demo instance only. */
  noteArrival?: ((request: Request, body: unknown) => void) | undefined
}

/**
 * Creates the plugin that every operation uses: the macro `access` and its values in the context.
 * It acts in `transform`, before validation, so that an unknown caller gets 401 and never an error
 * that describes our schema. It has no name, because Elysia would register only the first of two
 * plugins that have one.
 */
export const createAccess = (
  gate: Gate,
  peer: PeerLookup,
  { parameters, queryWorkers, setViewer, meetFault, noteArrival }: AccessSteps = {},
) =>
  new Elysia()
    .decorate('requestContext', undefined as RequestContext | undefined)
    // The caller as the gate admitted it; only routes that require a key may read it.
    .decorate<'caller', Caller>('caller', undefined as never)
    .macro({
      access: (access: Access) => ({
        transform: [
          ...(mayTakeBody(access) ? [withoutAbsentBody] : []),
          ...('known' in access && access.known ? [knownOnly(access.known)] : []),
          ...(noteArrival && mayTakeBody(access)
            ? [(ctx: { request: Request; body: unknown }) => noteArrival(ctx.request, ctx.body)]
            : []),
          // Elysia reads the source of this function to see what of the request it must prepare:
          // name each property, pass no context on.
          ctx => {
            const requestContext = gate.open(access, ctx.request, peer, ctx.route)
            ctx.requestContext = requestContext
            nameAll(ctx.params)
            gate.enter(requestContext)
            if (requestContext.caller) ctx.caller = requestContext.caller
            setViewer?.(requestContext)
            parameters?.check(ctx.request, ctx.route, ctx.query, ctx.set.headers)
          },
          ...(meetFault && !('operator' in access)
            ? [
                async (ctx: {
                  request: Request
                  route: string
                  requestContext: RequestContext | undefined
                }) => {
                  await meetFault(ctx.requestContext!, ctx.request, ctx.route)
                },
              ]
            : []),
        ],
        // Only heavy routes wait for a query worker; without query workers the main thread answers
        // them.
        ...(queryWorkers &&
          isForQueryWorker(access) && {
            beforeHandle: (ctx: Forwarded) =>
              isLight(access, ctx.query, ctx.request)
                ? undefined
                : queryWorkers.answer(ctx.requestContext!, ctx.request, ctx.body, ctx.set),
          }),
        // Only where a body may come: one parser anywhere would make every route asynchronous,
        // prices too.
        ...(mayTakeBody(access) && { parse: bodyParser }),
        detail: {
          security: securityOf(access),
          [refusalsKey]: refusalsOf(access),
          ...('passesParametersOn' in access && { [parametersPassedOnKey]: true }),
        },
      }),
    })

const isLight = (access: Access, query: Forwarded['query'], request: Request): boolean =>
  'isLight' in access && access.isLight?.(query, request) === true

/** The viewer of an admitted request. */
export const viewerOf = ({ access, caller }: RequestContext): Viewer => {
  if ('operator' in access) return 'everything'
  const { key } = caller ?? {}
  return { accounts: key ? [key.account.account.id, key.holder.account.id] : [] }
}

/** The parts of a heavy request that are handed to a query worker. */
interface Forwarded {
  requestContext: RequestContext | undefined
  request: Request
  query: Record<string, string | undefined>
  body: unknown
  set: Reply
}

/**
 * Replaces an absent body between parser and handler: if it were undefined, Elysia would read the
 * body again by its content type and fail.
 */
const absentBody = Symbol('no body')

const bodyParser = async ({ request, path }: { request: Request; path: string }) => {
  const body = await readBody(request, path)
  return body === undefined ? absentBody : body
}

const withoutAbsentBody = (ctx: { body: unknown }) => {
  if (ctx.body === absentBody) ctx.body = undefined
}

/** Requests that change something have the key in the header, or are from the operator. */
const mayTakeBody = (access: Access): boolean =>
  'operator' in access ||
  ('header' in access && access.header === true) ||
  ('body' in access && access.body === true)

export type AccessPlugin = ReturnType<typeof createAccess>

function securityOf(access: Access) {
  if ('open' in access) return openSecurity
  if ('operator' in access) return operatorSecurity
  return access.header ? headerKeySecurity : keySecurity
}

/**
 * The errors that the gate and the body parsers can return for a route, for its documentation.
 * Computed once per access.
 */
function refusalsOf(access: Access) {
  const cached = refusals.get(access)
  if (cached) return cached
  const documented = {
    ...(mayTakeBody(access) && {
      400: NestedProblem,
      413: NestedProblem,
      415: NestedProblem,
    }),
    ...entryRefusalsOf(access),
    ...((isForQueryWorker(access) || isHeavy(access)) && {
      503: {
        ...(refusalSchemaOf(access) ?? OverloadProblem),
        description: OverloadProblem.description,
      },
    }),
  }
  refusals.set(access, documented)
  return documented
}

const refusals = new WeakMap<Access, object>()

const refusalSchemaOf = (access: Access) => ('meter' in access ? access.refusalSchema : undefined)

function entryRefusalsOf(access: Access) {
  if ('open' in access) return access.rate === 'none' ? {} : { 429: FlatProblem }
  if ('operator' in access) return { 401: NestedProblem, 403: NestedProblem }
  const { flat, meter, refusalSchema } = access
  return {
    401: refusalSchema ?? NestedProblem,
    403: refusalSchema ?? (flat ? FlatProblem : NestedProblem),
    429: refusalSchema ?? FlatProblem,
    ...(meter && { 402: refusalSchema ?? FlatProblem }),
  }
}

/** An undecodable segment counts as an unknown name, which each family of routes handles itself. */
function nameAll(params: Record<string, string | undefined>) {
  for (const name in params) params[name] ??= '\ufffd'
}

/** Thrown where the value in a path is none that its route has. */
export class UnknownSegment extends NotFoundError {
  constructor(readonly known: KnownSegment) {
    super()
  }
}

const knownOnly = (known: KnownSegment) => (ctx: { params: unknown }) => {
  if (!known.isKnown(ctx.params as Record<string, string>)) throw new UnknownSegment(known)
}
