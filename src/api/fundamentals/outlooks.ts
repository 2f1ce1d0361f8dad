import { Elysia, t } from 'elysia'
import type { AccessPlugin } from '../../http/gate/access.ts'
import type { CodeReader } from '../../http/input/codes.ts'
import { notFound, Problem } from '../../http/problem/problem.ts'
import { FailProblem, NestedProblem } from '../../http/problem/shape.ts'
import { dayMs, isoDay, isoInstant } from '../../lib/instant.ts'
import { accuracyPercent } from '../../market/fundamentals/forecast-accuracy.ts'
import { type OutlookKind, outlookKind, regionOf } from '../../market/fundamentals/outlook.ts'
import { parsePeriod } from '../../market/fundamentals/period.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Feature } from '../../plan/tiers.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import type { PublishedFigures } from '../../service/fundamentals/published-figures.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type {
  Comparison,
  DayRange,
  OutlookFilter,
  OutlookRow,
  OutlookStore,
} from '../../store/fundamentals/outlooks.ts'
import { type Answering, type Marks, markFixtures } from '../answer.ts'
import {
  type EiPrefix,
  eiAccess,
  eiBody,
  eiDetail,
  eiHeavyAccess,
  eiPageQuery,
  eiRefusals,
} from '../drilling/frame.ts'
import { eiIdOf, eiList, eiOne, eiRangeOf, eiRangeQuery } from '../drilling/list.ts'
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

export interface EiForecastsDeps {
  access: AccessPlugin
  catalogue: Catalogue
  codes: CodeReader
  outlooks: OutlookStore
  actuals: PublishedFigures
  marks: Marks
  now: () => number
  tierRequired(feature: Feature): string
}

const comparedSources = ['EIA', 'IEA'] as const
const percentDecimals = 2

const numberNote =
  'Numbers follow the publications in the order of their first arrival and never change; publications filled in later get the next ones.'
const publicationNote =
  'Outlooks are published on the first Tuesday of the month at noon in New York.'

const filterQuery = {
  commodity: t.Optional(t.String({ description: 'A code or alias.', examples: [firstChoice] })),
  ...eiRangeQuery,
  ...eiPageQuery,
}
type Query = Parameters<typeof eiRangeOf>[0] & { commodity?: string }
const lastDay = '9999-12-31'

/** The days of a query, both inclusive. */
function daysOf(query: Query): DayRange {
  const { from, to } = eiRangeOf(query)
  return {
    fromOn: from === Number.MIN_SAFE_INTEGER ? '0000-01-01' : isoDay(from),
    toOn: to === Number.MAX_SAFE_INTEGER ? lastDay : isoDay(to - 1),
  }
}

const refusals = { ...eiRefusals, 400: t.Union([FailProblem, NestedProblem]) }

/** Forecasts of prices and production as agencies publish them, against what came. */
export function outlookRoutes(deps: EiForecastsDeps, prefix: EiPrefix) {
  const { outlooks, catalogue, actuals, now } = deps
  const tier = deps.tierRequired('energy_intelligence')
  const answerOf = ({ set, request }: { set: unknown; request: Request }) => ({
    set: set as Answering,
    request,
    tierRequired: tier,
  })
  const marked = <T extends { fixture: boolean }>(
    set: unknown,
    found: readonly T[],
  ): readonly T[] => {
    markFixtures(
      set as Answering,
      deps.marks,
      found.map(({ fixture }) => ({ series: { fixture } })),
    )
    return found
  }
  /** The family's own code, not the front contract that stands for a futures family. */
  const idsOf = (text: string | undefined, request: Request): number[] | undefined => {
    if (!text?.trim()) return undefined
    const [found] = deps.codes.read([text.trim()], request)
    return [catalogue.named(text)?.id ?? found!.series.id]
  }
  const kindOf = (id: number): OutlookKind => outlookKind(catalogue.byId(id))
  const idsOfKind = (kind: OutlookKind, ids: readonly number[] | undefined): number[] =>
    (ids ?? catalogue.list().map(one => one.id)).filter(id => kindOf(id) === kind)

  const filterOf = (query: Query, seriesIds: readonly number[] | undefined): OutlookFilter => ({
    seriesIds,
    published: daysOf(query),
  })
  const listOf = (
    set: unknown,
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

  const recordRow = (one: OutlookRow) => {
    const series = catalogue.byId(one.seriesId)
    return {
      id: String(one.id),
      source: one.source,
      commodity: series.code,
      forecast_value: one.value,
      unit: series.unit,
      currency: series.currency,
      period: one.period,
      published_date: one.publishedOn,
      target_date: one.targetOn,
      timestamp: isoInstant(one.recordedAt),
    }
  }
  const common = (one: OutlookRow, series: Series) => ({
    source: one.source,
    unit: series.unit,
    period: one.period,
    published_date: one.publishedOn,
    commodity: series.code,
  })
  const pastRow = (one: OutlookRow) => {
    const series = catalogue.byId(one.seriesId)
    const actual = actuals.of(series, parsePeriod(one.period)!)
    const accuracy =
      actual === undefined ? undefined : accuracyPercent({ forecast: one.value, actual })
    return {
      ...common(one, series),
      date: one.targetOn,
      forecast_value: one.value,
      actual_value: actual ?? null,
      accuracy_percent: accuracy === undefined ? null : roundTo(accuracy, percentDecimals),
    }
  }
  const comparedRow = (one: Comparison) => {
    const series = catalogue.byId(one.seriesId)
    const { first, second } = one
    return {
      period: one.period,
      commodity: series.code,
      eia_forecast: first ?? null,
      iea_forecast: second ?? null,
      actual_value: actuals.of(series, parsePeriod(one.period)!) ?? null,
      difference:
        first === undefined || second === undefined
          ? null
          : roundTo(first - second, series.decimals),
    }
  }
  const summary = (query: { commodity?: string }, set: unknown, request: Request) => {
    const asked = idsOf(query.commodity, request)
    const all = marked(
      set,
      outlooks.page(newestFilter(asked), 'published', Number.MAX_SAFE_INTEGER, 0),
    )
    const chosen = all.find(one => one.seriesId === catalogue.named(firstChoice)?.id) ?? all[0]
    if (!chosen) throw new Problem('DATA_NOT_AVAILABLE', 'There is no forecast.')
    const same = all.filter(one => one.seriesId === chosen.seriesId)
    const latest = same.reduce((near, one) => (one.targetOn < near.targetOn ? one : near))
    const mean = same.reduce((sum, one) => sum + one.value, 0) / same.length
    return {
      total_forecasts: outlooks.count({ seriesIds: asked }),
      latest_forecast: recordRow(latest),
      average_forecast: roundTo(mean, catalogue.byId(latest.seriesId).decimals),
      as_of_date: latest.publishedOn,
    }
  }

  return new Elysia({ prefix })
    .use(deps.access)
    .get(
      '/forecasts',
      ({ query, set, request }) =>
        eiList(
          query,
          answerOf({ set, request }),
          listOf(set, filterOf(query, idsOf(query.commodity, request))),
          recordRow,
        ),
      {
        access: eiAccess,
        query: t.Object(filterQuery),
        response: { 200: eiBody(t.Array(Record), 'Outlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'listOutlooks',
          summary: 'Forecasts of agencies',
          description: `What agencies expect of prices and production, newest publication first; dates select publications. ${publicationNote} ${numberNote}`,
        }),
      },
    )
    .get(
      '/forecasts/latest',
      ({ query, set, request }) =>
        eiList(
          query,
          answerOf({ set, request }),
          listOf(set, newestFilter(idsOf(query.commodity, request))),
          recordRow,
        ),
      {
        access: eiAccess,
        query: t.Object({ commodity: filterQuery.commodity, ...eiPageQuery }),
        response: { 200: eiBody(t.Array(Record), 'LatestOutlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'getLatestOutlooks',
          summary: 'Newest forecasts of agencies',
          description: `Everything of the newest publication. ${publicationNote}`,
        }),
      },
    )
    .get(
      '/forecasts/summary',
      ({ query, set, request }) => eiOne(summary(query, set, request), tier),
      {
        access: eiHeavyAccess,
        query: t.Object({ commodity: filterQuery.commodity }),
        response: { 200: eiBody(Summary, 'OutlooksSummary'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'getOutlookSummary',
          summary: 'Forecasts of agencies in one line',
          description: `How many forecasts there are (of \`commodity\`, if given), and the nearest period of the newest publication: of \`commodity\`, otherwise of ${firstChoice} where it has that. \`average_forecast\` is the mean over that publication's forecasts of the same code.`,
        }),
      },
    )
    .get(
      '/forecasts/prices',
      ({ query, set, request }) =>
        eiList(
          query,
          answerOf({ set, request }),
          listOf(set, filterOf(query, idsOfKind('price', idsOf(query.commodity, request)))),
          one => ({ ...common(one, catalogue.byId(one.seriesId)), forecast_price: one.value }),
        ),
      {
        access: eiAccess,
        query: t.Object(filterQuery),
        response: { 200: eiBody(t.Array(Price), 'PriceOutlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'listPriceOutlooks',
          summary: 'Price forecasts of agencies',
          description:
            'Forecasts of codes that have a currency, newest publication first, in the unit of the code.',
        }),
      },
    )
    .get(
      '/forecasts/production',
      ({ query, set, request }) =>
        eiList(
          query,
          answerOf({ set, request }),
          listOf(set, filterOf(query, idsOfKind('production', idsOf(query.commodity, request)))),
          one => {
            const series = catalogue.byId(one.seriesId)
            return {
              ...common(one, series),
              region: regionOf(series.code),
              forecast_production: one.value,
            }
          },
        ),
      {
        access: eiAccess,
        query: t.Object(filterQuery),
        response: { 200: eiBody(t.Array(Production), 'ProductionOutlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'listProductionOutlooks',
          summary: 'Production forecasts of agencies',
          description:
            'Forecasts of crude oil and gas production by region, newest publication first.',
        }),
      },
    )
    .get(
      '/forecasts/historical',
      ({ query, set, request }) => {
        const { fromOn, toOn } = daysOf(query)
        const [lastOn] = [toOn, isoDay(now() - dayMs)].sort()
        const filter = {
          seriesIds: idsOf(query.commodity, request),
          target: { fromOn, toOn: lastOn! },
        }
        return eiList(query, answerOf({ set, request }), listOf(set, filter, 'target'), pastRow)
      },
      {
        access: eiHeavyAccess,
        query: t.Object(filterQuery),
        response: { 200: eiBody(t.Array(Past), 'PastOutlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'listPastOutlooks',
          summary: 'Forecasts of agencies against what came',
          description: `Every forecast of a period that is over, newest period first; dates select the last days of periods. ${actualNote} Of OPEC's production it is the mean of its months.`,
        }),
      },
    )
    .get(
      '/forecasts/compare',
      ({ query, set, request }) => {
        const ids = idsOf(query.commodity, request)
        const list = {
          total: outlooks.countCompared(ids, comparedSources),
          rows: (limit: number, offset: number) =>
            marked(set, outlooks.compare(ids, comparedSources, limit, offset)),
        }
        return eiList(query, answerOf({ set, request }), list, comparedRow)
      },
      {
        access: eiHeavyAccess,
        query: t.Object({ commodity: filterQuery.commodity, ...eiPageQuery }),
        response: { 200: eiBody(t.Array(Compared), 'ComparedOutlooks'), ...refusals },
        detail: eiDetail(prefix, {
          operationId: 'compareOutlooks',
          summary: 'Forecasts of two agencies side by side',
          description: `For every period and code the newest forecast of each agency and what came, newest period first. ${actualNote}`,
        }),
      },
    )
    .get(
      '/forecasts/:id',
      ({ params, set }) => {
        const found = outlooks.byId(eiIdOf(params.id, 'Forecast'))
        if (!found) throw notFound(`Forecast ${params.id}`)
        marked(set, [found])
        return eiOne(recordRow(found), tier)
      },
      {
        access: eiAccess,
        params: t.Object({
          id: t.String({ description: 'Number of the record.', examples: ['1'] }),
        }),
        response: { 200: eiBody(Record, 'OutlookRecord'), ...eiRefusals },
        detail: eiDetail(prefix, {
          operationId: 'getOutlook',
          summary: 'One forecast of an agency',
          description: `What one publication expected of one code in one period. ${numberNote}`,
        }),
      },
    )
}
