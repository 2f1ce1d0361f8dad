import { t } from 'elysia'
import { codeOf, oneCode } from '../../../http/input/typed.ts'
import { type Answering, markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound, Problem } from '../../../http/problem/problem.ts'
import { FailProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import {
  energyAccess,
  energyBody,
  energyHeavyAccess,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import {
  energyPage,
  energyRecord,
  rangeOf,
  rangeQuery,
  recordIdOf,
} from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type OutlookKind, outlookKind } from '../math/outlook.ts'
import type { DayRange, OutlookFilter } from '../store/outlooks.ts'
import { createOutlookRows } from './outlook-rows.ts'
import {
  actualNote,
  Compared,
  firstChoice,
  Past,
  Price,
  Production,
  Record,
  Summary,
} from './outlook-shape.ts'

export type OutlooksDeps = Pick<
  Context,
  | 'access'
  | 'pricesAt'
  | 'catalogue'
  | 'codes'
  | 'outlooks'
  | 'publishedFigures'
  | 'marks'
  | 'now'
  | 'tierRequired'
>

const comparedSources = ['EIA', 'IEA'] as const

const numberNote =
  'Numbers follow the publications in the order of their first arrival and never change; publications filled in later get the next ones.'
const publicationNote =
  'Outlooks are published on the first Tuesday of the month at noon in New York.'

const commodityQuery = oneCode('commodity', {
  description: 'A code or alias.',
  examples: [firstChoice],
})
const filterQuery = {
  ...commodityQuery,
  ...rangeQuery,
  ...energyPageQuery,
}
type Query = Parameters<typeof rangeOf>[0] & Parameters<typeof codeOf>[0]
const lastDay = '9999-12-31'

/** The days of a query, both inclusive. */
function daysOf(query: Query): DayRange {
  const { from, to } = rangeOf(query)
  return {
    fromOn: from === Number.MIN_SAFE_INTEGER ? '0000-01-01' : isoDay(from),
    toOn: to === Number.MAX_SAFE_INTEGER ? lastDay : isoDay(to - 1),
  }
}

const refusals = { ...energyRefusals, 400: t.Union([FailProblem, NestedProblem]) }

/** Which forecasts a query asks for, and the rows of them. */
function createOutlookReads({ outlooks, catalogue, codes, marks }: OutlooksDeps) {
  const marked = <T extends { fixture: boolean }>(
    set: Answering,
    rows: readonly T[],
  ): readonly T[] => {
    markFixtures(
      set,
      marks,
      rows.map(({ fixture }) => ({ series: { fixture } })),
    )
    return rows
  }
  /** The family's own code, not the front contract that stands for a futures family. */
  const idsOf = (text: string | undefined, request: Request): number[] | undefined => {
    if (!text?.trim()) return undefined
    const [match] = codes.read([text.trim()], request)
    return [catalogue.named(text)?.id ?? match!.series.id]
  }
  const kindOf = (id: number): OutlookKind => outlookKind(catalogue.byId(id))
  const idsOfKind = (kind: OutlookKind, ids: readonly number[] | undefined): number[] =>
    (ids ?? catalogue.list().map(series => series.id)).filter(id => kindOf(id) === kind)

  const filterOf = (query: Query, seriesIds: readonly number[] | undefined): OutlookFilter => ({
    seriesIds,
    published: daysOf(query),
  })
  const listOf = (
    set: Answering,
    filter: OutlookFilter,
    order: 'published' | 'target' = 'published',
  ) => ({
    total: outlooks.count(filter),
    rows: (limit: number, offset: number) =>
      marked(set, outlooks.page(filter, order, limit, offset)),
  })
  const newestFilter = (seriesIds: readonly number[] | undefined): OutlookFilter => {
    const day = outlooks.newestOn(seriesIds) ?? lastDay
    return { seriesIds, published: { fromOn: day, toOn: day } }
  }

  return { marked, idsOf, idsOfKind, filterOf, listOf, newestFilter }
}

/** The nearest period of the newest publication, of one code. */
function createOutlookSummary(
  { outlooks, catalogue }: OutlooksDeps,
  { marked, idsOf, newestFilter }: ReturnType<typeof createOutlookReads>,
  { recordRow }: ReturnType<typeof createOutlookRows>,
) {
  return (query: Parameters<typeof codeOf>[0], set: Answering, request: Request) => {
    const seriesIds = idsOf(codeOf(query), request)
    const newest = marked(
      set,
      outlooks.page(newestFilter(seriesIds), 'published', Number.MAX_SAFE_INTEGER, 0),
    )
    const chosen =
      newest.find(outlook => outlook.seriesId === catalogue.named(firstChoice)?.id) ?? newest[0]
    if (!chosen) throw new Problem('DATA_NOT_AVAILABLE', 'There is no forecast.')
    const same = newest.filter(outlook => outlook.seriesId === chosen.seriesId)
    const latest = same.reduce((near, outlook) =>
      outlook.targetOn < near.targetOn ? outlook : near,
    )
    const mean = same.reduce((sum, outlook) => sum + outlook.value, 0) / same.length
    return {
      total_forecasts: outlooks.count({ seriesIds }),
      latest_forecast: recordRow(latest),
      average_forecast: roundTo(mean, catalogue.byId(latest.seriesId).decimals),
      as_of_date: latest.publishedOn,
    }
  }
}

/** Forecasts of prices and production as agencies publish them, against what came. */
export function outlookOperations(deps: OutlooksDeps) {
  const { outlooks, now } = deps
  const tier = deps.tierRequired('energy_intelligence')
  const answerOf = ({ set, request }: { set: Answering; request: Request }) => ({
    set,
    request,
    tierRequired: tier,
  })
  const reads = createOutlookReads(deps)
  const rows = createOutlookRows(deps)
  const { marked, idsOf, idsOfKind, filterOf, listOf, newestFilter } = reads
  const { recordRow, priceRow, productionRow } = rows
  const summary = createOutlookSummary(deps, reads, rows)

  return [
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts',
      aliases: ['/v1/dark_data/forecasts'],
      operationId: 'listOutlooks',
      summary: 'Forecasts of agencies',
      description: `What agencies expect of prices and production, newest publication first; dates select publications. ${publicationNote} ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...filterQuery },
      answers: { 200: energyBody(t.Array(Record), 'Outlooks'), ...refusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          answerOf({ set: reply, request }),
          listOf(reply, filterOf(query, idsOf(codeOf(query), request))),
          recordRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/latest',
      aliases: ['/v1/dark_data/forecasts/latest'],
      operationId: 'getLatestOutlooks',
      summary: 'Newest forecasts of agencies',
      description: `Everything of the newest publication. ${publicationNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...commodityQuery, ...energyPageQuery },
      answers: { 200: energyBody(t.Array(Record), 'LatestOutlooks'), ...refusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          answerOf({ set: reply, request }),
          listOf(reply, newestFilter(idsOf(codeOf(query), request))),
          recordRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/summary',
      aliases: ['/v1/dark_data/forecasts/summary'],
      operationId: 'getOutlookSummary',
      summary: 'Forecasts of agencies in one line',
      description: `How many forecasts there are (of \`commodity\`, if given), and the nearest period of the newest publication: of \`commodity\`, otherwise of ${firstChoice} where it has that. \`average_forecast\` is the mean over that publication's forecasts of the same code.`,
      tags: ['Energy intelligence'],
      access: energyHeavyAccess,
      view: 'as_of',
      query: { ...commodityQuery },
      answers: { 200: energyBody(Summary, 'OutlooksSummary'), ...refusals },
      handle: ({ query, reply, request }) => energyRecord(summary(query, reply, request), tier),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/prices',
      aliases: ['/v1/dark_data/forecasts/prices'],
      operationId: 'listPriceOutlooks',
      summary: 'Price forecasts of agencies',
      description:
        'Forecasts of codes that have a currency, newest publication first, in the unit of the code.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...filterQuery },
      answers: { 200: energyBody(t.Array(Price), 'PriceOutlooks'), ...refusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          answerOf({ set: reply, request }),
          listOf(reply, filterOf(query, idsOfKind('price', idsOf(codeOf(query), request)))),
          priceRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/production',
      aliases: ['/v1/dark_data/forecasts/production'],
      operationId: 'listProductionOutlooks',
      summary: 'Production forecasts of agencies',
      description: 'Forecasts of crude oil and gas production by region, newest publication first.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: { ...filterQuery },
      answers: { 200: energyBody(t.Array(Production), 'ProductionOutlooks'), ...refusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          answerOf({ set: reply, request }),
          listOf(reply, filterOf(query, idsOfKind('production', idsOf(codeOf(query), request)))),
          productionRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/historical',
      aliases: ['/v1/dark_data/forecasts/historical'],
      operationId: 'listPastOutlooks',
      summary: 'Forecasts of agencies against what came',
      description: `Every forecast of a period that is over, newest period first; dates select the last days of periods. ${actualNote} Of OPEC's production it is the mean of its months.`,
      tags: ['Energy intelligence'],
      access: energyHeavyAccess,
      view: 'as_of',
      query: { ...filterQuery },
      answers: { 200: energyBody(t.Array(Past), 'PastOutlooks'), ...refusals },
      handle: ({ at: deps, query, reply, request }) => {
        const { fromOn, toOn } = daysOf(query)
        const [lastOn] = [toOn, isoDay(now() - dayMs)].sort()
        const filter = {
          seriesIds: idsOf(codeOf(query), request),
          target: { fromOn, toOn: lastOn! },
        }
        return energyPage(
          query,
          answerOf({ set: reply, request }),
          listOf(reply, filter, 'target'),
          createOutlookRows(deps).pastRow,
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/compare',
      aliases: ['/v1/dark_data/forecasts/compare'],
      operationId: 'compareOutlooks',
      summary: 'Forecasts of two agencies side by side',
      description: `For every period and code the newest forecast of each agency and what came, newest period first. ${actualNote}`,
      tags: ['Energy intelligence'],
      access: energyHeavyAccess,
      view: 'as_of',
      query: { ...commodityQuery, ...energyPageQuery },
      answers: { 200: energyBody(t.Array(Compared), 'ComparedOutlooks'), ...refusals },
      handle: ({ at: deps, query, reply, request }) => {
        const ids = idsOf(codeOf(query), request)
        const list = {
          total: outlooks.countCompared(ids, comparedSources),
          rows: (limit: number, offset: number) =>
            marked(reply, outlooks.compare(ids, comparedSources, limit, offset)),
        }
        return energyPage(
          query,
          answerOf({ set: reply, request }),
          list,
          createOutlookRows(deps).comparedRow,
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/forecasts/:id',
      aliases: ['/v1/dark_data/forecasts/:id'],
      operationId: 'getOutlook',
      summary: 'One forecast of an agency',
      description: `What one publication expected of one code in one period. ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      params: {
        id: t.String({ description: 'Number of the record.', examples: ['1'] }),
      },
      answers: { 200: energyBody(Record, 'OutlookRecord'), ...energyRefusals },
      handle: ({ params, reply }) => {
        const outlook = outlooks.byId(recordIdOf(params.id, 'Forecast'))
        if (!outlook) throw notFound(`Forecast ${params.id}`)
        marked(reply, [outlook])
        return energyRecord(recordRow(outlook), tier)
      },
    }),
  ]
}
