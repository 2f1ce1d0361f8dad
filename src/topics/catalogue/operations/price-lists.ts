import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { PageMetaShape, type PageRequest, pageQuery } from '../../../http/input/page.ts'
import { listOf, periodMoment } from '../../../http/input/query.ts'
import { codeParameter, codesParameter, momentParameter } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import { categoryOf, markSeries } from '../../../http/operations/commodities/row.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import type { Overview } from '../../condition/service/freshness.ts'
import { roundTo } from '../../prices/math/format.ts'
import { PriceList, priceFields, priceRowFields } from '../../prices/operations/row.ts'
import { createCached, createEveryAnswer, createPriceTexts } from '../../prices/operations/texts.ts'
import { createWindowAnswer } from '../../prices/operations/window-answer.ts'
import { windowDays, windowQuery } from '../../prices/operations/window-query.ts'
import { WindowBody } from '../../prices/operations/window-row.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { sourceOf } from '../math/catalogue.ts'
import type { Series } from '../store/series.ts'

type PriceListsDeps = Context

const perPageMax = 1000

const AllRow = t.object('AllRow', {
  ...priceFields('code', 'name'),
  commodity: t.string('The same as `code`.', 'WTI_USD'),
  price: priceRowFields.price,
  value: t.number('The same as `price`.', 71.23),
  ...priceFields('currency', 'unit'),
  category: t.String({ examples: ['crude_oil'] }),
  ...priceFields('source', 'created_at', 'updated_at'),
  timestamp: t.instant('The same as `created_at`.'),
  change_24h: t.orNull(t.Number({ examples: [-0.52] })),
  change_24h_percent: t.orNull(t.Number({ examples: [-0.73] })),
})
export type AllRow = (typeof AllRow)['static']

const allFields = {
  prices: t.Record(t.String(), AllRow, { description: 'By code.' }),
  count: t.integer('Prices on this page.', 884),
  timestamp: t.instant('Time of the response.'),
}

const All = t.Object({
  status: t.Literal('success'),
  data: t.Object({
    ...allFields,
    data: t.Object(allFields, { description: 'The same, for older clients.' }),
  }),
  meta: PageMetaShape,
})

const count = (example: number, description?: string) =>
  t.integer({ examples: [example], ...(description && { description }) })

const Health = envelopeOf({
  status: t.oneOf(
    ['healthy', 'degraded', 'unhealthy'],
    '`degraded` while any code is stale, `unhealthy` when none is current or delayed.',
  ),
  total: count(884, 'Codes that have a source.'),
  current: count(884),
  delayed: count(0),
  stale: count(0),
  missing: count(0, 'Codes without any recorded price.'),
  by_category: t.Record(
    t.String(),
    t.Object({ total: count(12), current: count(12), stale: count(0) }),
  ),
  newest_observation: t.orNull(t.String({ format: 'date-time' })),
  oldest_current: t.instantOrNull('The oldest price among the current codes.'),
  checked_at: t.String({ format: 'date-time' }),
})

function pricesRoute(deps: PriceListsDeps) {
  const { latestPrices, codes, meter, marks } = deps
  const { several } = createPriceTexts(latestPrices)
  const every = createEveryAnswer(deps)
  const within = createWindowAnswer(deps)
  return [
    operation('GET /v1/prices', {
      operationId: 'getPrices',
      summary: 'List latest prices',
      description:
        'Returns the newest price of each code, always as a list. Without `by_code`, send the `ETag` as `If-None-Match`: an unchanged list returns 304, which does not count against the quota. With `by_period`, the prices of that period as `/v1/prices/historical` returns them, newest first.',
      tags: ['Prices'],
      access: { meter: true },
      query: {
        ...pageQuery(deps.perPageMax, deps.perPageMax),
        'by_period[from]': momentParameter(
          'Start of a period: a day, a time or Unix seconds, inclusive.',
          '2025-12-01',
        ),
        'by_period[to]': momentParameter(
          'End of the period, inclusive. Default: now.',
          '2026-01-01',
        ),
        interval: windowQuery.interval,
        by_code: codesParameter(
          20,
          'One to twenty codes or aliases, comma-separated; absent: every available code.',
          'WTI_USD,BRENT_CRUDE_USD',
        ),
      },
      answers: {
        200: serialised(t.Union([PriceList, WindowBody])),
        304: t.Void(),
        400: CodeProblem,
      },
      handle: ({ query, request, reply, caller }) => {
        const answering = reply
        if (hasPeriod(query)) {
          const { 'by_period[from]': from, 'by_period[to]': to, ...rest } = query
          const dated = {
            ...rest,
            start_date: periodMoment('by_period[from]', from),
            end_date: periodMoment('by_period[to]', to),
          }
          return within(dated, windowDays.past_month, request, answering, caller.key.key.id)
        }
        const requestedCodes = listOf(query.by_code)
        if (requestedCodes.length === 0) return every({ request, caller }, answering)
        const { known: commodities, unknown } = codes.readSome(
          requestedCodes,
          request,
          answering.headers,
        )
        markFixtures(answering, marks, commodities)
        meter.noteRequested(
          caller.key,
          commodities.map(commodity => commodity.series.id),
        )
        reply.headers['x-cache'] = 'MISS'
        reply.headers['content-type'] = 'application/json; charset=utf-8'
        return several(commodities, unknown)
      },
    }),
  ]
}

const hasPeriod = (query: Readonly<Record<string, string | undefined>>): boolean =>
  Boolean(query['by_period[from]'] || query['by_period[to]'])

/** A page of the list of all codes, as it is until a price changes. */
interface AllPage {
  /** The series of this page. */
  series: readonly Series[]
  /** The number of series on all pages. */
  total: number
  /** `prices` and `count`, as JSON without its braces. */
  text: string
}

function allPricesRoute(deps: PriceListsDeps) {
  const { latestPrices, catalogue, freshness, meter, marks, now } = deps
  const cached = createCached<AllPage>(deps)
  const rowText = (listed: Series, quoted: Series): string[] => {
    const rendered = latestPrices.rendered(
      `all ${listed.code}`,
      quoted,
      quote => `${JSON.stringify(listed.code)}:${JSON.stringify(allRow(listed, quote))}`,
    )
    return rendered ? [rendered.text] : []
  }
  const pageText = (category: string | undefined, { offset, perPage }: PageRequest, at: number) => {
    const selected = catalogue
      .list()
      .filter(
        series =>
          (category === undefined || series.category === category) && freshness.hasData(series),
      )
    const series = selected.slice(offset, offset + perPage)
    const quoted = series.map(({ code }) => catalogue.resolve(code, at)!.series)
    const rows = series.flatMap((listed, i) => rowText(listed, quoted[i]!))
    const text = `"prices":{${rows.join(',')}},"count":${rows.length}`
    return { value: { series, total: selected.length, text }, series: quoted }
  }
  return [
    operation('GET /v1/prices/all', {
      operationId: 'getAllPrices',
      summary: 'Get all latest prices by code',
      description:
        'Returns the newest price of every available code, keyed by code, for one request of the quota. All fit on the first page.',
      tags: ['Prices'],
      access: { meter: true, queryWorker: true },
      page: { max: perPageMax },
      query: {
        category: codeParameter('Only the codes of this category.', 'crude_oil'),
      },
      answers: serialised(All),
      handle: ({ query, page, reply, caller }) => {
        const category = categoryOf(catalogue, query.category)
        const { series, total, text } = cached(
          JSON.stringify([category, page.page, page.perPage]),
          at => pageText(category, page, at),
        ).value
        const meta = page.meta(total)
        markSeries(reply, marks, series)
        meter.noteRequested(
          caller.key,
          series.map(({ id }) => id),
        )
        reply.headers['x-cache'] = 'MISS'
        reply.headers['content-type'] = 'application/json; charset=utf-8'
        const inner = `${text},"timestamp":"${isoInstant(now())}"`
        return `{"status":"success","data":{${inner},"data":{${inner}}},"meta":${JSON.stringify(meta)}}`
      },
    }),
  ]
}

/**
 * The quote of a code in the short shape of the whole list; a futures family is listed under its
 * own code with the price of its front contract.
 */
function allRow(
  series: Series,
  { series: quoted, observation, changes }: Quote,
): (typeof AllRow)['static'] {
  const price = roundTo(observation.value, series.decimals)
  const observedAt = isoInstant(observation.observedAt)
  return {
    code: series.code,
    name: series.name,
    commodity: series.code,
    price,
    value: price,
    currency: series.currency,
    unit: series.unit,
    category: series.category,
    source: sourceOf(quoted).name,
    created_at: observedAt,
    updated_at: isoInstant(observation.recordedAt),
    timestamp: observedAt,
    change_24h: changes['24h']?.amount ?? null,
    change_24h_percent: changes['24h']?.percent ?? null,
  }
}

/** The newest prices of many codes at once. */
export const priceListOperations: Operations = [
  pricesRoute,
  allPricesRoute,
  operation('GET /v1/prices/all/health', {
    operationId: 'getAllPricesHealth',
    summary: 'Get price health',
    description:
      'Returns how many codes have a current, delayed, stale or no price, in total and by category.',
    tags: ['Prices'],
    access: { meter: true },
    answers: Health,
    handle: ({ at: { marks, catalogue, freshness, now }, reply }) => {
      markSeries(reply, marks, catalogue.list())
      return success(healthRow(freshness.overview(), now()))
    },
  }),
]

function healthRow(overview: Overview, checkedAt: number): (typeof Health)['static']['data'] {
  const { total, current, delayed, stale, missing } = overview
  const categories = [...overview.byCategory].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    status: current + delayed === 0 ? 'unhealthy' : stale > 0 ? 'degraded' : 'healthy',
    total,
    current,
    delayed,
    stale,
    missing,
    by_category: Object.fromEntries(
      categories.map(([name, tally]) => [
        name,
        { total: tally.total, current: tally.current, stale: tally.stale },
      ]),
    ),
    newest_observation: isoOrNull(overview.newestAt),
    oldest_current: isoOrNull(overview.oldestCurrentAt),
    checked_at: isoInstant(checkedAt),
  }
}
