import type { TSchema } from '@sinclair/typebox'

import { t } from '../../../http/answer/schema.ts'
import type { KeyAccess } from '../../../http/gate/access-kind.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { instantOf, integerOf, listOf } from '../../../http/input/query.ts'
import { codesParameter, integerParameter, textParameter } from '../../../http/input/typed.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { vintageHeaders } from '../../../http/operations/point-in-time.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { isoDay, parseDay, secondMs, startOfDay } from '../../../lib/time/instant.ts'
import { calendarOf } from '../../calendars/math/calendar.ts'
import { releasedAt, scheduleOf } from '../../calendars/math/schedule.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import { mentions } from '../../catalogue/math/lookup.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { lastTradingDay, listedMonths } from '../../futures/math/contracts.ts'
import { families } from '../../futures/math/families.ts'
import { type BarInterval, bucketEnd, bucketStart } from '../../prices/math/bars.ts'
import { priceChange } from '../../prices/math/change.ts'
import { createBucketFinder } from '../../prices/math/cut-bars.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { PricesView } from '../../prices/service/reads/vintage.ts'
import {
  type ChartBar,
  intradayResolutions,
  minuteBars,
  type Resolution,
  resolutionOf,
  resolutions,
  storedIntervalOf,
} from '../math/resolution.ts'
import { sessionText } from '../math/session.ts'
import type { CorrectionStore } from '../store/corrections.ts'
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

/** More bars than any screen shows; a chart pages on by itself. */
export const barsMax = 5000
/** Raw prices that bars of minutes are made of in one answer. */
const pricesMax = 50_000
const marksMax = 500
/** Months of contracts whose last trading days are marked in one answer. */
const rollsMax = 240
const searchDefault = 30
const searchMax = 200
/** Counts have no maximum: what is answered has its own. */
const countMax = Number.MAX_SAFE_INTEGER

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

/** The prices of now, or those that were known at a moment, as a request reads them. */
type Prices = Pick<PricesView, 'history' | 'latestPrices' | 'closes' | 'now'>

interface Moment {
  prices: Prices
  asOf: number | undefined
}

/** A request that reads prices. */
export interface Reading {
  at: Context
  /** Undefined where the path has no parameters. */
  params?: { as_of?: string } | undefined
  caller: Caller
  request: Request
  reply: Reply
}

/** A request of any part of the protocol. */
interface Incoming extends Reading {
  query: Record<string, string | undefined>
}

/** A half-open range, Unix ms. */
interface Range {
  from: number
  to: number
}

/** A code that is read, and the moment whose prices are. */
interface Read {
  commodity: Resolved
  moment: Moment
}

/** The moment that the path names. */
function momentOf({ at, params }: Reading): Moment {
  const asOf = instantOf('as_of', params?.as_of)
  return { prices: asOf === undefined ? at : at.pricesAt({ asOf }), asOf }
}

function seconds(name: string, text: string | undefined): number {
  if (text === undefined || text === '') throw missingParameter(name, 'a time in Unix seconds.')
  const value = Number(text)
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER / secondMs)
    throw invalidParameter(name, text, 'a time in Unix seconds')
  return Math.floor(value) * secondMs
}

function resolutionIn(text: string | undefined): Resolution {
  const resolution = resolutionOf(text ?? 'D')
  if (!resolution) throw invalidParameter('resolution', text ?? '', resolutions)
  return resolution
}

/** Prices as they were recorded, newest first. */
const pricesIn = (history: Prices['history'], { id }: Series, { from, to }: Range, limit: number) =>
  history.page({
    seriesIds: [id],
    interval: 'raw',
    from: Math.max(from, Number.MIN_SAFE_INTEGER),
    to,
    limit,
    offset: 0,
  }).rows

/** Bars that start in a range, oldest first: the newest `count` of them before `to`. */
export function barsIn(
  history: Prices['history'],
  series: Series,
  resolution: Resolution,
  range: Range,
  count: number,
): ChartBar[] {
  const interval = storedIntervalOf(resolution)
  if (interval) {
    // The range names starts of bars: those that it begins or ends within are answered whole.
    const { from, to } = range
    const { start, end } = bucketsOf(interval, series)
    const first = Number.isFinite(from) ? start(from) : from
    const opens = first < from ? end(first) : first
    const closes = end(start(to - 1))
    return history
      .page({
        seriesIds: [series.id],
        interval,
        from: Math.max(opens, Number.MIN_SAFE_INTEGER),
        to: closes,
        limit: count,
        offset: 0,
        ...(series.delivery && { cutOf: () => marketCut(series.delivery!) }),
      })
      .rows.map(({ bar }) => ({
        time: bar!.startsAt / secondMs,
        open: bar!.open,
        high: bar!.high,
        low: bar!.low,
        close: bar!.close,
      }))
      .reverse()
  }
  const rows = pricesIn(history, series, range, pricesMax)
  const bars = minuteBars(rows.reverse(), Number(resolution))
  // The first bar of a cut list may lack its first prices.
  return (rows.length === pricesMax ? bars.slice(1) : bars).slice(-count)
}

const firstChartAt = parseDay('1900-01-01')!
const lastChartAt = parseDay('2200-01-01')!

/** Bars of a series of delivery periods are of its market days. */
const marketCut = (delivery: DeliveryTerms) => ({
  days: delivery,
  delivery,
  from: Number.MIN_SAFE_INTEGER,
  to: Number.MAX_SAFE_INTEGER,
})

function bucketsOf(interval: BarInterval, { delivery }: Series) {
  if (!delivery)
    return {
      start: (at: number) => bucketStart(interval, at),
      end: (at: number) => bucketEnd(interval, at),
    }
  const bucketOf = createBucketFinder(interval, delivery)
  // Charts request times before and after all that a calendar has.
  const known = (at: number) => Math.max(firstChartAt, Math.min(lastChartAt, at))
  return {
    start: (at: number) => bucketOf(known(at)).from,
    end: (at: number) => bucketOf(known(at)).to,
  }
}

const hasBars = (series: Series, resolution: Resolution): boolean =>
  isIntraday(series.cadence) || !intradayResolutions.includes(resolution)

/** Describes a code to a chart. */
function symbolOf({ series, code }: Resolved, exchange: string) {
  const intraday = isIntraday(series.cadence)
  return {
    name: code,
    ticker: code,
    description: series.name,
    type: series.category,
    session: series.delivery ? '24x7' : sessionText(calendarOf(series)),
    timezone: series.delivery?.zone ?? 'Etc/UTC',
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

/** `from` and `to` of a request, in milliseconds. */
const rangeOf = (query: Incoming['query']): Range => ({
  from: seconds('from', query.from),
  to: seconds('to', query.to),
})

const dayOfBar = ({ time }: ChartBar): string => isoDay(time * secondMs)

/** Resolves a code, and notes that its prices are read. */
export function readSymbol(reading: Reading, symbol: string | undefined): Read {
  const { at, request } = reading
  if (!symbol) throw missingParameter('symbol', 'a code or alias.')
  const commodity = at.codes.read([symbol], request, 1)[0]!
  const moment = momentOf(reading)
  noteRead(reading, moment, [commodity])
  return { commodity, moment }
}

function noteRead(
  { at, reply, caller }: Reading,
  { asOf }: Moment,
  commodities: readonly Resolved[],
): void {
  const ids = commodities.map(({ series }) => series.id)
  markFixtures(reply, at.marks, commodities)
  at.meter.noteRequested(caller.key, ids)
  if (asOf === undefined || ids.length === 0) return
  const since = Math.max(...ids.map(id => at.coverage.since(id, asOf)))
  Object.assign(reply.headers, vintageHeaders(asOf, since))
}

function historyOf(incoming: Incoming) {
  const { at, query } = incoming
  const resolution = resolutionIn(query.resolution)
  const countback = query.countback
    ? integerOf('countback', query.countback, 1, 1, countMax)
    : undefined
  const to = seconds('to', query.to)
  const from = countback === undefined ? seconds('from', query.from) : Number.NEGATIVE_INFINITY
  const { commodity, moment } = readSymbol(incoming, query.symbol)
  const { series } = commodity
  if (!hasBars(series, resolution)) return { s: 'no_data' }
  const read = (range: Range, count: number) =>
    barsIn(moment.prices.history, series, resolution, range, count)
  const bars = read({ from, to }, Math.min(countback ?? barsMax, barsMax))
  if (bars.length === 0) {
    // A request by count has covered everything before `to`.
    const [earlier] =
      countback === undefined ? read({ from: Number.NEGATIVE_INFINITY, to: from }, 1) : []
    return { s: 'no_data', ...(earlier && { nextTime: earlier.time }) }
  }
  const isTraded = series.contractOf !== null && moment.asOf === undefined && resolution === 'D'
  const volumes = isTraded
    ? at.futures.volumes(series.id, dayOfBar(bars[0]!), dayOfBar(bars.at(-1)!))
    : undefined
  const shown = (value: number) => roundTo(value, series.decimals)
  return {
    s: 'ok',
    t: bars.map(({ time }) => time),
    o: bars.map(({ open }) => shown(open)),
    h: bars.map(({ high }) => shown(high)),
    l: bars.map(({ low }) => shown(low)),
    c: bars.map(({ close }) => shown(close)),
    ...(volumes && { v: bars.map(bar => volumes.get(dayOfBar(bar)) ?? 0) }),
  }
}

/** The code and the range of a request for marks; marks are the same in every resolution. */
function marked(incoming: Incoming): [Read, Range] {
  const { query } = incoming
  resolutionIn(query.resolution)
  const range = rangeOf(query)
  return [readSymbol(incoming, query.symbol), range]
}

/** Corrections of prices in a range, at the bars that they changed. */
export function marksOf(
  { commodity, moment }: Read,
  { from, to }: Range,
  corrections: CorrectionStore,
) {
  const { id, decimals } = commodity.series
  return corrections
    .between(id, from, to, moment.asOf ?? moment.prices.now(), marksMax)
    .map(({ observedAt, correctedAt, before, after }) => ({
      id: `correction-${observedAt}`,
      time: Math.floor(observedAt / secondMs),
      color: 'red',
      label: 'C',
      text:
        after === null
          ? `Withdrawn on ${isoDay(correctedAt)}; was ${roundTo(before, decimals)}.`
          : `Corrected on ${isoDay(correctedAt)}: ${roundTo(before, decimals)} to ${roundTo(after, decimals)}.`,
      labelFontColor: 'white',
      minSize: 14,
    }))
}

/** Publications in a range, and last trading days of a family of futures. */
export function timescaleMarksOf({ commodity, moment }: Read, { from, to }: Range) {
  const { series, code } = commodity
  const family = families.find(listed => listed.code === (series.contractOf ?? code))
  if (family) {
    const months = listedMonths(family.code, isoDay(from), rollsMax)
    return months.flatMap(month => {
      const day = lastTradingDay(family.code, month)
      const at = parseDay(day)!
      if (at < from || at >= to) return []
      return [
        {
          id: `roll-${month}`,
          time: at / secondMs,
          color: 'blue',
          label: 'R',
          tooltip: [`Last trading day of ${family.name} ${month}`],
        },
      ]
    })
  }
  // Daily prices come out every day, so only the dates of rarer publications are shown.
  if (isIntraday(series.cadence) || series.cadence === 'daily') return []
  const schedule = scheduleOf(series)
  const rows = pricesIn(moment.prices.history, series, { from, to }, marksMax)
  return rows.reverse().map(({ observedAt, value }) => ({
    id: `release-${observedAt}`,
    time: Math.floor(releasedAt(schedule, observedAt) / secondMs),
    color: 'green',
    label: 'P',
    tooltip: [
      `Published: ${roundTo(value, series.decimals)} ${series.unit} for ${isoDay(observedAt)}`,
    ],
  }))
}

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

/** What a chart may request, and the time. */
const serviceParts = ({ catalogue }: Context, exchange: string): Part[] => [
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
]

/** Codes and their newest prices. */
const symbolParts = (exchange: string): Part[] => [
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
]

const barParts: readonly Part[] = [
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
]

const markParts = (corrections: CorrectionStore): Part[] => [
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
function operationsOf({
  name,
  operationId,
  summary,
  description,
  query,
  answer,
  handle,
}: Part): Operation[] {
  const definition = {
    // Bars of minutes are made of thousands of prices.
    access: name === 'history' ? { ...access, queryWorker: true as const } : access,
    ...(query && { query }),
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
export function datafeedOperations(
  context: Context,
  corrections: CorrectionStore,
): readonly Operation[] {
  const exchange = context.serviceName
  return [
    ...serviceParts(context, exchange),
    ...symbolParts(exchange),
    ...barParts,
    ...markParts(corrections),
  ].flatMap(operationsOf)
}
