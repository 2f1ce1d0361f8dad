import type { TProperties } from '@sinclair/typebox'
import type { Static, TSchema } from 'elysia'
import { t } from '../../../http/answer/schema.ts'
import type { Access } from '../../../http/gate/access-kind.ts'
import type { PageRequest } from '../../../http/input/page.ts'
import {
  type Answers,
  type Call,
  type Operation,
  type Outcome,
  operation,
  type View,
} from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import { FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import type { Feature } from '../../../plans/tiers.ts'

/** Paths below the first are also served below the second, which is not documented. */
const prefix = '/v1/ei/'
const aliasPrefix = '/v1/dark_data/'

/** Seconds for which a client may cache a response: the families are published daily at most. */
const cacheTtlSeconds = 3600

export const EnergyMeta = {
  page: t.integer({ examples: [1] }),
  per_page: t.integer({ examples: [50] }),
  total_count: t.integer({ examples: [672] }),
  total_pages: t.integer({ examples: [14] }),
  api_version: t.Literal('v1'),
  tier_required: t.String({ examples: ['Reservoir Mastery'] }),
  cache_ttl: t.integer('Seconds for which the response may be cached.', cacheTtlSeconds),
}

/** `{data, meta}` without a status, as the whole family answers. */
const energyBody = <T extends TSchema>(data: T, title: string) =>
  t.object(title, { data, meta: t.Object(EnergyMeta) })

const energyRefusals = { 400: NestedProblem, 403: FlatProblem, 404: NestedProblem }

const energyAccess = {
  feature: 'energy_intelligence' as Feature,
  meter: true,
  flat: true,
  queryWorker: true,
} as const
const energyHeavyAccess = { ...energyAccess, heavy: true } as const

const energyPage = { max: 100, default: 50 }

/** The request, as helpers of handlers get it. */
export type EnergyCall = Pick<Call<never, never, unknown>, 'at' | 'reply'>

/** The meta object of a page of a list, or of a single object: one page of one. */
const energyMeta = (
  { at }: Pick<EnergyCall, 'at'>,
  total = 1,
  { page, perPage }: Pick<PageRequest, 'page' | 'perPage'> = { page: 1, perPage: 1 },
) => ({
  page,
  per_page: perPage,
  total_count: total,
  total_pages: Math.ceil(total / perPage),
  api_version: 'v1' as const,
  tier_required: at.tierRequired('energy_intelligence'),
  cache_ttl: cacheTtlSeconds,
})

/** The page that is a whole list. */
export const wholePage = (rows: readonly unknown[]) => ({
  page: 1,
  perPage: Math.max(1, rows.length),
})

type Definition<Query extends TProperties, Params extends TProperties> = {
  path: string
  operationId: string
  summary: string
  description: string
  access?: Access
  view?: View
  map?: true
  query?: Query
  params?: Params
}

/** A read of the family: at its path, and at the alias of it. */
const energyOperation = <
  Query extends TProperties = Record<never, never>,
  Params extends TProperties = Record<never, never>,
  A extends Answers = Answers,
>({
  path,
  ...definition
}: Definition<Query, Params> & {
  page?: { max: number; default: number }
  unpaged?: true
  answers: A
  handle(call: Call<Query, Params, unknown>): Outcome<A>
}): Operation =>
  operation<Query, Params, TSchema, A>(`GET ${path}`, {
    ...(path.startsWith(prefix) && { aliases: [path.replace(prefix, aliasPrefix)] }),
    access: energyAccess,
    ...definition,
  })

interface Body<T extends TSchema> {
  /** Name of the body in the document. */
  title: string
  data: T
  refusals?: Answers
}

/** One object. */
const energyRecord = <
  T extends TSchema,
  Query extends TProperties = Record<never, never>,
  Params extends TProperties = Record<never, never>,
>({
  title,
  data,
  refusals = energyRefusals,
  handle,
  ...definition
}: Definition<Query, Params> &
  Body<T> & { handle(call: Call<Query, Params, unknown>): Static<T> }): Operation =>
  energyOperation<Query, Params>({
    ...definition,
    answers: { 200: energyBody(data, title), ...refusals },
    handle: call => ({ data: handle(call), meta: energyMeta(call) }),
  })

/** A list that is short by its nature, whole on one page. */
const energyWholeList = <T extends TSchema, Query extends TProperties = Record<never, never>>({
  title,
  row,
  refusals = energyRefusals,
  handle,
  ...definition
}: Definition<Query, Record<never, never>> &
  Omit<Body<T>, 'data'> & {
    row: T
    handle(call: Call<Query, Record<never, never>, unknown>): Static<T>[]
  }): Operation =>
  energyOperation<Query>({
    ...definition,
    unpaged: true,
    answers: { 200: energyBody(t.Array(row), title), ...refusals },
    handle(call) {
      const data = handle(call)
      return {
        data,
        meta: energyMeta(call, data.length, wholePage(data)),
      }
    },
  })

/** The rows that a list has in all, and a stretch of them. */
export interface PagedRows<T> {
  total: number
  rows(limit: number, offset: number): T[]
}

/** The rows of a store that a filter selects. */
export const pagedRows = <Filter, Row, Answered>(
  store: {
    count(filter: Filter): number
    page(filter: Filter, limit: number, offset: number): Row[]
  },
  filter: Filter,
  shape: (rows: Row[]) => Answered[],
): PagedRows<Answered> => ({
  total: store.count(filter),
  rows: (limit, offset) => shape(store.page(filter, limit, offset)),
})

/** A list in pages. */
const energyPages = <
  T extends TSchema,
  Query extends TProperties = Record<never, never>,
  Params extends TProperties = Record<never, never>,
>({
  title,
  row,
  refusals = energyRefusals,
  list,
  ...definition
}: Definition<Query, Params> &
  Omit<Body<T>, 'data'> & {
    row: T
    list(call: Call<Query, Params, unknown>): PagedRows<Static<T>>
  }): Operation =>
  energyOperation<Query, Params>({
    ...definition,
    page: energyPage,
    answers: { 200: energyBody(t.Array(row), title), ...refusals },
    handle(call) {
      const { total, rows } = list(call)
      const { page } = call
      page.meta(total)
      return {
        data: rows(page.perPage, page.offset),
        meta: energyMeta(call, total, page),
      }
    },
  })

/** A record by its number: numbers are decimal, from 1. */
const energyById = <T extends TSchema, Row>({
  subject,
  what = 'Number of the record.',
  find,
  shape,
  ...definition
}: Omit<Definition<Record<never, never>, never>, 'query' | 'params'> &
  Body<T> & {
    subject: string
    what?: string
    find(id: number, call: EnergyCall): Row | undefined
    shape(row: Row, call: EnergyCall): Static<T>
  }): Operation =>
  energyRecord({
    ...definition,
    params: { id: t.string(what, '1') },
    handle(call) {
      const { id } = call.params
      const row = find(recordIdOf(id, subject), call)
      if (row === undefined) throw notFound(subject, id)
      return shape(row, call)
    },
  })

function recordIdOf(text: string, subject: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound(subject, text)
  return Number(text)
}

/** What the operations of the energy topics share. */
export const energy = {
  access: energyAccess,
  body: energyBody,
  byId: energyById,
  heavyAccess: energyHeavyAccess,
  meta: energyMeta,
  operation: energyOperation,
  page: energyPage,
  pages: energyPages,
  record: energyRecord,
  refusals: energyRefusals,
  wholeList: energyWholeList,
}
