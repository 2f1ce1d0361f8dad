import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import {
  type PageMeta,
  PageMetaShape,
  pageHeaders,
  pageMeta,
  pageOf,
  pageQuery,
} from '../../http/input/page.ts'
import { integerOf } from '../../http/input/query.ts'
import { invalidParameter } from '../../http/problem/problem.ts'
import { FailProblem, NestedProblem } from '../../http/problem/shape.ts'
import { monthsBefore } from '../../market/futures/contract-days.ts'
import { contractCode } from '../../market/futures/families.ts'
import { roundTo } from '../../market/prices/format.ts'
import { dayAfter } from '../../market/prices/window.ts'
import type { ContractSelection, Futures } from '../../service/futures/futures.ts'
import { intervalOf } from '../prices/window-query.ts'
import {
  contractQuery,
  describeSource,
  type FuturesDeps,
  type FuturesRoutes,
  monthOf,
  noQuotes,
  type RangeParameters,
  type RequestedFamily,
  rangeQuery,
  readRange,
  slugParams,
  sourcesOf,
} from './query.ts'
import { Bar, barRow, codeField, countField, dayField, familyFields, sourceField } from './shape.ts'

const perPageMax = 100
const barIntervals = ['day', 'week', 'month'] as const
type BarInterval = (typeof barIntervals)[number]

const Historical = t.Object(
  {
    ...familyFields,
    source: sourceField,
    contract: t.Union([codeField, t.Null()], {
      description: 'Null: on each date the nearest contracts.',
    }),
    period: t.Object({
      from: dayField,
      to: dayField,
      interval: t.Union([t.Literal('day'), t.Literal('week'), t.Literal('month')]),
    }),
    count: integer({ description: 'Rows on this page.', examples: [20] }),
    prices: t.Array(Bar),
    metadata: t.Object({
      continuous: t.Boolean({ description: 'Whether the contract changes with the front month.' }),
      source_description: t.String(),
    }),
    meta: PageMetaShape,
  },
  { title: 'FuturesHistory' },
)

const Continuous = t.Object(
  {
    ...familyFields,
    contract: t.String({
      description: 'The contract that is active now.',
      examples: ['WTI_FUTURES_2027_01'],
    }),
    months: integer({ examples: [3] }),
    source: sourceField,
    roll_method: t.Literal('last_trading_day', {
      description: 'A contract is active through its last trading day.',
    }),
    adjustment: t.Literal('none', {
      description: 'Prices are those that were traded: a roll shows as a step.',
    }),
    count: countField,
    prices: t.Array(
      t.Object({
        date: dayField,
        price: t.Number({ description: 'Close of the active contract.', examples: [71.87] }),
        active_contract: codeField,
        rolled: t.Boolean({ description: 'First date of this contract.' }),
      }),
    ),
  },
  { title: 'FuturesContinuous' },
)

interface HistoryQuery extends RangeParameters {
  contract?: string
  contracts?: string
  interval?: string
  page?: string
  per_page?: string
}

/** Bars of contracts by date, and the series that rolls from one contract to the next. */
export function futuresHistoryRoutes(deps: FuturesDeps, routes: FuturesRoutes) {
  const { futures } = deps

  const historical = (
    requested: RequestedFamily,
    query: HistoryQuery,
    request: Request,
    set: { headers: Record<string, string | number> },
  ) => {
    const { family, decimals, head } = requested
    const month = monthOf(futures, requested, query.contract)
    const places = integerOf('contracts', query.contracts, 1, 1, 12)
    const interval = barIntervalOf(query.interval)
    const { from, to } = readRange(query, futures.today(family.code))
    const page = pageOf(query, perPageMax)
    const selection: ContractSelection =
      month === undefined ? { places: Array.from({ length: places }, (_, i) => i + 1) } : { month }
    if (!futures.hasDays(family.code, selection))
      throw noQuotes(month === undefined ? family.code : contractCode(family.code, month))
    const { days, total } = barsOf(
      futures,
      family.code,
      selection,
      interval,
      { from, to },
      (page.page - 1) * page.perPage,
      page.perPage,
    )
    const meta: PageMeta = pageMeta(page, total)
    pageHeaders(set.headers, request.url, meta)
    const source = routes.mark(set, family, sourcesOf(days))
    return {
      ...head,
      source,
      contract: month === undefined ? null : contractCode(family.code, month),
      period: { from, to, interval },
      count: days.length,
      prices: days.map(day => barRow(day, decimals)),
      metadata: { continuous: month === undefined, source_description: describeSource(source) },
      meta,
    }
  }

  const continuous = (
    { family, nth = 1, decimals, head }: RequestedFamily,
    text: string | undefined,
    defaultMonths: number,
    set: unknown,
  ) => {
    const months = integerOf('months', text, defaultMonths, 1, 60)
    if (!futures.hasDays(family.code, { places: [nth] })) throw noQuotes(family.code)
    const today = futures.today(family.code)
    const from = monthsBefore(today, months)
    // One stretch further back, so that the first date in the range is told from one on which the
    // contract changed.
    const { days } = futures.page(
      family.code,
      { places: [nth] },
      dayAfter(from, -rollLookBackDays),
      today,
      0,
      Number.MAX_SAFE_INTEGER,
    )
    const prices = days.map((day, i) => ({
      date: day.tradedOn,
      price: roundTo(day.close, decimals),
      active_contract: day.code,
      rolled: days[i + 1] !== undefined && days[i + 1]!.code !== day.code,
    }))
    const inside = prices.filter(row => row.date >= from)
    const source = routes.mark(set, family, sourcesOf(days.slice(0, inside.length)))
    return {
      ...head,
      contract: contractCode(family.code, futures.listedMonth(family.code, nth)),
      months,
      source,
      ...({ roll_method: 'last_trading_day', adjustment: 'none' } as const),
      count: inside.length,
      prices: inside,
    }
  }

  const monthsQuery = (fallback: number) =>
    t.Object({
      months: t.Optional(
        t.String({
          description: `Months back from today, 1 to 60 (${fallback}).`,
          examples: ['3'],
        }),
      ),
    })
  const continuousText =
    'One price for each trading date, newest first: the close of the contract that is the front month on it (with `.N` the Nth listed month). A contract is active through its last trading day; prices are not adjusted, so that a roll shows as a step, and `rolled` marks the first date of each contract.'
  const refusals = { 400: NestedProblem, 404: NestedProblem }

  return new Elysia()
    .use(deps.access)
    .get(
      '/v1/futures/:slug/historical',
      ({ params, query, request, set }) =>
        historical(routes.familyOf(params.slug), query, request, set),
      {
        access: { ...routes.every, heavy: true },
        params: slugParams,
        query: t.Object({
          ...contractQuery('on each date its front month'),
          ...rangeQuery,
          interval: t.Optional(
            t.String({
              description: '`day` (default), `week` (from Monday) or `month`.',
              examples: ['day'],
            }),
          ),
          contracts: t.Optional(
            t.String({
              description:
                'Without `contract`: how many of the nearest months of each date, 1 to 12 (1).',
              examples: ['3'],
            }),
          ),
          ...pageQuery(perPageMax),
        }),
        response: {
          200: Historical,
          400: t.Union([FailProblem, NestedProblem]),
          404: NestedProblem,
        },
        detail: {
          operationId: 'getFuturesHistory',
          tags: ['futures'],
          summary: 'Daily, weekly or monthly bars',
          description:
            'Bars by trading date, newest first; the last 30 days without a range. Without `contract` they are those of the front month of each date, which changes after its last trading day. Weeks and months merge the bars of their dates.',
        },
      },
    )
    .get(
      '/v1/futures/:slug/continuous',
      ({ params, query, set }) => continuous(routes.familyOf(params.slug), query.months, 1, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: monthsQuery(1),
        response: { 200: Continuous, ...refusals },
        detail: {
          operationId: 'getContinuousFutures',
          tags: ['futures'],
          summary: 'Continuous series',
          description: continuousText,
        },
      },
    )
    .get(
      '/v1/futures/continuous/:slug/historical',
      ({ params, query, set }) => continuous(routes.familyOf(params.slug), query.months, 12, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: monthsQuery(12),
        response: { 200: Continuous, ...refusals },
        detail: {
          operationId: 'getContinuousFuturesHistory',
          tags: ['futures'],
          summary: 'Continuous series, a year by default',
          description: continuousText,
        },
      },
    )
}

/** The front month lasts a month, and a holiday may lie before its first date. */
const rollLookBackDays = 14

function barIntervalOf(text: string | undefined): BarInterval {
  const interval = intervalOf(text) ?? 'day'
  const barInterval = barIntervals.find(candidate => candidate === interval)
  if (!barInterval)
    throw invalidParameter('interval', text, 'is not an interval of daily bars.', barIntervals)
  return barInterval
}

function barsOf(
  futures: Futures,
  code: Parameters<Futures['page']>[0],
  selection: ContractSelection,
  interval: BarInterval,
  { from, to }: { from: string; to: string },
  offset: number,
  limit: number,
) {
  if (interval === 'day') return futures.page(code, selection, from, to, offset, limit)
  const days = futures.merged(code, selection, interval, from, to)
  return { days: days.slice(offset, offset + limit), total: days.length }
}
