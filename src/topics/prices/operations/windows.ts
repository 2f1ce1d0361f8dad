import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import type { Access } from '../../../http/gate/access-kind.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { pageQuery } from '../../../http/input/page.ts'
import { listOf } from '../../../http/input/query.ts'
import { dayParameter, refusedQuery } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { refusedParameter } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { parseDay } from '../../../lib/time/instant.ts'
import { isLong } from '../math/bars.ts'
import { parseInterval } from '../math/interval.ts'
import { createWindowAnswer, formOf, linesPerPageMax } from './window-answer.ts'
import {
  movingWindowQuery,
  type WindowName,
  type WindowQuery,
  windowDays,
  windowQuery,
} from './window-query.ts'
import { WindowBody } from './window-row.ts'

const dayAccess: Access = {
  meter: true,
  known: {
    isKnown: ({ date }) => parseDay(date ?? '') !== undefined,
    right: 'a day, such as 2026-11-20',
  },
}

const rowOrderNote =
  ' Rows are newest first across all codes. Hour, day, week and month are buckets of UTC or of `zone` (weeks start on Monday) of the observations inside the range. Paging is stable: prices that arrive while you page never duplicate or hide rows.'

const dayDescription = 'One calendar day, of UTC or of `zone`; overrides every other range.'

/** Rows that are read and written in the time in which a request is handed to a thread and back. */
const lightRowsMax = 200

const isMadeOfDays = (interval: string | undefined): boolean => {
  const served = parseInterval(interval ?? '')
  return served !== undefined && isLong(served)
}

interface WindowCall {
  query: WindowQuery
  request: Request
  reply: Reply
  caller: Caller
}

/** Prices of a window or a range of the past: as published, or as bars. */
export function windowOperations(deps: Context) {
  const answer = createWindowAnswer(deps)
  const within =
    (name: WindowName) =>
    ({ query, request, reply, caller }: WindowCall) => {
      if (query.at && name !== 'past_day')
        throw refusedParameter('at', query.at, 'at is accepted on /v1/prices/past_day only.')
      return answer(query, windowDays[name], request, reply, caller.key.key.id)
    }

  const pages = pageQuery(
    Math.max(deps.perPageMax, linesPerPageMax),
    deps.perPageMax,
    `1 to ${deps.perPageMax}, default: ${deps.perPageMax}; of formats other than json 1 to ${linesPerPageMax.toLocaleString('en')}; larger values are reduced to the maximum.`,
  )
  /**
   * A page of few stored rows takes less time than handing the request to a query worker.
   * Everything else goes to a query worker: values as of a past moment, conversions at rates of
   * other days, bars that are aggregated from days, and formulas, whose histories are computed.
   */
  const isLight = (query: WindowQuery, request: Request): boolean => {
    if (query.as_of || query.currency || isMadeOfDays(query.interval)) return false
    if (query.zone || query.day) return false
    if (deps.switched(request, 'default_page_max') || deps.switched(request, 'page_max_1000'))
      return false
    const isPaged = query.page !== undefined || query.per_page !== undefined
    if (!isPaged && formOf(query.format, request) !== 'json') return false
    const codes = listOf(query.by_code || query.commodity || query.code)
    if (codes.some(code => deps.catalogue.named(code)?.terms?.formula !== undefined)) return false
    const perPage = query.per_page ? Number(query.per_page) : deps.perPageMax
    return (codes.length || deps.firstCodes.length) * perPage <= lightRowsMax
  }
  const access = { meter: true, queryWorker: true as const, isLight }

  const response = { 200: serialised(WindowBody), 400: CodeProblem }
  const pastWindow = (name: WindowName, operationId: string) =>
    operation(`GET /v1/prices/${name}`, {
      operationId,
      summary: `List prices of the past ${name.slice('past_'.length)}`,
      description: `Returns the prices of the ${windowDays[name]} ${windowDays[name] === 1 ? 'day' : 'days'} up to now, or of any date range.${rowOrderNote}`,
      access,
      tables: true as const,
      query: {
        ...windowQuery,
        ...movingWindowQuery,
        at: name === 'past_day' ? dayParameter(dayDescription, '2026-11-13') : refusedQuery,
        ...pages,
      },
      answers: response,
      handle: within(name),
    })

  return [
    pastWindow('past_day', 'getPricesPastDay'),
    pastWindow('past_week', 'getPricesPastWeek'),
    pastWindow('past_month', 'getPricesPastMonth'),
    pastWindow('past_year', 'getPricesPastYear'),
    operation('GET /v1/prices/historical', {
      operationId: 'getHistoricalPrices',
      summary: 'List historical prices',
      description: `Returns the prices between two dates. Default: the last 30 days.${rowOrderNote}`,
      access,
      tables: true,
      query: { ...windowQuery, as_of: movingWindowQuery.as_of, ...pages },
      answers: response,
      handle: within('past_month'),
    }),
    operation('GET /v1/prices/:date', {
      operationId: 'getPricesOfDay',
      summary: 'Get the prices of a day',
      description: `Returns the prices of one calendar day of UTC or of \`zone\`, like past_day with \`at\`.${rowOrderNote}`,
      access: dayAccess,
      tables: true,
      params: {
        date: t.string('A calendar day, `YYYY-MM-DD`.', '2026-11-13'),
      },
      query: { ...windowQuery, ...movingWindowQuery, ...pages },
      answers: response,
      handle: ({ params, query, request, reply, caller }) =>
        answer({ ...query, at: params.date }, 1, request, reply, caller.key.key.id),
    }),
  ]
}
