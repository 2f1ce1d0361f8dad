import type { AnyElysia } from 'elysia'
import { etagsOfSet, resourceEtag } from '../../lib/text/etag.ts'
import { isObject } from '../../lib/text/json.ts'
import { plainEtags } from '../answer/encoding.ts'
import { Outcome } from '../answer/outcome.ts'
import { hasEtag } from '../answer/reply.ts'
import { t } from '../answer/schema.ts'
import {
  FeatureMap,
  tableAnswer,
  tableFormatOf,
  tableFormats,
  tableRowsMax,
} from '../answer/table.ts'
import { changesOf, fieldOf } from '../gate/audited.ts'
import { idempotencyHeader } from '../idempotency.ts'
import { noBody } from '../input/body-schema.ts'
import {
  type FieldOwner,
  firstRows,
  type KnownFields,
  knownFields,
  knownItems,
} from '../input/ignored-fields.ts'
import { answeredPage, pageOf, pageQuery } from '../input/page.ts'
import { queryParser, wordParameter } from '../input/typed.ts'
import { answersKey } from '../openapi/source.ts'
import { invalidParameter, Problem } from '../problem/problem.ts'
import { NestedProblem, ValidationProblem } from '../problem/shape.ts'
import type { Reply } from './answer.ts'
import type { Context } from './context.ts'
import type { Call, Operation, View } from './operation.ts'
import { atPoint, knownQuery, pointQuery } from './point-in-time.ts'

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const

/** The request as the framework hands it to a handler. */
type Incoming = Omit<
  Call<never, never, unknown>,
  'at' | 'reply' | 'page' | 'query' | 'params' | 'prepared'
> & {
  set: Reply
  query: Record<string, string | undefined>
  params: Record<string, string>
}

type AddRoute = (path: string, handler: (incoming: Incoming) => unknown, hook: object) => void

/** Registers operations with an application of the framework, in order. */
export function mount<App extends AnyElysia>(
  app: App,
  context: Context,
  operations: readonly Operation[],
): App {
  const reads = new Map(operations.filter(isRead).map(read => [read.path, read]))
  const changed = new Set(operations.filter(isChange).map(({ path }) => path))
  const router = app as unknown as Record<(typeof verbs)[keyof typeof verbs], AddRoute>
  for (const listed of operations) {
    const { path } = listed
    const read = isChange(listed) ? reads.get(path) : undefined
    const recorded =
      'operator' in listed.access && !isRead(listed) ? withAudit(listed, read, context) : listed
    const operation = read
      ? withPrecondition(recorded, read, context)
      : isRead(listed)
        ? changed.has(path)
          ? withTag(listed)
          : listed
        : withoutTag(recorded)
    // Each path gets a new hook, because the framework changes the hooks that it is given.
    router[verbs[operation.method]](path, handlerOf(context, operation), hookOf(operation))
    for (const alias of operation.aliases ?? []) {
      const named = {
        ...operation,
        ...(operation.operationId && { operationId: `${operation.operationId}Alias` }),
        deprecated: { use: operation.path },
      } as Operation
      router[verbs[operation.method]](alias, handlerOf(context, named), hookOf(named))
    }
  }
  return app
}

const isRead = ({ method }: Operation) => method === 'GET'
const changes: readonly Operation['method'][] = ['PATCH', 'PUT', 'DELETE']
const isChange = ({ method }: Operation) => changes.includes(method)

/** `before`: what a change is about, if it has been read for its condition. */
type Handle = (call: Call<never, never, unknown>, before?: unknown) => unknown

/** Takes a value through a step, or a promise when it is kept. */
const stepped = <Value>(value: Value | Promise<Value>, step: (value: Value) => unknown): unknown =>
  value instanceof Promise ? value.then(step) : step(value)

/** The handler as the framework awaits it: by its kind, and not by its answer. */
const awaitedIf = (isAsynchronous: boolean, handle: Handle) =>
  (isAsynchronous ? async (...call: Parameters<Handle>) => await handle(...call) : handle) as never

/** A response that a handler made itself is not a resource. */
const tagOf = (answer: unknown, { counted }: Operation): string | undefined =>
  isObject(answer) && !(answer instanceof Response) ? resourceEtag(answer, counted) : undefined

/** A resource that can be changed is returned with an entity tag, for `If-Match`. */
function withTag(operation: Operation): Operation {
  const handle = operation.handle as Handle
  const tagged: Handle = call =>
    stepped(handle(call), answer => {
      const tag = tagOf(answer, operation)
      if (tag !== undefined) call.reply.headers.etag ??= tag
      return answer
    })
  return { ...operation, handle: awaitedIf(isAsync(handle), tagged) }
}

/** The entity tags that a change is for; undefined: it is for any version. */
const conditionOf = ({ request }: { request: Request }): string | undefined => {
  const condition = request.headers.get('if-match')
  return condition === null || condition.trim() === '*' ? undefined : condition
}

/** Without an entity tag none of `If-Match` can be that of the resource (RFC 9110). */
const noTag = () =>
  new Problem(
    'PRECONDITION_FAILED',
    'If-Match must be * or absent: this operation has no entity tag to compare.',
  )

function withoutTag(operation: Operation): Operation {
  const { prepare } = operation
  const handle = operation.handle as Handle
  const guarded =
    <Call extends { request: Request }, Result>(work: (call: Call) => Result) =>
    (call: Call): Result => {
      if (conditionOf(call) !== undefined) throw noTag()
      return work(call)
    }
  return {
    ...operation,
    ...(prepare && { prepare: guarded(prepare) }),
    handle: awaitedIf(isAsync(handle), guarded(handle)),
  }
}

/**
 * A change with `If-Match` is refused where the resource has changed since the caller read it. PATCH
 * returns the new tag; PUT must not, because what was sent is not stored byte by byte (RFC 9110).
 */
function withPrecondition(operation: Operation, read: Operation, context: Context): Operation {
  const handle = operation.handle as Handle
  const current: Handle = call =>
    (read.handle as Handle)({ ...call, at: context, reply: { headers: {} } } as never)
  const changed: Handle = (call, before) => {
    const answer = handle(call, before)
    if (operation.method !== 'PATCH') return answer
    return stepped(answer, sent =>
      stepped(current(call), resource => {
        const tag = tagOf(resource, read)
        if (tag !== undefined) call.reply.headers.etag = tag
        return sent
      }),
    )
  }
  const guarded: Handle = call => {
    const condition = conditionOf(call)
    if (condition === undefined) return changed(call)
    return stepped(current(call), resource => {
      const tag = tagOf(resource, read)
      // A path that refuses every read refuses every change too.
      if (tag === undefined && !(resource instanceof Response)) throw noTag()
      if (tag !== undefined && !hasEtag(etagsOfSet(plainEtags(condition)), etagsOfSet(tag)))
        throw new Problem(
          'PRECONDITION_FAILED',
          'The resource has changed: its ETag is not among those of If-Match.',
          {},
          { headers: { etag: tag } },
        )
      return changed(call, resource)
    })
  }
  return { ...operation, handle: awaitedIf(isAsync(handle) || isAsync(read.handle), guarded) }
}

/** An operator's change is recorded with the fields that it sets, before and after. */
function withAudit(operation: Operation, read: Operation | undefined, context: Context): Operation {
  const handle = operation.handle as Handle
  const { body: schema, fields = schema } = operation
  const known = fields ? knownFields(fields) : 'any'
  const earlier: Handle = call => {
    if (operation.current) return operation.current(call.params)
    if (!read) return undefined
    return (read.handle as Handle)({ ...call, at: context, reply: { headers: {} } } as never)
  }
  const audited: Handle = (call, resource) => {
    const action = call.requestContext?.action
    if (!action || !isObject(call.body)) return handle(call)
    return stepped(resource ?? earlier(call), before => {
      action.changes = changesOf(call.body, before, known)
      return handle(call)
    })
  }
  const isAsynchronous = isAsync(handle) || (read !== undefined && isAsync(read.handle))
  return { ...operation, handle: awaitedIf(isAsynchronous, audited) }
}

/** Whether the list of an operation can be a file for tables: of data, not of an account. */
const isTable = ({ method, access, page, tables, unpaged }: Operation): boolean =>
  tables === true ||
  unpaged === true ||
  (method === 'GET' && page !== undefined && 'meter' in access && access.meter)

const formatsOf = ({ map }: Operation) => ['json', ...tableFormats, ...(map ? ['geojson'] : [])]

const tableQueryOf = (operation: Operation) => ({
  format: wordParameter(
    formatsOf(operation),
    `\`csv\`, \`parquet\`, \`arrow\` or \`xlsx\`: the list as a file${operation.unpaged ? '' : `, up to ${tableRowsMax.toLocaleString('en')} rows without \`page\` and \`per_page\``}.${operation.map ? ' `geojson` (RFC 7946): rows that have a position, as points.' : ''}`,
    'json',
    { default: 'json' },
  ),
})

/** The file that a request asks a list for; undefined: none. */
function requestedTable(operation: Operation, text: string | undefined) {
  const formats = formatsOf(operation)
  if (!operation.tables && text && !formats.includes(text.toLowerCase()))
    throw invalidParameter('format', text, formats)
  const format = tableFormatOf(text)
  // A handler that reads `format` itself writes texts.
  return operation.tables && format === 'csv' ? undefined : format
}

const viewParameters: Readonly<Record<View, object>> = {
  as_of: knownQuery,
  'as_of, end_date': pointQuery,
}

function hookOf(operation: Operation): { detail: object } {
  const { access, method, view, page, idempotent, params, body } = operation
  const query = {
    ...(isTable(operation) && !operation.tables && tableQueryOf(operation)),
    ...(operation.query ?? {}),
    ...(page && pageQuery(page.max, page.default)),
    ...(view && viewParameters[view]),
  }
  const headers = operation.headers ?? (idempotent && idempotencyHeader)
  const hasQuery = Object.keys(query).length > 0
  const answers = operation.hidden
    ? operation.answers
    : {
        ...(method === 'GET' && { 400: NestedProblem }),
        ...(params && { 404: NestedProblem }),
        ...(body && body !== noBody && { 422: ValidationProblem }),
        ...operation.answers,
        ...(operation.map && { 200: t.Union([operation.answers![200]!, FeatureMap]) }),
      }
  const { hidden, operationId, tags, summary, description, parse, detail } = operation
  return {
    access,
    ...(hasQuery && { query: t.Object(query) }),
    ...(params && { params: t.Object(params) }),
    ...(headers && { headers }),
    ...(body && { body }),
    ...(parse && { parse }),
    detail: hidden
      ? { hide: true, ...detail }
      : {
          operationId,
          tags: [...(tags ?? [])],
          summary: operation.deprecated ? `${summary} (alias)` : summary,
          description: operation.deprecated
            ? `${pointerOf(operation)} ${description}`
            : description,
          // Generators of clients leave an alias out, which has the name of another method.
          ...(operation.deprecated && { deprecated: true, 'x-internal': true }),
          ...detail,
          // Documented and not validated: the framework compiles a validator for each schema of
          // each status, which takes 60 MB once every operation has been called. Tests hold every
          // answer against the document.
          ...(answers && { [answersKey]: answers }),
        },
  } as { detail: object }
}

const pointerOf = ({ method, deprecated }: Operation) =>
  `Deprecated: use \`${method} ${deprecated?.use.replace(/:(\w+)/g, '{$1}')}\` instead.`

/** The day on which every alias was deprecated, as `Deprecation` (RFC 9745) writes it. */
const deprecatedSince = `@${Date.UTC(2026, 10, 28) / 1000}`
/** The earliest day on which they may go, as `Sunset` (RFC 8594) writes it. */
const sunset = new Date(Date.UTC(2027, 10, 28)).toUTCString()

/** Points from the response of a deprecated path to the path that replaces it. */
function markDeprecated({ set, params }: Incoming, use: string): void {
  const path = use.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
  set.headers.deprecation = deprecatedSince
  set.headers.sunset = sunset
  set.headers.link = `<${path}>; rel="successor-version"`
}

/**
 * The handler of an operation for the framework, which reads the source of a function to find the
 * parts of a request that it uses: each form names them.
 */
function handlerOf(context: Context, operation: Operation): (incoming: Incoming) => unknown {
  const run = markedRunnerOf(context, operation)
  const isAsynchronous = isAsync(operation.handle) || operation.prepare !== undefined
  // A repeated request is compared by its body, documented or not.
  const takesBody =
    operation.body !== undefined ||
    operation.idempotent === true ||
    operation.headers === idempotencyHeader
  if (isAsynchronous)
    return takesBody
      ? async ({ query, params, body, request, set, caller, requestContext }) =>
          await run({ query, params, body, request, set, caller, requestContext })
      : async ({ query, params, request, set, caller, requestContext }) =>
          await run({ query, params, body: undefined, request, set, caller, requestContext })
  return takesBody
    ? ({ query, params, body, request, set, caller, requestContext }) =>
        new Outcome(run, { query, params, body, request, set, caller, requestContext }).answer
    : ({ query, params, request, set, caller, requestContext }) =>
        new Outcome(run, { query, params, body: undefined, request, set, caller, requestContext })
          .answer
}

const isAsync = (work: object) => work.constructor.name === 'AsyncFunction'

/**
 * Names what the body has and the operation does not. An operator's change is refused for it: a
 * mistyped restriction would make public what was meant for a few. Rows of data may have further
 * columns, as those of a file may.
 */
function checkedRunnerOf(context: Context, operation: Operation): (incoming: Incoming) => unknown {
  const run = runnerOf(context, operation)
  const { access, body: schema, fields = schema } = operation
  const isOperators = 'operator' in access
  if (!schema || (schema === noBody && !isOperators)) return run
  const hasRows = operation.fields !== undefined
  // An object in a field has its own parser, which names what the object may have.
  const ofOperators: readonly FieldOwner[] = hasRows ? ['body'] : ['body', 'item of a list']
  const refused = isOperators ? ofOperators : []
  let known: Record<'ofObject' | 'ofRows', KnownFields> | undefined
  return incoming => {
    known ??= { ofObject: knownFields(fields), ofRows: knownItems(fields) }
    const { body, request, set } = incoming
    const rows = typeof body === 'string' && known.ofRows !== 'any' ? firstRows(body) : body
    const names = Array.isArray(rows) ? known.ofRows : known.ofObject
    context.ignoredParameters.checkFields(request, names, rows, set.headers, refused)
    return run(incoming)
  }
}

/** Names the address of what was created (RFC 9110). */
function locatedRunnerOf(context: Context, operation: Operation): (incoming: Incoming) => unknown {
  const run = checkedRunnerOf(context, operation)
  const [before = '', name] = operation.creates?.split(':') ?? []
  if (name === undefined) return run
  return incoming =>
    stepped(run(incoming), answer => {
      const { set } = incoming
      if (set.status === 201)
        set.headers.location = before + encodeURIComponent(String(fieldOf(answer, name)))
      return answer
    })
}

function markedRunnerOf(context: Context, operation: Operation): (incoming: Incoming) => unknown {
  const run = locatedRunnerOf(context, operation)
  const use = operation.deprecated?.use
  if (use === undefined) return run
  return incoming => {
    markDeprecated(incoming, use)
    return run(incoming)
  }
}

/** The status of success, where the operation has one other than 200. */
function statusOf({ answers = {} }: Operation): number | undefined {
  const [status, ...others] = Object.keys(answers)
    .map(Number)
    .filter(code => code >= 200 && code < 300)
  return status === 200 || others.length > 0 ? undefined : status
}

/** The steps around a handler: paging, the requested moment, and repeated requests. */
function runnerOf(context: Context, operation: Operation): (incoming: Incoming) => unknown {
  const { view, page, idempotent, prepare } = operation
  // A stored answer is a part of the handler's transaction, which nothing can await.
  if ((prepare || idempotent) && isAsync(operation.handle))
    throw new Error(`${operation.operationId}: what it awaits belongs in prepare`)
  const status = statusOf(operation)
  const canBeTable = isTable(operation)
  const parse = queryParser(operation.query)
  /** The fields of a request are named one by one, because copying an object takes longer. */
  const work = (
    at: Context,
    { query, params, body, request, set, caller, requestContext }: Incoming,
    prepared?: unknown,
  ) => {
    if (status !== undefined) set.status = status
    const table = canBeTable ? requestedTable(operation, query.format) : undefined
    const isWhole = table && query.page === undefined && query.per_page === undefined
    const requestedPage =
      page &&
      answeredPage(
        isWhole
          ? { page: 1, perPage: tableRowsMax, offset: 0 }
          : pageOf(query, page.max, page.default),
        { request, headers: set.headers },
      )
    const answer = operation.handle({
      at,
      query: parse ? parse(query) : query,
      params,
      body,
      request,
      caller,
      requestContext,
      reply: set,
      page: requestedPage,
      prepared,
    } as never)
    if (answer instanceof Promise && !isAsync(operation.handle))
      throw new Error(`${operation.operationId} returns a promise: its handler must be async`)
    if (table === undefined) return answer
    const write = (list: unknown) => tableAnswer(table, list, set, operation)
    return answer instanceof Promise ? answer.then(write) : write(answer)
  }
  if (view)
    return incoming =>
      atPoint(
        context,
        view === 'as_of' ? { as_of: incoming.query.as_of } : incoming.query,
        incoming.set,
        at => work(at, incoming),
      )
  if (prepare)
    return incoming => {
      const call = { ...incoming, at: context, reply: incoming.set }
      return context.idempotency.onceAfter(
        call,
        incoming.body,
        () => prepare(call as never),
        prepared => work(context, incoming, prepared),
      )
    }
  if (idempotent)
    return incoming =>
      context.idempotency.once({ ...incoming, reply: incoming.set }, incoming.body, () =>
        work(context, incoming),
      )
  return incoming => work(context, incoming)
}
