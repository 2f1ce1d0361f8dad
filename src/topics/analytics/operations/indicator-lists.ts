import type { TSchema } from 'elysia'
import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { codeOf, oneCode, textParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import { type Call, operation } from '../../../http/operations/operation.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { isoInstant, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource, sourceDescription } from '../../catalogue/math/catalogue.ts'
import { transactionTypes } from '../dataset/congressional-trades.ts'
import { codeOfMarket, marketOfCot } from '../math/positions.ts'
import { calculated, metaFields } from './indicator-shape.ts'
import { refusals } from './shape.ts'

/** Nine years of weekly reports of one market. */
const perPageMax = 500

const dayField = t.String({ format: 'date', examples: ['2026-11-17'] })

export const Positions = t.object('ManagedMoneyPositions', {
  market: t.String({ examples: ['WTI'] }),
  managed_money_long: t.integer('Contracts.', 176_380),
  managed_money_short: t.integer({ examples: [117_333] }),
  net_position: t.integer('Long minus short.', 59_047),
  change: t.integerOrNull(
    'Change of the net position since the previous report; null for the first report.',
    -3_214,
  ),
  open_interest: t.integer('All open contracts.', 2_035_649),
  report_date: dayField,
  commodity: t.stringOrNull('Code of the related price.', 'WTI_USD'),
})
export type Positions = (typeof Positions)['static']

export const Note = t.object('Annotation', {
  id: t.String({ examples: ['meeting-2026-11'] }),
  title: t.String({ examples: ['Producers keep quotas'] }),
  description: t.String({
    examples: ['Quotas stay as they are until the end of the first quarter.'],
  }),
  category: t.String({ examples: ['opec'] }),
  date: dayField,
  commodity: t.stringOrNull('Null if the note is not about a single code.', 'BRENT_CRUDE_USD'),
})
export type Note = (typeof Note)['static']

const Trade = t.object('CongressionalTrade', {
  member: t.String({ examples: ['Jordan Example'] }),
  ticker: t.String({ examples: ['XYZ'] }),
  transaction_type: t.string(`One of ${transactionTypes.join(', ')}.`, 'purchase'),
  amount_range: t.string('As disclosed.', '$1,001 - $15,000'),
  transaction_date: dayField,
  disclosure_date: dayField,
})

const listOfRows = <T extends TSchema>(row: T, title: string) =>
  t.object(title, {
    data: t.Array(row),
    meta: t.Object({ ...metaFields, count: t.integer(), ...PageMetaShape.properties }),
  })

type ListCall = Pick<Call<never, never, unknown>, 'at' | 'reply' | 'page'>

/** Headers and meta of a page of rows. */
function metaOf(
  { at, reply, page }: ListCall,
  listed: { newestOn: string; total: number; rows: readonly { source: string }[] },
) {
  const sources = [...new Set(listed.rows.map(row => row.source))]
  const isFixture = (source: string) => source === generatedSource
  markFixtures(
    reply,
    at.marks,
    sources.map(source => ({ series: { fixture: isFixture(source) } })),
  )
  return {
    as_of: isoInstant(parseDay(listed.newestOn)!),
    source: sources.join('; '),
    source_description: [
      ...new Set(sources.map(source => sourceDescription(source, isFixture(source)))),
    ].join('; '),
    count: listed.rows.length,
    ...page.meta(listed.total),
  }
}

function requireImported(newestOn: string | undefined, subject: string, dataset: string): string {
  if (newestOn !== undefined) return newestOn
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `There are no ${subject} because the operator has not imported this dataset.`,
    {
      reason: 'no_source',
      dataset,
    },
  )
}

/** Lists that the operator imports: positions, notes and disclosures. */
export const listIndicatorOperations = [
  operation('GET /v1/indicators/cftc-positioning', {
    operationId: 'getCftcPositioning',
    summary: 'Get managed-money positions',
    description:
      "Returns the long and short contracts of managed money by market, newest report first, from the disaggregated Commitments of Traders of the Commodity Futures Trading Commission: as of a Tuesday (a Monday before some holidays), published the Friday after. `net_position` is long minus short; `change` is `net_position` minus that of the market's report before, however many weeks lie between. Until the operator has imported reports: 404 `DATA_NOT_AVAILABLE`.",
    tags: ['Analytics'],
    access: { ...calculated, queryWorker: true },
    view: 'as_of',
    page: { max: perPageMax },
    query: {
      market: textParameter('One market, in any letter case; absent: all.', 'WTI'),
    },
    answers: { 200: listOfRows(Positions, 'ManagedMoneyList'), ...refusals },
    handle: ({ at, query, page, reply }) => {
      const { positions } = at
      const newestOn = requireImported(positions.newestOn(), 'reports', 'cftc-positions')
      const market = query.market ? marketOfCot(query.market) : undefined
      const markets = positions.markets()
      if (market !== undefined && !markets.includes(market))
        throw invalidParameter('market', query.market, markets)
      const rows = positions.page(market, page.perPage, page.offset)
      return {
        data: rows.map(row =>
          answerRow(Positions, row, {
            net_position: row.managedMoneyLong - row.managedMoneyShort,
            report_date: row.reportedOn,
            commodity: codeOfMarket(row.market) ?? null,
          }),
        ),
        meta: metaOf({ at, reply, page }, { newestOn, total: positions.count(market), rows }),
      }
    },
  }),
  operation('GET /v1/indicators/annotations', {
    operationId: 'getAnnotations',
    summary: 'List market annotations',
    description:
      'Returns dated market events that the operator recorded, newest first. `category` is a free-form label. Before annotations are imported, the response is 404 `DATA_NOT_AVAILABLE`.',
    tags: ['Analytics'],
    access: calculated,
    page: { max: perPageMax },
    query: oneCode('commodity', 'A code or an alias; absent: all notes.', 'BRENT_CRUDE_USD'),
    answers: { 200: listOfRows(Note, 'AnnotationList'), ...refusals },
    handle: ({ at, query, page, request, reply }) => {
      const { annotations } = at
      const newestOn = requireImported(annotations.newestOn(), 'annotations', 'annotations')
      const named = codeOf(query)
      const commodity = named ? at.codes.read([named], request)[0]!.series.code : undefined
      const rows = annotations.page(commodity, page.perPage, page.offset)
      return {
        data: rows.map(({ on, source: _, ...row }) => ({ ...row, date: on })),
        meta: metaOf({ at, reply, page }, { newestOn, total: annotations.count(commodity), rows }),
      }
    },
  }),
  operation('GET /v1/indicators/congressional-trades', {
    operationId: 'getCongressionalTrades',
    summary: 'List disclosed trades of members of Congress',
    description:
      'Returns trades of members of the United States Congress from their periodic transaction reports, most recently disclosed first. This data has no built-in source: before the operator imports the dataset `congressional-trades` the response is 404 `DATA_NOT_AVAILABLE`.',
    tags: ['Analytics'],
    access: calculated,
    page: { max: perPageMax },
    answers: { 200: listOfRows(Trade, 'CongressionalTradeList'), ...refusals },
    handle: ({ at, page, reply }) => {
      const { congressionalTrades: trades } = at
      const newestOn = requireImported(trades.newestOn(), 'disclosures', 'congressional-trades')
      const rows = trades.page(page.perPage, page.offset)
      return {
        data: rows.map(row =>
          answerRow(Trade, row, {
            transaction_date: row.transactedOn,
            disclosure_date: row.disclosedOn,
          }),
        ),
        meta: metaOf({ at, reply, page }, { newestOn, total: trades.count(), rows }),
      }
    },
  }),
]
