import { jsonType } from '../../../http/answer/complete.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { integerOf, listOf } from '../../../http/input/query.ts'
import { type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import {
  invalidParameter,
  missingParameter,
  notFound,
  Problem,
  type ProblemCode,
  problems,
  refusedParameter,
} from '../../../http/problem/problem.ts'
import { requestIdOf } from '../../../http/request-id.ts'
import { firstNotBefore } from '../../../lib/sorted.ts'
import { dayMs, isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { isLongList, isSheetPath, sheetPaths } from '../../../plans/clients/sheet-paths.ts'
import { type Cell, checkFormat, sheetCharactersMax, wantsXml, xml, xmlType } from './sheet.ts'
import { type SheetTable, sheetTable } from './table.ts'

export interface SheetRunDeps extends Context {
  xmlRoot: string
  source: ReturnType<typeof createTableSource>
}

interface TableSourceDeps
  extends Pick<Context, 'marks' | 'ids' | 'catalogue' | 'latestPrices' | 'firstCodes' | 'now'> {
  /** Handles a request of this instance for a caller whose own request was admitted. */
  dispatch(request: Request, caller: Caller, original: Request): Promise<Response>
}

/** A table of every code takes longer than handing the request to a query worker. */
export const longTableInQueryWorker = {
  queryWorker: true,
  isLight: ({ path }: Readonly<Record<string, string | undefined>>) => !isLongList(path),
} as const

export const runRowsMax = 100
const runRowsDefault = 25

/** The caller of a table, and the target of its headers. */
export interface SheetCall {
  request: Request
  reply: Reply
  caller: Caller
}

/** Requests a data path as the caller; the response is JSON, also when it is an error. */
export const createTableSource =
  ({ marks, ids, dispatch, ...deps }: TableSourceDeps) =>
  async (
    path: string | undefined,
    { request, reply: set, caller }: SheetCall,
  ): Promise<Response> => {
    const target = targetOf(path, request)
    const session = lastSession(target, deps)
    if (session !== undefined) target.searchParams.set('at', session)
    const requestId = requestIdOf(request, ids)
    set.headers['x-request-id'] = requestId
    const inner = new Request(target.href, {
      headers: { accept: 'application/json', 'x-request-id': requestId },
    })
    const answer = await dispatch(inner, caller, request)
    if (!isJson(answer) || answer.headers.get('x-error-code') === 'ROUTE_NOT_FOUND')
      throw answer.status === 404
        ? notFound(`The path ${target.pathname}`)
        : noTable(target.pathname)
    const fixture = answer.ok ? answer.headers.get(marks.fixtureHeader) : null
    if (fixture !== null) set.headers[marks.fixtureHeader] = fixture
    return answer
  }

/** Lays the rows of a data path out; a refusal of the path is passed on. */
export function createSheetRun({ now, xmlRoot, source }: SheetRunDeps) {
  return async (
    call: SheetCall & { query: { path?: string; limit?: string; format?: string } },
  ): Promise<string> => {
    const { query, request, reply: set } = call
    checkFormat(query.format)
    const limit = Math.min(runRowsMax, integerOf('limit', query.limit, runRowsDefault, 1, 1e9))
    const answer = await source(query.path, call)
    const asXml = wantsXml(request)
    if (!answer.ok && asXml) throw problemOf(answer)
    if (!answer.ok) return passedOn(answer) as never
    const table = sheetTable(await answer.json(), limit)
    set.headers['content-type'] = asXml ? xmlType : jsonType
    return largestThatFits(table.rows, rows =>
      asXml ? xml(xmlRoot, xmlContent(table, rows, now())) : jsonText(table, rows, now()),
    )
  }
}

const ownParameters = ['path', 'limit', 'format', 'api_key']

/**
 * The address that a request for a table refers to: on this host, under a data path in any
 * spelling, with the other parameters.
 */
function targetOf(path: string | undefined, request: Request): URL {
  if (!path)
    throw missingParameter(
      'path',
      `a data path of this service, such as ${sheetPaths[0]}/past_month.`,
    )
  const outer = new URL(request.url)
  const rooted = `/${path.trim().replace(/^[/\\]+/, '')}`
  const target = URL.canParse(rooted, outer.origin) ? new URL(rooted, outer.origin) : undefined
  if (!target || !isSheetPath(target.pathname)) {
    throw invalidParameter('path', path.slice(0, 200), 'a data path of this service', sheetPaths)
  }
  for (const [name, value] of outer.searchParams)
    if (!ownParameters.includes(name)) target.searchParams.append(name, value)
  target.searchParams.delete('api_key')
  return target
}

const pastDay = /^\/v1\/prices\/past_day\/?$/
const spanParameters = ['at', 'start_date', 'end_date', 'days', 'period', 'as_of']

/**
 * The last day with prices, where the past day has none, such as on a Sunday: a sheet that is never
 * opened on a working day would stay empty.
 */
function lastSession(
  { pathname, searchParams }: URL,
  { catalogue, latestPrices, firstCodes, now }: Omit<TableSourceDeps, 'marks' | 'ids' | 'dispatch'>,
): string | undefined {
  if (!pastDay.test(pathname) || spanParameters.some(name => searchParams.get(name))) return
  const named = ['by_code', 'commodity', 'code'].map(name => searchParams.get(name)).find(Boolean)
  const codes = listOf(named ?? '')
  const newest = (codes.length > 0 ? codes : firstCodes).map(code => {
    const series = catalogue.named(code)
    return (series && latestPrices.quote(series)?.observation.observedAt) ?? 0
  })
  const lastAt = Math.max(...newest)
  return lastAt > 0 && lastAt < now() - dayMs ? isoDay(lastAt) : undefined
}

const isJson = (answer: Response): boolean =>
  answer.headers.get('content-type')?.startsWith('application/json') ?? false

const noTable = (path: string): Problem =>
  refusedParameter('path', path, `The path ${path} does not return rows.`)

/** The refusal that an answer carries, by its headers. */
function problemOf({ status, headers }: Response): Problem {
  const code = headers.get('x-error-code') ?? ''
  const knownCode = Object.hasOwn(problems, code) ? (code as ProblemCode) : 'INTERNAL_ERROR'
  return new Problem(
    knownCode,
    headers.get('x-error-message') ?? problems[knownCode].when,
    {},
    { status },
  )
}

const passedHeaderNames = [
  'content-type',
  'x-error-code',
  'x-error-status',
  'x-error-message',
  'retry-after',
]

export function passedOn({ body, status, headers }: Response): Response {
  const passedHeaders = new Headers()
  for (const name of passedHeaderNames)
    if (headers.has(name)) passedHeaders.set(name, headers.get(name)!)
  return new Response(body, { status, headers: passedHeaders })
}

const countsOf = ({ sourceRowCount }: SheetTable, rows: readonly Cell[][], at: number) => ({
  message: `${rows.length} of ${sourceRowCount} rows.`,
  retrieved_at: isoInstant(at),
  returned_row_count: rows.length,
  source_row_count: sourceRowCount,
})

const jsonText = (table: SheetTable, rows: Cell[][], at: number): string =>
  JSON.stringify(success({ ...countsOf(table, rows, at), columns: table.columns, rows }))

function xmlContent(table: SheetTable, rows: Cell[][], at: number): Record<string, unknown> {
  const numbered = (cells: readonly Cell[]) =>
    Object.fromEntries(cells.map((cell, i) => [`col${i + 1}`, cell]))
  return {
    status: 'ok',
    ...countsOf(table, rows, at),
    columns: numbered(table.columns),
    rows: { row: rows.map(numbered) },
  }
}

/** The text with the most of the rows that a sheet can still read. */
function largestThatFits(rows: Cell[][], render: (rows: Cell[][]) => string): string {
  const whole = render(rows)
  if (whole.length < sheetCharactersMax) return whole
  const parts = rows.map((_, i) => rows.slice(0, i))
  const over = firstNotBefore(parts, part => render(part).length < sheetCharactersMax)
  return render(parts[over - 1] ?? [])
}
