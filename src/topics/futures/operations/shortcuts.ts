import { t } from '../../../http/answer/schema.ts'
import { codeParameter } from '../../../http/input/typed.ts'
import { envelope, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Call, operation } from '../../../http/operations/operation.ts'
import { knownQuery } from '../../../http/operations/point-in-time.ts'
import {
  invalidParameter,
  missingParameter,
  refusedParameter,
} from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { shownMonth } from '../../catalogue/service/contract-calendar.ts'
import { roundTo } from '../../prices/math/format.ts'
import { commonDays, dayAfter } from '../../prices/math/window.ts'
import { curvePrice } from '../math/contract-days.ts'
import { calendarSpread } from '../math/curve.ts'
import {
  type Family,
  families,
  familyBySlug,
  parseContractCode,
  slugsOf,
} from '../math/families.ts'
import { type FuturesRoutes, noQuotes, refuseStale } from './query.ts'
import {
  codeField,
  contractRow,
  instantField,
  monthField,
  priceField,
  volumeOrNull,
} from './shape.ts'

const defaultTicker = 'BZ'
const averageDays = 30

const Latest = envelope(
  t.object('FuturesLatest', {
    contract: t.string('The requested name.', defaultTicker),
    contracts: t.objects('Nearest first; the first is the front month.', {
      contract: codeField,
      contract_code: codeField,
      month: t.String({ examples: ['Jan 2027'] }),
      contract_month: monthField,
      price: priceField,
      change: t.orNull(t.Number({ examples: [0.42] })),
      volume: volumeOrNull,
    }),
    updated_at: instantField,
  }),
)

const Pair = t.object('FuturesPair', {
  contract1: codeField,
  contract2: t.String({ examples: ['WTI_FUTURES_2027_02'] }),
  spread: t.number('First minus second.', 0.21),
  current_spread: t.Number({ examples: [0.21] }),
  spread_percent: t.orNull(t.Number({ examples: [0.29] })),
  average_spread: t.numberOrNull(
    `Of the prices of the common dates of the last ${averageDays} days.`,
    0.18,
  ),
  price1: priceField,
  price2: priceField,
  currency: t.String({ examples: ['USD'] }),
  unit: t.String({ examples: ['barrel'] }),
  timestamp: t.instant('Of the older quote.'),
})

const access = { feature: 'futures', meter: true, queryWorker: true } as const
const refusals = { 400: NestedProblem, 404: NestedProblem, 503: NestedProblem }
const latestQuery = t.Object({
  contract: codeParameter(
    `Slug or ticker, default: ${defaultTicker}; \`.N\` begins at the Nth listed month.`,
    'BZ',
    { default: defaultTicker },
  ),
  ...knownQuery,
})

/** Shorter ways to the same quotes: by ticker, and any two contracts against each other. */
export const futuresShortcutsOperations = (routes: FuturesRoutes) => [
  ...tickerOperations(routes),
  ...pairRoute(routes),
]

function tickerOperations(routes: FuturesRoutes) {
  const shared = {
    access,
    view: 'as_of' as const,
    query: latestQuery.properties,
    answers: { 200: Latest, ...refusals },
    handle: ({ at, query, reply }: Call<typeof latestQuery.properties, never, unknown>) =>
      tickerAnswer(at, routes, query.contract, reply),
  }
  return [
    operation('GET /v1/futures/latest', {
      operationId: 'getLatestFutures',
      summary: 'Get current futures quotes by ticker',
      description:
        'Returns the listed contracts of a family in a short form, nearest first. Quotes may be as old as those of `GET /v1/futures/{slug}`.',
      ...shared,
    }),
    operation('GET /v1/futures/curve', {
      operationId: 'getFuturesCurveByTicker',
      summary: 'Get a forward curve by ticker',
      description:
        'Returns the listed contracts of the family with this ticker, as `GET /v1/futures/{slug}` does. For the analysis of a curve use `GET /v1/futures/{slug}/curve`.',
      ...shared,
    }),
  ]
}

const pairRoute = (routes: FuturesRoutes) => [
  operation('GET /v1/futures/spreads', {
    operationId: 'getFuturesPair',
    summary: 'Get the spread between two contracts',
    description:
      'Returns the first price minus the second. The contracts belong to one family, or to two families with the same currency and unit.',
    access,
    view: 'as_of',
    query: {
      contract1: codeParameter(
        'Contract code, or ticker with its place (`CL.1`; without a place the front month). Required.',
        'CL.1',
        { required: true },
      ),
      contract2: codeParameter('The same for the second contract. Required.', 'CL.2', {
        required: true,
      }),
    },
    answers: { 200: Pair, ...refusals },
    handle: ({ at, query, reply }) => pairAnswer(at, routes, query, reply),
  }),
]

/** A slug, ticker or family code, with the place behind its point. */
function readFamily(
  { exchangeWords }: Context,
  parameter: string,
  text: string,
): { family: Family; nth: number } {
  const [, code, place] = /^(\w+?)(?:\.(\d{1,2}))?$/.exec(text) ?? []
  const byCode = families.find(family => family.code === code?.toUpperCase())
  if (byCode && (place === undefined || (Number(place) >= 1 && Number(place) <= 12)))
    return { family: byCode, nth: Number(place ?? 1) }
  const named = familyBySlug(text, exchangeWords)
  if (named) return { family: named.family, nth: named.nth ?? 1 }
  throw invalidParameter(
    parameter,
    text.slice(0, 100),
    'a futures family',
    families.flatMap(family => slugsOf(family, exchangeWords)),
  )
}

const decimalsOf = ({ exchangeWords }: Context, routes: FuturesRoutes, family: Family) =>
  routes.familyOf(slugsOf(family, exchangeWords)[0]!).decimals

function tickerAnswer(deps: Context, routes: FuturesRoutes, text: string | undefined, set: Reply) {
  const {
    futures,
    limits: { futuresMaxAgeHours: maxAgeHours },
  } = deps
  const ticker = text?.trim() || defaultTicker
  const { family, nth } = readFamily(deps, 'contract', ticker)
  const quotes = futures.quotes(family.code).slice(nth - 1)
  const fresh = futures.freshness(family.code)
  if (!fresh || quotes.length === 0) throw noQuotes(family.code)
  refuseStale(family, fresh, maxAgeHours)
  routes.mark(
    set,
    family,
    quotes.map(quote => quote.day.source),
  )
  const decimals = decimalsOf(deps, routes, family)
  const contracts = quotes.map(quote => {
    const { contract, contract_code, contract_month, price, change, volume } = contractRow(
      quote,
      family,
      decimals,
    )
    return {
      contract,
      contract_code,
      month: shownMonth(contract_month),
      contract_month,
      price,
      change,
      volume,
    }
  })
  const updatedAt = Math.max(...quotes.map(quote => quote.day.quotedAt))
  return success({ contract: ticker, contracts, updated_at: isoInstant(updatedAt) })
}

/** One leg of a spread: a contract code, or a ticker with its place. */
function legOf(
  deps: Context,
  parameter: 'contract1' | 'contract2',
  parameterText: string | undefined,
) {
  const {
    futures,
    limits: { futuresMaxAgeHours: maxAgeHours },
  } = deps
  const text = parameterText?.trim() ?? ''
  if (text === '')
    throw missingParameter(
      parameter,
      'a contract code (WTI_FUTURES_2027_01) or a ticker with its place (CL.1).',
    )
  const parsed = parseContractCode(text)
  const named = parsed ? undefined : readFamily(deps, parameter, text)
  const family = parsed?.family ?? named!.family
  const month = parsed?.month ?? futures.listedMonth(family.code, named!.nth)
  const quote = futures.quotes(family.code).find(candidate => candidate.day.month === month)
  if (!quote) throw noQuotes(text)
  refuseStale(family, futures.freshness(family.code)!, maxAgeHours)
  return { family, month, day: quote.day }
}

function pairAnswer(
  deps: Context,
  routes: FuturesRoutes,
  query: { contract1?: string; contract2?: string },
  set: Reply,
) {
  const { futures } = deps
  const [first, second] = [
    legOf(deps, 'contract1', query.contract1),
    legOf(deps, 'contract2', query.contract2),
  ]
  const { family } = first
  if (family.unit !== second.family.unit || family.currency !== second.family.currency) {
    const measures = [family, second.family].map(leg => `${leg.currency} per ${leg.unit}`)
    throw refusedParameter(
      'contract2',
      query.contract2,
      `contract2 is quoted in ${measures[1]}, but contract1 in ${measures[0]}.`,
    )
  }
  const decimals = decimalsOf(deps, routes, family)
  const { spread, percent } = calendarSpread(curvePrice(first.day), curvePrice(second.day))
  const to = futures.today(family.code)
  const closes = [first, second].map(leg =>
    futures.curvePricesOf(leg.family.code, { month: leg.month }, dayAfter(to, 1 - averageDays), to),
  )
  const common = commonDays(closes).map(({ values }) => values[0]! - values[1]!)
  const round = (value: number) => roundTo(value, decimals)
  routes.mark(set, family, [first.day.source, second.day.source])
  return {
    contract1: first.day.code,
    contract2: second.day.code,
    spread: round(spread),
    current_spread: round(spread),
    spread_percent: percent === undefined ? null : roundTo(percent, 2),
    average_spread:
      common.length === 0
        ? null
        : round(common.reduce((sum, value) => sum + value, 0) / common.length),
    price1: round(curvePrice(first.day)),
    price2: round(curvePrice(second.day)),
    currency: family.currency,
    unit: family.unit,
    timestamp: isoInstant(Math.min(first.day.quotedAt, second.day.quotedAt)),
  }
}
