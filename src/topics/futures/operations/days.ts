import { t } from '../../../http/answer/schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { integerParameter, momentParameter, wordParameter } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { intervalOf } from '../../prices/operations/window-query.ts'
import { contractCode } from '../math/families.ts'
import {
  contractQuery,
  type FuturesRoutes,
  monthOf,
  noQuotes,
  type RequestedFamily,
  readDate,
  slugParams,
  sourcesOf,
} from './query.ts'
import {
  Bar,
  barRow,
  codeField,
  countField,
  dayField,
  familyFields,
  instantField,
  monthField,
  openInterestOrNull,
  priceField,
  sourceField,
} from './shape.ts'

const defaultDays = 30
/** A larger number is refused; above `ohlcDaysMax` the answer is truncated. */
const daysAskedMax = 1e9

const oneContract = {
  ...familyFields,
  contract: codeField,
  contract_month: monthField,
  source: sourceField,
}
const { date, contract, open, high, low, close, volume, open_interest, settlement } = Bar.properties

const Ohlc = t.Object(
  {
    ...oneContract,
    days_requested: t.integer({ examples: [30] }),
    days_served: t.integer({ examples: [30] }),
    truncated: t.boolean('Whether fewer days are returned than requested.'),
    date,
    open,
    high,
    low,
    close,
    volume,
    open_interest: openInterestOrNull,
    ohlc: t.Array(
      t.Object({ date, contract, open, high, low, close, volume, open_interest, settlement }),
    ),
    count: countField,
  },
  { title: 'FuturesOhlc', description: 'At the top the newest bar; `ohlc` newest first.' },
)

const Intraday = t.object('FuturesIntraday', {
  ...oneContract,
  date: dayField,
  interval: t.Literal('5m'),
  count: countField,
  prices: t.Array(
    t.Object({
      time: t.string('UTC, `HH:MM`.', '14:55'),
      timestamp: instantField,
      price: priceField,
      volume: t.integer({ examples: [1204] }),
    }),
  ),
  updated_at: instantField,
})

/** One contract day by day, and one day of it. */
export const futuresDaysOperations = (
  deps: Context & { ohlcDaysMax: number },
  routes: FuturesRoutes,
) => [...ohlcRoute(deps, routes), ...intradayRoute(routes)]

const ohlcRoute = ({ ohlcDaysMax }: Context & { ohlcDaysMax: number }, routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/ohlc', {
    operationId: 'getFuturesOhlc',
    summary: 'List daily OHLC bars of a contract',
    description:
      'Returns bars of the front month, or of another contract, newest first. `truncated` means that fewer days are returned than requested.',
    access: { ...routes.full, queryWorker: true },
    view: 'as_of',
    params: slugParams.properties,
    query: {
      ...contractQuery('the front month'),
      days: integerParameter(
        `Calendar days back from today, 1 to ${ohlcDaysMax}, default: ${defaultDays}; more is served as ${ohlcDaysMax}.`,
        30,
        { default: defaultDays, minimum: 1, maximum: ohlcDaysMax },
      ),
      date: momentParameter('One trading date instead.', '2026-11-19'),
      interval: wordParameter(['1d'], '`1d` only.', '1d', { default: '1d' }),
    },
    answers: { 200: Ohlc, 400: CodeProblem },
    handle: ({ at, params, query, reply }) =>
      ohlcAnswer(routes.at(at), routes.familyOf(params.slug), query, ohlcDaysMax, reply),
  }),
]

const intradayRoute = (routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/intraday', {
    operationId: 'getFuturesIntraday',
    summary: 'List five-minute prices of a trading date',
    description:
      'Returns the bars of a trading date, oldest first. A trading date is that of the exchange: where the session opens in the evening, it begins on the calendar day before. Times are UTC.',
    access: { ...routes.full, queryWorker: true },
    view: 'as_of',
    unpaged: true,
    params: slugParams.properties,
    query: {
      ...contractQuery('the front month'),
      date: momentParameter(
        'Trading date; default: the running one, or the last that has prices.',
        '2026-11-20',
      ),
    },
    answers: Intraday,
    handle: ({ at, params, query, reply }) =>
      intradayAnswer(routes.at(at), routes.familyOf(params.slug), query, reply),
  }),
]

/** The contract that a query names, or the front month. */
function requestedContract(
  { futures }: FuturesRoutes,
  requested: RequestedFamily,
  text: string | undefined,
) {
  const month = monthOf(futures, requested, text) ?? futures.listedMonth(requested.family.code, 1)
  return { month, code: contractCode(requested.family.code, month) }
}

function ohlcAnswer(
  routes: FuturesRoutes,
  requested: RequestedFamily,
  query: { contract?: string; days?: string; date?: string; interval?: string },
  ohlcDaysMax: number,
  set: Reply,
) {
  const { futures } = routes
  const { family, decimals, head } = requested
  const { month, code } = requestedContract(routes, requested, query.contract)
  if ((intervalOf(query.interval) ?? 'day') !== 'day')
    throw invalidParameter('interval', query.interval, ['1d'])
  const requestedDays = integerOf('days', query.days, defaultDays, 1, daysAskedMax)
  const served = Math.min(requestedDays, ohlcDaysMax)
  const day = readDate(query.date)
  const to = day ?? futures.today(family.code)
  const { days } = futures.page(
    family.code,
    { month },
    day ?? dayAfter(to, 1 - served),
    to,
    0,
    served,
  )
  const newest = days[0]
  if (!newest) throw noBars(code, day)
  const source = routes.mark(set, family, sourcesOf(days))
  const top = barRow(newest, decimals)
  return {
    ...head,
    contract: code,
    contract_month: month,
    source,
    days_requested: requestedDays,
    days_served: served,
    truncated: served < requestedDays,
    date: top.date,
    open: top.open,
    high: top.high,
    low: top.low,
    close: top.close,
    volume: top.volume,
    open_interest: top.open_interest,
    ohlc: days.map(row => {
      const { date, contract, open, high, low, close, volume, open_interest, settlement } = barRow(
        row,
        decimals,
      )
      return { date, contract, open, high, low, close, volume, open_interest, settlement }
    }),
    count: days.length,
  }
}

function intradayAnswer(
  routes: FuturesRoutes,
  requested: RequestedFamily,
  query: { contract?: string; date?: string },
  set: Reply,
) {
  const { family, decimals, head } = requested
  const { month, code } = requestedContract(routes, requested, query.contract)
  const day = readDate(query.date)
  const trading = routes.futures.intraday(family.code, month, day)
  if (!trading) throw noBars(code, day)
  const source = routes.mark(set, family, [trading.source])
  return {
    ...head,
    contract: code,
    contract_month: month,
    source,
    date: trading.day,
    interval: '5m' as const,
    count: trading.ticks.length,
    prices: trading.ticks.map(({ tradedAt, price, volume: lots }) => {
      const timestamp = isoInstant(tradedAt)
      return {
        time: timestamp.slice(11, 16),
        timestamp,
        price: roundTo(price, decimals),
        volume: lots,
      }
    }),
    updated_at: isoInstant(trading.ticks.at(-1)!.tradedAt),
  }
}

const noBars = (code: string, day: string | undefined): Problem =>
  day === undefined
    ? noQuotes(code)
    : new Problem('DATA_NOT_AVAILABLE', `There are no prices of ${code} on ${day}.`, {
        commodity_code: code,
        date: day,
      })
