import { Kind, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import type { Access } from '../gate/access-kind.ts'
import type { Caller, RequestContext } from '../gate/request-context.ts'
import type { Page } from '../input/page.ts'
import type { Reply } from './answer.ts'
import type { Context } from './context.ts'

/** One request, as a handler gets it: everything that its answer may depend on is an argument. */
export interface Call<
  Query extends TProperties,
  Params extends TProperties,
  Body,
  Prepared = undefined,
> {
  /** The service as it is now, or as it was at the moment of `as_of` where the operation has a view. */
  at: Context
  query: Static<TObject<Query>>
  params: Static<TObject<Params>>
  body: Body
  request: Request
  /** Headers and status of the answer. */
  reply: Reply
  /** The account and key that call; undefined where the operation requires no key. */
  caller: Caller
  /** The context of the request at the gate. */
  requestContext: RequestContext | undefined
  /** The page that is requested, of an operation with `page`. */
  page: Page
  /** The result of `prepare`. */
  prepared: Prepared
}

export type Answers = Readonly<Record<number, TSchema>>

/**
 * A return value of a handler: a body that matches one of the responses, or a finished response.
 */
export type Outcome<A extends Answers | TSchema> =
  | (A extends TSchema ? Static<A> : A extends Answers ? Static<A[keyof A & number]> : never)
  | Response
  | undefined

/**
 * The past that an operation can answer from: with `as_of` what was known at that moment, with
 * `end_date` only closes up to that day.
 */
export type View = 'as_of' | 'as_of, end_date'

interface Definition<
  Query extends TProperties,
  Params extends TProperties,
  Body extends TSchema,
  A extends Answers | TSchema,
  Prepared,
> {
  /** Other paths of the same operation, documented as deprecated. */
  aliases?: readonly string[]
  /** The path of the operation that replaces this one: documentation and headers point to it. */
  deprecated?: { use: string }
  /** The callers that it admits, its cost, and whether its work is heavy. */
  access: Access
  /** Adds the parameters of the view; `at` is the service as it was then. */
  view?: View
  /** A list in pages: adds the parameters, and reads them into `page`. */
  page?: { max: number; default?: number }
  /** It reads `format` itself, and its list can be a file for tables, as every list of data can. */
  tables?: true
  /** Its list has no pages, and can be a file for tables as every list of data. */
  unpaged?: true
  /** Its rows have positions: the list can be a map. */
  map?: true
  /** The path of what it creates: its parameter is a field of the answer, sent in `Location`. */
  creates?: `/${string}`
  /**
   * The fields of a resource that change as it is used. They do not count for `If-Match`, because a
   * caller could otherwise not change a resource that is in use.
   */
  counted?: RegExp
  /** What it changes, for the audit trail, where no GET of its path returns that. */
  current?(params: Static<TObject<Params>>): unknown
  /** A repeat with the same `Idempotency-Key` returns the first answer and changes nothing. */
  idempotent?: true
  /**
   * The work of an idempotent operation that must be awaited, such as a request to a provider: a
   * repeat does not do it again. Its result is `prepared` in the handler, which is a part of the
   * transaction that stores the answer.
   */
  prepare?(call: Call<Query, Params, Static<Body>>): Promise<Prepared>
  query?: Query
  params?: Params
  headers?: TObject
  body?: Body
  /**
   * The fields of a body that is checked by the handler alone, so that others are named. Such a body
   * may also be a list of its rows, or a row a line.
   */
  fields?: TSchema
  /** Reads the body of a request where it is not JSON. */
  parse?(incoming: { request: Request }): unknown
  /**
   * The body of a success, or that of each status; one of success other than 200 is set before the handler runs, if it is
   * the only one. The frame adds the refusals that follow from the rest: 400 to a GET, 404
   * to a path with parameters, 422 to a body.
   */
  answers?: A
  handle(call: Call<Query, Params, Static<Body>, Prepared>): Outcome<A> | Promise<Outcome<A>>
}

/** The documentation of an operation in the OpenAPI document. */
interface Documentation {
  hidden?: never
  operationId: string
  /** A verb and its object. */
  summary: string
  description: string
  /** Those of the topic where it has none. */
  tags?: readonly string[]
  /** Further fields of the operation in the document. */
  detail?: Readonly<Record<string, unknown>>
}

/** An operation that is left out of the OpenAPI document. */
interface Hidden {
  hidden: true
  operationId?: string
  summary?: string
  description?: string
  tags?: readonly string[]
  detail?: Readonly<Record<string, unknown>>
}

/**
 * Operations in order. A function gets the service, for those that work something out once, and
 * what the application itself provides.
 */
export type Operations<Own = unknown> = readonly (
  | Operation
  | Operations<Own>
  | ((context: Context, own: Own) => readonly Operation[])
)[]

/** Each of the operations, over one service. */
export const listed = <Own>(
  operations: Operations<Own>,
  context: Context,
  own: Own,
): readonly Operation[] =>
  operations.flatMap(part => {
    if (typeof part === 'function') return part(context, own)
    return 'method' in part ? part : listed(part, context, own)
  })

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An operation of the API: everything that is known of it, in one value. */
export type Operation = { method: Method; path: string } & Definition<
  TProperties,
  TProperties,
  TSchema,
  Answers,
  unknown
> &
  (Documentation | Hidden)

/** Declares an operation, such as `GET /v1/alerts`; `handle` is typed by the schemas next to it. */
export const operation = <
  Query extends TProperties = Record<never, never>,
  Params extends TProperties = Record<never, never>,
  Body extends TSchema = TSchema,
  A extends Answers | TSchema = Answers,
  Prepared = undefined,
>(
  endpoint: `${Method} ${string}`,
  definition: Definition<Query, Params, Body, A, Prepared> & (Documentation | Hidden),
): Operation => {
  const [method, path] = endpoint.split(' ') as [Method, string]
  const { answers, ...rest } = definition
  return { method, path, ...rest, ...(answers && { answers: byStatus(answers) }) }
}

const byStatus = (answers: Answers | TSchema): Answers =>
  Kind in answers ? { 200: answers as TSchema } : (answers as Answers)
