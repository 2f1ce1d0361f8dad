import { jsonType } from '../../../http/answer/complete.ts'
import type { Text } from '../../../http/answer/own-text.ts'
import { preferredType } from '../../../http/input/accept.ts'
import { answeredPage, pageOf } from '../../../http/input/page.ts'
import { listOf, wordOf } from '../../../http/input/query.ts'
import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { vintageHeaders } from '../../../http/operations/point-in-time.ts'
import { refusedParameter } from '../../../http/problem/problem.ts'
import { pieceOf, TextBuffer } from '../../../lib/text/text-buffer.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { priceType, priceTypes, sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type Interval, storedInterval } from '../math/interval.ts'
import { createDailyFx } from '../service/daily-fx.ts'
import type { HistoryRow } from '../service/reads/history.ts'
import {
  createPagingSnapshots,
  type Question,
  type WalkedPage,
} from '../service/reads/paging-snapshots.ts'
import type { RowSources } from '../service/row-sources.ts'
import { currencyOf, noRate } from './currency.ts'
import { isFullOf } from './precision.ts'
import { disclosureRow } from './row.ts'
import { pricedLike } from './texts.ts'
import {
  asOfOf,
  hasRange,
  intervalOf,
  type Range,
  rangeOf,
  requestedRange,
  servedInterval,
  type WindowQuery,
  windowFormats,
} from './window-query.ts'
import { createRowWriter, csvHeader, type RowOptions } from './window-row.ts'
import type { BarDays, CutRange } from './zone-query.ts'

/** A window for clients that never request a second page: a year of hours. */
const wholePerPageMax = 10_000
/** Rows of a page of lines, which a table reads as they come. */
export const linesPerPageMax = 10_000
/** Rows of a page, for clients whose profile has wide pages. */
const widePerPageMax = 1000

/** The query of a request, read and checked. */
interface WindowRequest {
  commodities: Resolved[]
  interval: Interval
  downsampled: boolean
  range: Range
  asOf: number | undefined
  /** The days that dates and bars refer to; undefined: days in UTC. */
  days: BarDays | undefined
  cut: CutRange | undefined
  /** Codes that were left out because they are unknown. */
  unknown: readonly string[]
  /** The window differs from the requested one. */
  isShifted?: boolean
}

/**
 * Returns the text of a response, JSON in UTF-8 or CSV, and sets its headers; `pathDays` is the
 * window of the path.
 */
export type WindowAnswer = (
  query: WindowQuery,
  pathDays: number,
  request: Request,
  reply: Reply,
  keyId: string,
) => Text

export function createWindowAnswer(deps: Context): WindowAnswer {
  const walks = createPagingSnapshots(deps.history, deps.ingest)
  const readRequest = createWindowRequests(deps)
  const out = new TextBuffer()

  const textOf = (
    form: WindowForm,
    rows: readonly HistoryRow[],
    writerOf: ReturnType<typeof rowWriters>,
    around: { csvHeader: string; end(): string },
  ): Text => {
    if (form === 'csv')
      return `${[around.csvHeader, ...rows.map(row => writerOf(row).csv(row))].join('\n')}\n`
    out.clear()
    if (form === 'json') out.piece(bodyStart)
    for (let i = 0; i < rows.length; i += 1) {
      if (form === 'json' && i > 0) out.piece(separator)
      writerOf(rows[i]!).json(rows[i]!, out)
      if (form === 'ndjson') out.piece(lineEnd)
    }
    if (form === 'json') out.text(`],${around.end()}`)
    return out.take()
  }

  return (query, pathDays, request, set, keyId) => {
    const now = deps.now()
    const windowRequest = readRequest(query, pathDays, request, set.headers, now)
    const { commodities, interval, asOf } = windowRequest
    const form = formOf(query.format, request)
    const page = windowPage(deps, query, form, request)
    const walked = walks.page(
      questionOf(windowRequest, `${keyId} ${page.perPage}`, deps.pricesAt),
      page.page,
      page.perPage,
      now,
    )
    const meta = answeredPage(page, { request, headers: set.headers }).meta(walked.total)
    set.headers['x-cache'] = 'MISS'
    markFixtures(set, deps.marks, commodities)
    const rowOptions = rowOptionsOf(deps, query, asOf, now)
    const sources = deps.sourcesOfRows(
      walked.rows,
      {
        interval: storedInterval(interval),
        from: walked.from,
        to: walked.to,
        cutOf: windowRequest.cut?.cutOf,
      },
      asOf !== undefined,
    )
    const writerOf = rowWriters(commodities, rowOptions, sources)
    const text = textOf(form, walked.rows, writerOf, {
      csvHeader: csvHeader(rowOptions.currency !== undefined),
      end() {
        const metadata = metadataOf(windowRequest, query.interval, walked, sources, deps)
        return `"metadata":${JSON.stringify(metadata)}},"meta":${JSON.stringify(meta)}}`
      },
    })
    set.headers['content-type'] = contentTypes[form]
    if (asOf !== undefined) {
      const since = seriesOf(commodities).map(({ id }) => deps.coverage.since(id, asOf))
      // The rates of a conversion are known once all rows are written.
      const coveredSince = Math.max(...since, rowOptions.coverageSince() ?? since[0] ?? asOf)
      Object.assign(set.headers, vintageHeaders(asOf, coveredSince))
    }
    return text
  }
}

const contentTypes = {
  json: jsonType,
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const

/** Reads and checks queries. */
function createWindowRequests(deps: Context) {
  const readRequest = (
    query: WindowQuery,
    pathDays: number,
    httpRequest: Request,
    headers: Reply['headers'],
    now: number,
  ): WindowRequest => {
    const names = listOf(query.by_code || query.commodity || query.code)
    const { known, unknown } = deps.codes.readSome(
      names.length > 0 ? names : deps.firstCodes,
      httpRequest,
      headers,
    )
    const commodities = ofType(known, query.by_type)
    const requestedInterval = intervalOf(query.interval)
    const asOf = asOfOf(query.as_of, requestedInterval)
    // A window reaches back from the requested moment.
    const at = Math.min(now, asOf ?? now)
    const requested = requestedRange(query, seriesOf(commodities), pathDays, at)
    // Revisions are kept of observations only, so a read as of a past moment never answers bars.
    const served =
      asOf === undefined
        ? servedInterval(requestedInterval, seriesOf(commodities), requested.range)
        : { interval: 'raw' as const, downsampled: false }
    return { commodities, unknown, asOf, ...requested, ...served }
  }

  /** The last day that has prices, for a client that wants it where the past day has none. */
  const shifted = (
    query: WindowQuery,
    pathDays: number,
    request: Request,
    requested: WindowRequest,
  ): WindowRequest | undefined => {
    const { commodities, range } = requested
    if (pathDays !== 1 || hasRange(query) || !deps.switched(request, 'past_day_shifted')) return
    const newest = Math.max(
      ...commodities.map(
        ({ series }) => deps.latestPrices.quote(series)?.observation.observedAt ?? 0,
      ),
    )
    if (newest >= range.from || newest === 0) return
    const { from, to } = rangeOf(query, pathDays, newest)
    return {
      ...requested,
      cut: undefined,
      isShifted: true,
      range: { from, to, fixed: `day to ${newest}` },
    }
  }

  return (...requested: Parameters<typeof readRequest>): WindowRequest => {
    const [query, pathDays, request] = requested
    const windowRequest = readRequest(...requested)
    return shifted(query, pathDays, request, windowRequest) ?? windowRequest
  }
}

/** The page that a query names, or all rows for a client that requests no second page. */
function windowPage(
  deps: Pick<Context, 'perPageMax' | 'switched'>,
  query: WindowQuery,
  form: WindowForm,
  request: Request,
) {
  // A spreadsheet reads one response.
  const isWhole =
    query.page === undefined &&
    query.per_page === undefined &&
    (form !== 'json' || deps.switched(request, 'default_page_max'))
  if (isWhole) return { page: 1, perPage: wholePerPageMax, offset: 0 }
  const widestPage =
    form !== 'json'
      ? Math.max(linesPerPageMax, deps.perPageMax)
      : deps.switched(request, 'page_max_1000')
        ? widePerPageMax
        : deps.perPageMax
  return pageOf(query, widestPage, deps.perPageMax)
}

/** The form of rows; a conversion needs the rates of its moment. */
function rowOptionsOf(
  deps: Context,
  query: WindowQuery,
  asOf: number | undefined,
  now: number,
): Omit<RowOptions, 'sourceOf' | 'derivedFrom'> & { coverageSince(): number | undefined } {
  const isFull = isFullOf(query.precision)
  const currency = query.currency
    ? currencyOf('currency', query.currency, deps.exchange, now)
    : undefined
  const past = asOf === undefined ? undefined : deps.pricesAt({ asOf })
  const rates = createDailyFx(deps.catalogue, past?.closes ?? deps.closes)
  return {
    isFull,
    ...(currency !== undefined && { currency }),
    coverageSince: () => past?.coverageSince(),
    rateOn(from, at) {
      const rate = rates.on(from, currency!, at)
      if (rate) return rate
      throw refusedParameter(
        'currency',
        currency!,
        `${noRate(from, currency!, at)} Request other days.`,
      )
    },
  }
}

/** Finds the writer of a row, which knows what all rows of its series share. */
function rowWriters(
  commodities: readonly Resolved[],
  rowOptions: ReturnType<typeof rowOptionsOf>,
  sources: RowSources,
) {
  const writers = new Map(
    commodities.map(({ series }) => [
      series.id,
      createRowWriter(series, {
        ...rowOptions,
        sourceOf: sources.nameOf,
        ...(series.averageOf !== undefined && { derivedFrom: sources.derivedFrom }),
      }),
    ]),
  )
  return (row: HistoryRow) => writers.get(row.seriesId)!
}

const bodyStart = pieceOf('{"status":"success","data":{"prices":[')
const separator = pieceOf(',')
const lineEnd = pieceOf('\n')

const seriesOf = (commodities: readonly Resolved[]): Series[] =>
  commodities.map(commodity => commodity.series)

function questionOf(
  { commodities, interval, range, asOf, days, cut }: WindowRequest,
  asker: string,
  pricesAt: Context['pricesAt'],
): Question {
  const seriesIds = seriesOf(commodities)
    .sort((a, b) => (a.code < b.code ? -1 : 1))
    .map(series => series.id)
  return {
    key: [asker, seriesIds.join(' '), interval, range.fixed, asOf ?? '', days?.name].join('|'),
    range: {
      seriesIds,
      interval: storedInterval(interval),
      from: range.from,
      to: range.to,
      ...(range.endOf && { endOf: range.endOf }),
      ...(cut && asOf === undefined && { cutOf: cut.cutOf }),
    },
    ...(asOf !== undefined && { history: pricesAt({ asOf }).history }),
  }
}

function ofType(commodities: Resolved[], type: string | undefined): Resolved[] {
  const wanted = wordOf('by_type', type, 'spot_price', priceTypes)
  if (wanted === 'spot_price') return commodities
  return commodities.filter(({ series }) => priceType(series.category, series.unit) === wanted)
}

const formsByType = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
} as const
const typesOfForms = Object.keys(formsByType) as (keyof typeof formsByType)[]

type WindowForm = (typeof formsByType)[keyof typeof formsByType]

/** By the parameter, else by what the client accepts. A file for tables is made of lines. */
export function formOf(format: string | undefined, request: Request): WindowForm {
  if (format === undefined || format === '') {
    const type = preferredType(request.headers.get('accept'), typesOfForms)
    return type === undefined ? 'json' : formsByType[type]
  }
  const form = wordOf('format', format, 'json', windowFormats)
  return form === 'json' || form === 'csv' ? form : 'ndjson'
}

function metadataOf(
  { commodities, unknown, interval, downsampled, isShifted, days: barDays, asOf }: WindowRequest,
  requested: string | undefined,
  walked: WalkedPage,
  sources: RowSources,
  {
    quarantine,
    latestPrices,
    catalogue,
  }: Pick<Context, 'quarantine' | 'latestPrices' | 'catalogue'>,
) {
  const { from, to, rows } = walked
  const series = seriesOf(commodities)
  const disclosures = series.flatMap(entry => disclosureRow(entry, isoDay(to - 1)) ?? [])
  const excluded = series.map(entry => quarantine.within(entry.id, from, to))
  const days = [...new Set(excluded.flatMap(exclusion => exclusion.days))].sort()
  // The specification has no error for an empty window, so the metadata gives the reason.
  // A discontinued code has no latest price, but may have values in the window.
  const isPriceless = ({ series: each }: Resolved) =>
    !latestPrices.quote(each) && !catalogue.extent(each)
  const priceless = asOf === undefined ? commodities.filter(isPriceless) : []
  const missing = [...priceless.map(({ series }) => series.code), ...unknown]
  const suggestions = priceless.flatMap(each => pricedLike(each, latestPrices, catalogue))
  return {
    codes: series.map(entry => entry.code),
    interval,
    interval_requested: requested || null,
    downsampled,
    from: isoInstant(from),
    to: isoInstant(to - 1),
    timezone: barDays?.name ?? 'UTC',
    count: rows.length,
    ...(missing.length > 0 && { missing_codes: missing }),
    ...(suggestions.length > 0 && { suggestions }),
    ...(isShifted && { window_shifted: true }),
    source_description: sourcesOf(sources.seriesOf(series)).description,
    ...(disclosures.length > 0 && { instrument_disclosures: disclosures }),
    ...(days.length > 0 && {
      quarantine: {
        excluded_dates: days,
        excluded_count: days.length,
        reason: [...new Set(excluded.flatMap(exclusion => exclusion.reasons))].join('; '),
      },
    }),
  }
}
