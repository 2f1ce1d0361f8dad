import type { TSchema } from '@sinclair/typebox'
import { t } from '../../../http/answer/schema.ts'
import type { KeyAccess } from '../../../http/gate/access-kind.ts'
import { integerOf, listOf } from '../../../http/input/query.ts'
import { codesParameter, integerParameter, textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { missingParameter } from '../../../http/problem/problem.ts'
import { secondMs, startOfDay } from '../../../lib/time/instant.ts'
import { calendarOf } from '../../calendars/math/calendar.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import { mentions } from '../../catalogue/math/lookup.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { priceChange } from '../../prices/math/change.ts'
import { roundTo } from '../../prices/math/format.ts'
import { intradayResolutions, resolutions } from '../math/resolution.ts'
import { sessionText } from '../math/session.ts'
import type { CorrectionStore } from '../store/corrections.ts'
import { barsMax, countMax, hasBars, historyOf, pricesIn } from './bars.ts'
import { marked, marksMax, marksOf, timescaleMarksOf } from './marks.ts'
import { type Incoming, momentOf, noteRead, readSymbol } from './reading.ts'
import {
  ChartRefusal,
  FoundSymbol,
  HistoryAnswer,
  Mark,
  publishedSymbol,
  Quotes,
  rangeParameters,
  SymbolAnswer,
  symbolParameter,
  TimescaleMark,
} from './shape.ts'

const searchDefault = 30
const searchMax = 200

/** A refusal has the form that the protocol's clients show. */
const access: KeyAccess = {
  meter: true,
  linkKey: true,
  refusalAnswer: ({ message, status }) => ({
    status,
    text: JSON.stringify({ s: 'error', errmsg: message }),
    contentType: 'application/json; charset=utf-8',
  }),
  refusalSchema: ChartRefusal,
}

/** Zones that the charting library does not know, by one with the same time all year that it knows. */
const knownZones: Readonly<Record<string, string>> = {
  UTC: 'Etc/UTC',
  'Etc/GMT+5': 'America/Bogota',
}

/** Describes a code to a chart. */
function symbolOf({ series, code }: Resolved, exchange: string) {
  const intraday = isIntraday(series.cadence)
  const zone = series.delivery?.zone ?? 'UTC'
  return {
    name: code,
    ticker: code,
    description: series.name,
    type: series.category,
    session: series.delivery ? '24x7' : sessionText(calendarOf(series)),
    timezone: knownZones[zone] ?? zone,
    exchange,
    listed_exchange: exchange,
    // The library's own datafeed sends it back, and fails on null.
    ...(series.currency !== null && { currency_code: series.currency }),
    unit_id: series.unit,
    minmov: 1,
    pricescale: 10 ** series.decimals,
    has_intraday: intraday,
    has_daily: true,
    has_weekly_and_monthly: true,
    intraday_multipliers: intraday ? [...intradayResolutions] : [],
    supported_resolutions: resolutions.filter(resolution => hasBars(series, resolution)),
    visible_plots_set: series.contractOf === null ? 'ohlc' : 'ohlcv',
    volume_precision: 0,
    data_status: intraday ? 'delayed_streaming' : 'endofday',
  }
}

/** The quotes of codes, each with an error where there is none. */
function quotesOf(incoming: Incoming, exchange: string) {
  const { at, query, request } = incoming
  const symbols = listOf(query.symbols)
  if (symbols.length === 0) throw missingParameter('symbols', 'one or more codes.')
  const moment = momentOf(incoming)
  const commodities = symbols.map(name => at.catalogue.resolve(name, at.now()))
  const resolved = commodities.filter(commodity => commodity !== undefined)
  // Refuses too many codes, and where none is known.
  if (resolved.length === 0 || symbols.length > at.limits.codesPerRequestMax)
    at.codes.read(symbols, request)
  noteRead(incoming, moment, resolved)
  return {
    s: 'ok',
    d: symbols.map((name, i) => {
      const commodity = commodities[i]
      const quote = commodity && moment.prices.latestPrices.quote(commodity.series)
      if (!commodity || !quote)
        return { s: 'error', n: name, v: { errmsg: 'There is no price of this code.' } }
      const { series, code } = commodity
      const { value, observedAt } = quote.observation
      const earlier = { from: Number.NEGATIVE_INFINITY, to: startOfDay(observedAt) }
      const [before] = pricesIn(moment.prices.history, series, earlier, 1)
      const change = before && priceChange(before.value, value, series.decimals)
      return {
        s: 'ok',
        n: name,
        v: {
          lp: roundTo(value, series.decimals),
          ...(change && {
            ch: change.amount,
            ...(change.percent !== undefined && { chp: change.percent }),
            prev_close_price: change.previous,
          }),
          short_name: code,
          description: series.name,
          exchange,
          lp_time: Math.floor(observedAt / secondMs),
        },
      }
    }),
  }
}

function searchOf({ at, query }: Incoming, exchange: string) {
  const text = (query.query ?? '').trim()
  const limit = integerOf('limit', query.limit, searchDefault, 1, countMax)
  const isWanted = (series: Series) =>
    (!query.type || series.category === query.type) && at.catalogue.hasData(series)
  const upper = text.toUpperCase()
  const named = at.catalogue.list().filter(series => mentions(series, upper) && isWanted(series))
  const matches = named.length > 0 ? named : at.catalogue.suggest(text).filter(isWanted)
  const rank = ({ code }: Series) => (code === upper ? 0 : code.startsWith(upper) ? 1 : 2)
  return matches
    .toSorted((a, b) => rank(a) - rank(b) || a.code.localeCompare(b.code))
    .slice(0, Math.min(limit, searchMax))
    .map(series => ({
      symbol: series.code,
      full_name: series.code,
      ticker: series.code,
      description: series.name,
      exchange,
      type: series.category,
    }))
}

interface Part {
  name: string
  operationId: string
  summary: string
  description: string
  query?: Record<string, TSchema>
  answer: TSchema
  handle(incoming: Incoming): unknown
}

const partsOf = (
  { catalogue, serviceName: exchange }: Context,
  corrections: CorrectionStore,
): readonly Part[] => [
  {
    name: 'config',
    operationId: 'getChartConfig',
    summary: 'Get the capabilities of the chart datafeed',
    description: 'Returns what a chart may request: resolutions, categories and marks.',
    answer: t.Object({}, { additionalProperties: true, title: 'ChartConfig' }),
    handle: () => ({
      supported_resolutions: [...resolutions],
      supports_group_request: false,
      supports_search: true,
      supports_marks: true,
      supports_timescale_marks: true,
      supports_time: true,
      exchanges: [{ value: exchange, name: exchange, desc: exchange }],
      symbols_types: [
        { name: 'All', value: '' },
        ...[...new Set(catalogue.list().map(({ category }) => category))]
          .toSorted()
          .map(category => ({ name: category.replaceAll('_', ' '), value: category })),
      ],
    }),
  },
  {
    name: 'time',
    operationId: 'getChartTime',
    summary: 'Get the time of the server',
    description: 'Returns the time of the server in Unix seconds, as text.',
    answer: t.String({ examples: ['1763078400'] }),
    handle(incoming) {
      // Without a body, as for HEAD, the runtime cannot derive the type.
      incoming.reply.headers['content-type'] = 'text/plain; charset=utf-8'
      return String(Math.floor(momentOf(incoming).prices.now() / secondMs))
    },
  },
  {
    name: 'symbols',
    operationId: 'getChartSymbol',
    summary: 'Get a code for a chart',
    description:
      'Returns the description of a code: name, session, decimals and the resolutions that it has.',
    query: { symbol: symbolParameter },
    answer: SymbolAnswer,
    handle: incoming => symbolOf(readSymbol(incoming, incoming.query.symbol).commodity, exchange),
  },
  {
    name: 'search',
    operationId: 'searchChartSymbols',
    summary: 'Search codes for a chart',
    description: 'Returns codes whose name or code contains a text, the nearest first.',
    query: {
      query: textParameter('Part of a code or name.', 'WTI'),
      type: textParameter('A category.', 'crude_oil'),
      exchange: textParameter('Ignored: there is one.'),
      limit: integerParameter('Number of codes.', 30, {
        default: searchDefault,
        minimum: 1,
        maximum: searchMax,
      }),
    },
    answer: t.Array(FoundSymbol),
    handle: incoming => searchOf(incoming, exchange),
  },
  {
    name: 'quotes',
    operationId: 'listChartQuotes',
    summary: 'List newest prices for a chart',
    description: 'Returns the newest price of each code with its change since the previous close.',
    query: {
      symbols: codesParameter(undefined, 'Codes, separated by commas.', 'WTI_USD', {
        required: true,
      }),
    },
    answer: Quotes,
    handle: incoming => quotesOf(incoming, exchange),
  },
  {
    name: 'history',
    operationId: 'getChartHistory',
    summary: 'Get bars for a chart',
    description: `Returns bars of a code as parallel lists, oldest first, at most ${barsMax}. With \`countback\` the newest so many before \`to\`, whatever \`from\` is. Without bars \`no_data\`, and in \`nextTime\` where older ones begin.`,
    query: {
      ...rangeParameters,
      countback: integerParameter('Number of bars before `to`.', 300, { minimum: 1 }),
    },
    answer: HistoryAnswer,
    handle: historyOf,
  },
  {
    name: 'marks',
    operationId: 'listChartMarks',
    summary: 'List corrections for a chart',
    description: `Returns corrections of prices in a range, the newest ${marksMax}, each at the time of the price.`,
    query: rangeParameters,
    answer: t.Array(Mark),
    handle: incoming => marksOf(...marked(incoming), corrections),
  },
  {
    name: 'timescale_marks',
    operationId: 'listChartTimescaleMarks',
    summary: 'List publications and rolls for a chart',
    description:
      'Returns the publications of a weekly or monthly series, or the last trading days of a family of futures, in a range.',
    query: { ...rangeParameters, symbol: publishedSymbol },
    answer: t.Array(TimescaleMark),
    handle: incoming => timescaleMarksOf(...marked(incoming)),
  },
]

const keyInPath = { key: t.string('A read-only key.') }
const timeInPath = { as_of: t.string('A moment of the past.', '2026-11-01T12:00:00Z') }

/** A part at its address, and with a key or a moment in its path. */
function operationsOf({ name, answer, handle, ...described }: Part): Operation[] {
  const { operationId, summary, description, ...rest } = described
  const definition = {
    ...rest,
    // Bars of minutes are made of thousands of prices.
    access: name === 'history' ? { ...access, queryWorker: true as const } : access,
    answers: { 200: answer, 400: ChartRefusal },
    handle: (call: unknown) => handle(call as Incoming) as never,
  }
  const hidden = { ...definition, hidden: true as const }
  const params = { ...keyInPath, ...timeInPath }
  return [
    operation(`GET /udf/${name}`, { ...definition, operationId, summary, description }),
    operation(`GET /udf/as_of/:as_of/${name}`, { ...hidden, params: timeInPath }),
    operation(`GET /udf/key/:key/${name}`, { ...hidden, params: keyInPath }),
    operation(`GET /udf/key/:key/as_of/:as_of/${name}`, { ...hidden, params }),
  ]
}

/**
 * The datafeed protocol of charting libraries below `/udf`. The time of `/udf/as_of/<time>/…` makes
 * every answer that of a moment of the past, and a page that can send no header puts a read-only key
 * into the path: `/udf/key/<key>/…`.
 */
export const datafeedOperations = (
  context: Context,
  corrections: CorrectionStore,
): readonly Operation[] => partsOf(context, corrections).flatMap(operationsOf)
