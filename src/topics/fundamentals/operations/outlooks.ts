import type { Static, TSchema } from '@sinclair/typebox'
import { codeOf, oneCode } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { rangeOf, rangeQuery } from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type OutlookKind, outlookKind } from '../math/outlook.ts'
import type { DayRange, OutlookFilter, OutlookRow } from '../store/outlooks.ts'
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

const comparedSources = ['EIA', 'IEA'] as const

const numberNote =
  'Record numbers are assigned in the order of arrival and never change; publications that arrive later get the next numbers.'
const publicationNote =
  'Outlooks are published on the first Tuesday of the month at noon in New York.'

const commodityQuery = oneCode('commodity', 'A code or alias.', firstChoice)
const filterQuery = { ...commodityQuery, ...rangeQuery }
type Query = Parameters<typeof rangeOf>[0] & Parameters<typeof codeOf>[0]
type OutlookCall = EnergyCall & { query: Query; request: Request }
const lastDay = '9999-12-31'

/** The days of a query, both inclusive. */
function daysOf(query: Query): DayRange {
  const { from, to } = rangeOf(query)
  return {
    fromOn: from === Number.MIN_SAFE_INTEGER ? '0000-01-01' : isoDay(from),
    toOn: to === Number.MAX_SAFE_INTEGER ? lastDay : isoDay(to - 1),
  }
}

const refusals = { ...energy.refusals, 400: CodeProblem }

function marked<T extends readonly { fixture: boolean }[]>({ at, reply }: EnergyCall, rows: T): T {
  markFixtures(
    reply,
    at.marks,
    rows.map(({ fixture }) => ({ series: { fixture } })),
  )
  return rows
}

/** The series of `commodity`: the family's own code, not its front contract. */
function idsOf({ at, query, request }: OutlookCall): number[] | undefined {
  const text = codeOf(query)?.trim()
  if (!text) return undefined
  const [match] = at.codes.read([text], request)
  return [at.catalogue.named(text)?.id ?? match!.series.id]
}

function idsOfKind(call: OutlookCall, kind: OutlookKind): number[] {
  const { catalogue } = call.at
  const ids = idsOf(call) ?? catalogue.list().map(series => series.id)
  return ids.filter(id => outlookKind(catalogue.byId(id)) === kind)
}

function listOf<R>(
  call: EnergyCall,
  filter: OutlookFilter,
  shape: (outlook: OutlookRow) => R,
  order: 'published' | 'target' = 'published',
) {
  const { outlooks } = call.at
  return {
    total: outlooks.count(filter),
    rows: (limit: number, offset: number) =>
      marked(call, outlooks.page(filter, order, limit, offset)).map(shape),
  }
}

/** A list of forecasts by the days of their publication. */
const publishedList = <Row extends TSchema>({
  idsOf,
  rowOf,
  ...definition
}: {
  path: string
  operationId: string
  summary: string
  description: string
  title: string
  row: Row
  idsOf(call: OutlookCall): readonly number[] | undefined
  rowOf(rows: ReturnType<typeof createOutlookRows>): (outlook: OutlookRow) => Static<Row>
}) =>
  energy.pages({
    ...definition,
    view: 'as_of',
    query: filterQuery,
    refusals,
    list: call =>
      listOf(
        call,
        { seriesIds: idsOf(call), published: daysOf(call.query) },
        rowOf(createOutlookRows(call.at)),
      ),
  })

/** Returns all forecasts of the newest publication. */
function newestFilter({ at }: EnergyCall, seriesIds: readonly number[] | undefined): OutlookFilter {
  const day = at.outlooks.newestOn(seriesIds) ?? lastDay
  return { seriesIds, published: { fromOn: day, toOn: day } }
}

/**
 * Agencies' forecasts of prices and production, as published and compared with the actual values.
 */
export const outlookOperations = [
  publishedList({
    path: '/v1/ei/forecasts',
    operationId: 'listOutlooks',
    summary: 'List agency forecasts',
    description: `Returns agency forecasts of prices and production, newest publication first; dates select publications. ${publicationNote} ${numberNote}`,
    title: 'Outlooks',
    row: Record,
    idsOf,
    rowOf: rows => rows.recordRow,
  }),
  energy.pages({
    path: '/v1/ei/forecasts/latest',
    operationId: 'getLatestOutlooks',
    summary: 'Get the latest agency forecasts',
    description: `Returns all forecasts of the newest publication. ${publicationNote}`,
    view: 'as_of',
    query: commodityQuery,
    title: 'LatestOutlooks',
    row: Record,
    refusals,
    list: call =>
      listOf(call, newestFilter(call, idsOf(call)), createOutlookRows(call.at).recordRow),
  }),
  energy.record({
    path: '/v1/ei/forecasts/summary',
    operationId: 'getOutlookSummary',
    summary: 'Get a summary of agency forecasts',
    description: `Returns the number of forecasts (of \`commodity\`, if given), and the nearest period of the newest publication: of \`commodity\`, otherwise of ${firstChoice} where it has that. \`average_forecast\` is the mean over that publication's forecasts of the same code.`,
    access: energy.heavyAccess,
    view: 'as_of',
    query: commodityQuery,
    title: 'OutlooksSummary',
    data: Summary,
    refusals,
    handle(call) {
      const { outlooks, catalogue } = call.at
      const seriesIds = idsOf(call)
      const newest = marked(
        call,
        outlooks.page(newestFilter(call, seriesIds), 'published', Number.MAX_SAFE_INTEGER, 0),
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
        latest_forecast: createOutlookRows(call.at).recordRow(latest),
        average_forecast: roundTo(mean, catalogue.byId(latest.seriesId).decimals),
        as_of_date: latest.publishedOn,
      }
    },
  }),
  publishedList({
    path: '/v1/ei/forecasts/prices',
    operationId: 'listPriceOutlooks',
    summary: 'List agency price forecasts',
    description:
      'Returns forecasts of codes with a currency, newest publication first, in the unit of the code.',
    title: 'PriceOutlooks',
    row: Price,
    idsOf: call => idsOfKind(call, 'price'),
    rowOf: rows => rows.priceRow,
  }),
  publishedList({
    path: '/v1/ei/forecasts/production',
    operationId: 'listProductionOutlooks',
    summary: 'List agency production forecasts',
    description:
      'Returns forecasts of crude oil and gas production by region, newest publication first.',
    title: 'ProductionOutlooks',
    row: Production,
    idsOf: call => idsOfKind(call, 'production'),
    rowOf: rows => rows.productionRow,
  }),
  energy.pages({
    path: '/v1/ei/forecasts/historical',
    operationId: 'listPastOutlooks',
    summary: 'Compare agency forecasts with actual values',
    description: `Returns forecasts of past periods compared with actual values, newest period first; dates select the last days of periods. ${actualNote} For OPEC production the actual is the mean of the months in the period.`,
    access: energy.heavyAccess,
    view: 'as_of',
    query: filterQuery,
    title: 'PastOutlooks',
    row: Past,
    refusals,
    list(call) {
      const { fromOn, toOn } = daysOf(call.query)
      const [lastOn] = [toOn, isoDay(call.at.now() - dayMs)].sort()
      const filter = { seriesIds: idsOf(call), target: { fromOn, toOn: lastOn! } }
      return listOf(call, filter, createOutlookRows(call.at).pastRow, 'target')
    },
  }),
  energy.pages({
    path: '/v1/ei/forecasts/compare',
    operationId: 'compareOutlooks',
    summary: 'Compare the forecasts of two agencies',
    description: `Returns, for every period and code, the newest forecast of each agency and the actual value, newest period first. ${actualNote}`,
    access: energy.heavyAccess,
    view: 'as_of',
    query: commodityQuery,
    title: 'ComparedOutlooks',
    row: Compared,
    refusals,
    list(call) {
      const { outlooks } = call.at
      const ids = idsOf(call)
      return {
        total: outlooks.countCompared(ids, comparedSources),
        rows: (limit, offset) =>
          marked(call, outlooks.compare(ids, comparedSources, limit, offset)).map(
            createOutlookRows(call.at).comparedRow,
          ),
      }
    },
  }),
  energy.byId({
    path: '/v1/ei/forecasts/:id',
    operationId: 'getOutlook',
    summary: 'Get an agency forecast',
    description: `Returns the forecast of one publication for one code and period. ${numberNote}`,
    view: 'as_of',
    subject: 'forecast',
    title: 'OutlookRecord',
    data: Record,
    find: (id, { at }) => at.outlooks.byId(id),
    shape: (outlook, call) => createOutlookRows(call.at).recordRow(marked(call, [outlook])[0]!),
  }),
]
