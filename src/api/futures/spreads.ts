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
import { missingParameter } from '../../http/problem/problem.ts'
import { NestedProblem } from '../../http/problem/shape.ts'
import { isoInstant } from '../../lib/instant.ts'
import { calendarPairs, calendarSpread } from '../../market/futures/curve.ts'
import { contractCode } from '../../market/futures/families.ts'
import { roundTo } from '../../market/prices/format.ts'
import { type Close, commonDays, dayAfter } from '../../market/prices/window.ts'
import type { CurvePoint } from '../../service/futures/futures.ts'
import {
  checkOrder,
  type FuturesDeps,
  type FuturesRoutes,
  noQuotes,
  type RangeParameters,
  type RequestedFamily,
  rangeQuery,
  readContract,
  readDate,
  readDays,
  readRange,
  slugParams,
  sourcesOf,
} from './query.ts'
import {
  codeField,
  countField,
  dayField,
  familyFields,
  instantField,
  monthField,
  priceField,
} from './shape.ts'

const perPageMax = 100
const spreadField = t.Number({ description: 'First minus second.', examples: [0.21] })
const percentField = t.Union([t.Number({ examples: [0.29] }), t.Null()], {
  description: 'In percent of the second; null when that is 0.',
})

const Spread = t.Object(
  {
    contract1: codeField,
    contract2: t.String({ examples: ['WTI_FUTURES_2027_02'] }),
    month1: monthField,
    month2: t.String({ examples: ['2027-02'] }),
    spread: spreadField,
    spread_percent: percentField,
    price1: priceField,
    price2: priceField,
    average: t.Number({
      description: 'Of the closes of the common dates of the period.',
      examples: [0.18],
    }),
    min: t.Number({ examples: [-0.05] }),
    max: t.Number({ examples: [0.44] }),
    timestamp: t.String({ format: 'date-time', description: 'Of the older quote.' }),
  },
  { title: 'CalendarSpread' },
)

const Spreads = t.Object(
  {
    ...familyFields,
    date: dayField,
    days: integer({ examples: [30] }),
    spreads: t.Array(Spread, {
      description: 'Neighbouring months in order, then the first against the 3rd, 6th and 12th.',
    }),
    data: t.Array(Spread, { description: 'The same list.' }),
    count: countField,
    updated_at: instantField,
  },
  { title: 'CalendarSpreads' },
)

const SpreadHistory = t.Object(
  {
    family: t.String({ examples: ['WTI_FUTURES'] }),
    ...familyFields,
    contract1: t.String({
      description: 'Contract code, or the place on the curve of each date.',
      examples: ['1'],
    }),
    contract2: t.String({ examples: ['2'] }),
    period: t.Object({ from: dayField, to: dayField }),
    count: countField,
    history: t.Array(
      t.Object({
        date: dayField,
        spread: spreadField,
        spread_percent: percentField,
        price1: priceField,
        price2: priceField,
      }),
    ),
    meta: PageMetaShape,
  },
  { title: 'SpreadHistory' },
)

/** Spreads between the months of one family: now, and over time. */
export function futuresSpreadsRoutes(deps: FuturesDeps, routes: FuturesRoutes) {
  const { futures, switched } = deps

  const spreads = (
    requested: RequestedFamily,
    query: { days?: string; date?: string },
    set: unknown,
  ) => {
    const { family, decimals, head } = requested
    const days = integerOf('days', query.days, 30, 1, 365)
    const curve = futures.curve(family.code, readDate(query.date))
    if (!curve) throw noQuotes(family.code)
    const { day: date, points } = curve
    const closes = points.map(point =>
      futures.closesOf(family.code, { month: point.contractMonth }, dayAfter(date, 1 - days), date),
    )
    const round = (value: number) => roundTo(value, decimals)
    const rowOf = (first: CurvePoint, second: CurvePoint, common: readonly number[]) => {
      const { spread, percent } = calendarSpread(first.lastPrice, second.lastPrice)
      const all = common.length > 0 ? common : [spread]
      return {
        contract1: first.contractCode,
        contract2: second.contractCode,
        month1: first.contractMonth,
        month2: second.contractMonth,
        spread: round(spread),
        spread_percent: percent === undefined ? null : roundTo(percent, 2),
        price1: round(first.lastPrice),
        price2: round(second.lastPrice),
        average: round(all.reduce((sum, value) => sum + value, 0) / all.length),
        min: round(Math.min(...all)),
        max: round(Math.max(...all)),
        timestamp: isoInstant(Math.min(first.quotedAt, second.quotedAt)),
      }
    }
    const rows = calendarPairs(points.length).map(([i, j]) =>
      rowOf(points[i - 1]!, points[j - 1]!, differences(closes[i - 1]!, closes[j - 1]!)),
    )
    routes.mark(
      set,
      family,
      points.map(point => point.source),
    )
    const updatedAt = Math.max(...points.map(point => point.quotedAt))
    return {
      ...head,
      date,
      days,
      spreads: rows,
      data: rows,
      count: rows.length,
      updated_at: isoInstant(updatedAt),
    }
  }

  /** One leg of a history: a contract, or a place on the curve of each date. */
  const legOf = (
    { family }: RequestedFamily,
    parameter: string,
    text: string | undefined,
    fallback: number,
    from: string,
    to: string,
  ) => {
    const contract = readContract(parameter, text, family) ?? { nth: fallback }
    const selection = 'month' in contract ? contract : { places: [contract.nth] }
    if (!futures.hasDays(family.code, selection))
      throw noQuotes('month' in contract ? contractCode(family.code, contract.month) : family.code)
    return {
      name: 'month' in contract ? contractCode(family.code, contract.month) : String(contract.nth),
      days: futures.page(family.code, selection, from, to, 0, Number.MAX_SAFE_INTEGER).days,
    }
  }

  const history = (
    requested: RequestedFamily,
    query: HistoryQuery,
    request: Request,
    set: { headers: Record<string, string | number> },
  ) => {
    const { family, decimals, head, nth = 1 } = requested
    const range = readDays(query)
    const hasNoRange =
      range.from === undefined &&
      range.to === undefined &&
      switched(request, 'spread_history_default')
    const { from, to } = hasNoRange ? readRange({}, futures.today(family.code)) : range
    if (from === undefined)
      throw missingParameter('from', 'the first trading date, such as 2026-10-01.')
    if (to === undefined) throw missingParameter('to', 'the last trading date, such as 2026-11-20.')
    checkOrder(from, to)
    const page = pageOf(query, perPageMax)
    const first = legOf(requested, 'contract1', query.contract1, nth, from, to)
    const second = legOf(requested, 'contract2', query.contract2, nth + 1, from, to)
    const others = new Map(second.days.map(day => [day.tradedOn, day.close]))
    const round = (value: number) => roundTo(value, decimals)
    const rows = first.days.flatMap(({ tradedOn, close }) => {
      const other = others.get(tradedOn)
      if (other === undefined) return []
      const { spread, percent } = calendarSpread(close, other)
      const spreadPercent = percent === undefined ? null : roundTo(percent, 2)
      return [
        {
          date: tradedOn,
          spread: round(spread),
          spread_percent: spreadPercent,
          price1: round(close),
          price2: round(other),
        },
      ]
    })
    const meta: PageMeta = pageMeta(page, rows.length)
    pageHeaders(set.headers, request.url, meta)
    routes.mark(set, family, sourcesOf(first.days))
    const pageRows = rows.slice((page.page - 1) * page.perPage, page.page * page.perPage)
    return {
      family: family.code,
      ...head,
      contract1: first.name,
      contract2: second.name,
      period: { from, to },
      count: pageRows.length,
      history: pageRows,
      meta,
    }
  }

  return new Elysia()
    .use(deps.access)
    .get(
      '/v1/futures/:slug/spreads',
      ({ params, query, set }) => spreads(routes.familyOf(params.slug), query, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: t.Object({
          days: t.Optional(
            t.String({
              description: 'Calendar days that average, min and max are of, 1 to 365 (30).',
              examples: ['30'],
            }),
          ),
          date: t.Optional(
            t.String({
              description: 'Trading date; default: the latest.',
              examples: ['2026-11-19'],
            }),
          ),
        }),
        response: { 200: Spreads, 400: NestedProblem, 404: NestedProblem },
        detail: {
          operationId: 'getFuturesSpreads',
          tags: ['futures'],
          summary: 'Calendar spreads',
          description:
            'Differences of the last prices of listed contracts, first minus second, and how they stood in the period.',
        },
      },
    )
    .get(
      '/v1/futures/:slug/spread-history',
      ({ params, query, request, set }) =>
        history(routes.familyOf(params.slug), query, request, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: t.Object({
          ...rangeQuery,
          contract1: t.Optional(
            t.String({
              description:
                '`YYYY-MM`, a contract code, or N: the Nth listed month of each date (1).',
              examples: ['1'],
            }),
          ),
          contract2: t.Optional(
            t.String({ description: 'The same for the second leg (2).', examples: ['2'] }),
          ),
          ...pageQuery(perPageMax),
        }),
        response: { 200: SpreadHistory, 400: NestedProblem, 404: NestedProblem },
        detail: {
          operationId: 'getFuturesSpreadHistory',
          tags: ['futures'],
          summary: 'A calendar spread over time',
          description:
            'First close minus second on every trading date that both have, newest first. `from` and `to` are required.',
        },
      },
    )
}

interface HistoryQuery extends RangeParameters {
  contract1?: string
  contract2?: string
  page?: string
  per_page?: string
}

/** First minus second on their common dates. */
const differences = (first: readonly Close[], second: readonly Close[]): number[] =>
  commonDays([first, second]).map(({ values }) => values[0]! - values[1]!)
