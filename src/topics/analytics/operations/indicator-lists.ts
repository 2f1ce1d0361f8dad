import { type TSchema, t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import {
  PageMetaShape,
  type PageRequest,
  pageHeaders,
  pageMeta,
  pageOf,
  pageQuery,
} from '../../../http/input/page.ts'
import { codeOf, oneCode, textParameter } from '../../../http/input/typed.ts'
import { type Answering, markFixtures } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { isoInstant, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource, sourceDescription } from '../../catalogue/math/catalogue.ts'
import { codeOfMarket, marketOfCot } from '../math/positions.ts'
import { transactionTypes } from '../store/congressional-trades.ts'
import { calculated, type IndicatorDeps, metaFields, refusals } from './indicator-shape.ts'
import { nullable } from './shape.ts'

/** Nine years of weekly reports of one market. */
const perPageMax = 500

const dayField = t.String({ format: 'date', examples: ['2026-11-17'] })

const Positions = t.Object(
  {
    market: t.String({ examples: ['WTI'] }),
    managed_money_long: integer({ description: 'Contracts.', examples: [176_380] }),
    managed_money_short: integer({ examples: [117_333] }),
    net_position: integer({ description: 'Long minus short.', examples: [59_047] }),
    change: nullable(
      integer({ examples: [-3_214] }),
      "Of the net position since the market's report before; null for its first.",
    ),
    open_interest: integer({ description: 'All open contracts.', examples: [2_035_649] }),
    report_date: dayField,
    commodity: nullable(
      t.String({ examples: ['WTI_USD'] }),
      'Code of the price that the market is about.',
    ),
  },
  { title: 'ManagedMoneyPositions' },
)

const Note = t.Object(
  {
    id: t.String({ examples: ['meeting-2026-11'] }),
    title: t.String({ examples: ['Producers keep quotas'] }),
    description: t.String({
      examples: ['Quotas stay as they are until the end of the first quarter.'],
    }),
    category: t.String({ examples: ['opec'] }),
    date: dayField,
    commodity: nullable(
      t.String({ examples: ['BRENT_CRUDE_USD'] }),
      'Null for notes on no single one.',
    ),
  },
  { title: 'Annotation' },
)

const Trade = t.Object(
  {
    member: t.String({ examples: ['Jordan Example'] }),
    ticker: t.String({ examples: ['XYZ'] }),
    transaction_type: t.String({
      description: `One of ${transactionTypes.join(', ')}.`,
      examples: ['purchase'],
    }),
    amount_range: t.String({ description: 'As disclosed.', examples: ['$1,001 - $15,000'] }),
    transaction_date: dayField,
    disclosure_date: dayField,
  },
  { title: 'CongressionalTrade' },
)

const listOfRows = <T extends TSchema>(row: T, title: string) =>
  t.Object(
    {
      data: t.Array(row),
      meta: t.Object({ ...metaFields, count: integer(), ...PageMetaShape.properties }),
    },
    { title },
  )

interface ListedRows {
  /** Newest day of all rows; undefined when nothing has been imported. */
  newestOn: string | undefined
  total: number
  rows: readonly { source: string }[]
  page: PageRequest
}

/** Headers and meta of a page of rows. */
function metaOf(
  listed: ListedRows & { newestOn: string },
  deps: IndicatorDeps,
  url: string,
  set: Answering,
) {
  const page = pageMeta(listed.page, listed.total)
  pageHeaders(set.headers, url, page)
  const sources = [...new Set(listed.rows.map(row => row.source))]
  const isFixture = (source: string) => source === generatedSource
  markFixtures(
    set,
    deps.marks,
    sources.map(source => ({ series: { fixture: isFixture(source) } })),
  )
  return {
    as_of: isoInstant(parseDay(listed.newestOn)!),
    source: sources.join('; '),
    source_description: [
      ...new Set(sources.map(source => sourceDescription(source, isFixture(source)))),
    ].join('; '),
    count: listed.rows.length,
    ...page,
  }
}

function requireImported(newestOn: string | undefined, subject: string, dataset: string): string {
  if (newestOn !== undefined) return newestOn
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `There are no ${subject} here: this service does not offer that data set.`,
    {
      reason: 'no_source',
      dataset,
    },
  )
}

type PageQuery = { page?: string; per_page?: string }

function positions(
  deps: IndicatorDeps,
  query: PageQuery & { market?: string },
  url: string,
  set: Answering,
) {
  const { positions } = deps
  const newestOn = requireImported(positions.newestOn(), 'reports', 'cftc-positions')
  const page = pageOf(query, perPageMax)
  const market = query.market ? marketOfCot(query.market) : undefined
  const markets = positions.markets()
  if (market !== undefined && !markets.includes(market))
    throw invalidParameter('market', query.market, 'has no reports.', markets)
  const rows = positions.page(market, page.perPage, (page.page - 1) * page.perPage)
  return {
    data: rows.map(row => ({
      market: row.market,
      managed_money_long: row.managedMoneyLong,
      managed_money_short: row.managedMoneyShort,
      net_position: row.managedMoneyLong - row.managedMoneyShort,
      change: row.change ?? null,
      open_interest: row.openInterest,
      report_date: row.reportedOn,
      commodity: codeOfMarket(row.market) ?? null,
    })),
    meta: metaOf({ newestOn, total: positions.count(market), rows, page }, deps, url, set),
  }
}

function notes(
  deps: IndicatorDeps,
  query: PageQuery & Parameters<typeof codeOf>[0],
  request: Request,
  set: Answering,
) {
  const { annotations } = deps
  const newestOn = requireImported(annotations.newestOn(), 'annotations', 'annotations')
  const page = pageOf(query, perPageMax)
  const named = codeOf(query)
  const commodity = named ? deps.codes.read([named], request)[0]!.series.code : undefined
  const rows = annotations.page(commodity, page.perPage, (page.page - 1) * page.perPage)
  return {
    data: rows.map(({ on, source: _, ...row }) => ({ ...row, date: on })),
    meta: metaOf(
      { newestOn, total: annotations.count(commodity), rows, page },
      deps,
      request.url,
      set,
    ),
  }
}

function trades(deps: IndicatorDeps, query: PageQuery, url: string, set: Answering) {
  const { congressionalTrades: store } = deps
  const newestOn = requireImported(store.newestOn(), 'disclosures', 'congressional-trades')
  const page = pageOf(query, perPageMax)
  const rows = store.page(page.perPage, (page.page - 1) * page.perPage)
  return {
    data: rows.map(row => ({
      member: row.member,
      ticker: row.ticker,
      transaction_type: row.transactionType,
      amount_range: row.amountRange,
      transaction_date: row.transactedOn,
      disclosure_date: row.disclosedOn,
    })),
    meta: metaOf({ newestOn, total: store.count(), rows, page }, deps, url, set),
  }
}

/** What others report, note and disclose: lists that the operator imports. */
export function listIndicatorOperations(deps: IndicatorDeps) {
  const pages = pageQuery(perPageMax)
  return [
    operation({
      method: 'GET',
      path: '/v1/indicators/cftc-positioning',
      operationId: 'getCftcPositioning',
      summary: 'Positions of managed money',
      description:
        "Long and short contracts of managed money by market, newest report first, from the disaggregated Commitments of Traders of the Commodity Futures Trading Commission: as of a Tuesday (a Monday before some holidays), published the Friday after. `net_position` is long minus short; `change` is `net_position` minus that of the market's report before, however many weeks lie between. Until the operator has imported reports: 404 `DATA_NOT_AVAILABLE`.",
      tags: ['indicators'],
      access: calculated,
      view: 'as_of',
      query: {
        market: textParameter({
          description: 'One market, in any letter case; absent: all.',
          examples: ['WTI'],
        }),
        ...pages,
      },
      answers: { 200: listOfRows(Positions, 'ManagedMoneyList'), ...refusals },
      handle: ({ query, request, reply }) => positions(deps, query, request.url, reply),
    }),
    operation({
      method: 'GET',
      path: '/v1/indicators/annotations',
      operationId: 'getAnnotations',
      summary: 'Notes on the markets',
      description:
        'What happened on which day, newest first, as the operator recorded it. `category` is a word of whoever wrote the note. Until the operator has imported notes: 404 `DATA_NOT_AVAILABLE`.',
      tags: ['indicators'],
      access: calculated,
      query: {
        ...oneCode('commodity', {
          description: 'A code or an alias; absent: all notes.',
          examples: ['BRENT_CRUDE_USD'],
        }),
        ...pages,
      },
      answers: { 200: listOfRows(Note, 'AnnotationList'), ...refusals },
      handle: ({ query, request, reply }) => notes(deps, query, request, reply),
    }),
    operation({
      method: 'GET',
      path: '/v1/indicators/congressional-trades',
      operationId: 'getCongressionalTrades',
      summary: 'Disclosed trades of members of Congress',
      description:
        'Trades of members of the United States Congress as their periodic transaction reports disclose them, what was disclosed last first. This service has no source of them of its own: until the operator has imported a file (dataset `congressional-trades`) the answer is 404 `DATA_NOT_AVAILABLE`.',
      tags: ['indicators'],
      access: calculated,
      query: pages,
      answers: { 200: listOfRows(Trade, 'CongressionalTradeList'), ...refusals },
      handle: ({ query, request, reply }) => trades(deps, query, request.url, reply),
    }),
  ]
}
