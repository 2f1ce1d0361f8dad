import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { codeParameter, parsed, textParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, success, tagged } from '../../../http/operations/answer.ts'
import {
  Commodity,
  categoryOf,
  commodityFields,
  commodityOf,
  commodityRow,
  deliveryShape,
  markSeries,
  seriesOf,
} from '../../../http/operations/commodities/row.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { CatalogProblem } from '../../../http/problem/shape.ts'
import { isoDay, isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { maxAgeHours } from '../../calendars/math/freshness.ts'
import { nextReleaseAt } from '../../calendars/math/releases.ts'
import { deliveryRow } from '../../delivery/math/terms.ts'
import { Disclosure, disclosureRow } from '../../prices/operations/row.ts'
import { categoryName } from '../math/catalogue.ts'
import { mentions } from '../math/lookup.ts'
import type { Series } from '../store/series.ts'

const List = t.Object({
  status: t.Literal('success'),
  data: t.Array(Commodity),
  meta: t.Object({ total: t.integer({ examples: [884] }), include_unavailable: t.Boolean() }),
})

const Categories = envelope(
  t.Record(
    t.String(),
    t.Object({
      name: t.String({ examples: ['Crude Oil'] }),
      count: t.integer({ examples: [12] }),
      commodities: t.Array(Commodity),
    }),
    { description: 'By category.' },
  ),
)

const SingleCommodity = envelopeOf({
  ...commodityFields,
  requested_code: t.Optional(t.string('The requested alias, if any.', 'WTI')),
  instrument_disclosure: t.Optional(Disclosure),
  ...deliveryShape,
  freshness: t.Object({
    as_of: t.instantOrNull('Time of the newest price.'),
    data_status: t.oneOf(['current', 'delayed', 'stale', 'empty']),
    stale: t.Boolean(),
    max_age_hours: t.number('Age at which the newest price counts as stale.', 72),
    next_release_at: t.Optional(
      t.instant('When the next value is released, for a series with release days.'),
    ),
  }),
})

const includeUnavailable = parsed.flag(
  '`true` also lists codes without data, each with the reason.',
  true,
  { default: false },
)

function listRoute({ catalogue, commodityTexts, marks }: Context) {
  const write = (include: boolean) => (all: readonly Series[]) =>
    `{"status":"success","data":[${all.map(commodityTexts.row).join(',')}],"meta":${JSON.stringify({ total: all.length, include_unavailable: include })}}`

  return [
    operation('GET /v1/commodities', {
      operationId: 'getCommodities',
      summary: 'List commodity codes',
      description:
        'Returns every code with data, sorted by code, on one page. Send the `ETag` as `If-None-Match`: an unchanged list returns 304, which does not count against the quota.',
      tags: ['Catalogue'],
      access: { meter: true },
      query: {
        include_unavailable: includeUnavailable,
        category: codeParameter('Only the codes of this category.', 'crude_oil'),
        q: textParameter(
          'Only the codes with every word of this text in their code, name or an alias, in any letter case.',
          'crude',
        ),
      },
      answers: { 200: serialised(List), 304: t.Void() },
      handle: ({ query, request, reply }) => {
        const include = query.include_unavailable
        const category = categoryOf(catalogue, query.category)
        const words = query.q?.trim()
        if (words) {
          const matches = commodityTexts
            .select(include, category)
            .filter(series => mentions(series, words))
          markSeries(reply, marks, matches)
          return tagged(request, reply, write(include)(matches), false)
        }
        const { list, hit } = commodityTexts.rendered(
          `list ${include} ${category ?? ''}`,
          () => commodityTexts.select(include, category),
          write(include),
        )
        markSeries(reply, marks, list.series)
        return tagged(request, reply, list.text, hit, list.etag)
      },
    }),
  ]
}

function categoryOperations({ commodityTexts, marks }: Context) {
  const write = (all: readonly Series[]): string => {
    const groups = [...Map.groupBy(all, series => series.category)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    const parts = groups.map(([category, part]) => {
      const head = `"name":${JSON.stringify(categoryName(category))},"count":${part.length}`
      return `${JSON.stringify(category)}:{${head},"commodities":[${part.map(commodityTexts.row).join(',')}]}`
    })
    return `{"status":"success","data":{${parts.join(',')}}}`
  }

  return [
    operation('GET /v1/commodities/categories', {
      operationId: 'getCommodityCategories',
      summary: 'List commodity codes by category',
      description:
        'Returns the codes grouped by category. Send the `ETag` as `If-None-Match`: an unchanged list returns 304, which does not count against the quota.',
      tags: ['Catalogue'],
      access: { meter: true },
      query: { include_unavailable: includeUnavailable },
      answers: { 200: serialised(Categories), 304: t.Void() },
      handle: ({ query, request, reply }) => {
        const include = query.include_unavailable
        const { list, hit } = commodityTexts.rendered(
          `categories ${include}`,
          () => commodityTexts.select(include),
          write,
        )
        markSeries(reply, marks, list.series)
        return tagged(request, reply, list.text, hit, list.etag)
      },
    }),
    operation('GET /v1/commodities/codes', {
      operationId: 'getCommodityCodes',
      summary: 'Redirect to the commodity codes',
      deprecated: { use: '/v1/commodities' },
      description:
        'Redirects to the list of codes, `GET /v1/commodities`. Free of charge. A client that follows redirects receives the response of that operation, which counts as one request.',
      tags: ['Catalogue'],
      access: { meter: false },
      answers: { 302: t.Void({ description: 'To `/v1/commodities`.' }) },
      handle: ({ reply }) => {
        reply.status = 302
        reply.headers.location = '/v1/commodities'
      },
    }),
  ]
}

/** The codes, their meaning and the range of their data. */
export const commodityOperations: Operations = [
  listRoute,
  categoryOperations,
  operation('GET /v1/commodities/:code', {
    operationId: 'getCommodity',
    summary: 'Get a commodity',
    description:
      'Returns the definition, source and freshness of a code. Codes without data are included, with the reason. An alias returns its code, with `requested_code`. Send the `ETag` as `If-None-Match`: an unchanged commodity returns 304, which does not count against the quota.',
    tags: ['Catalogue'],
    access: { meter: true },
    params: {
      code: t.string('Code or alias, in any letter case.', 'WTI_USD'),
    },
    answers: { 200: serialised(SingleCommodity), 304: t.Void(), 404: CatalogProblem },
    handle: ({ at: deps, params, request, reply }) => {
      const { series, requestedCode } = commodityOf(deps.catalogue, params.code, deps.now())
      const quote = deps.latestPrices.quote(deps.catalogue.resolve(series.code, deps.now())!.series)
      const asOf = quote?.observation.observedAt
      const nextRelease = nextReleaseAt(series, deps.now())
      const disclosure = disclosureRow(series, isoDay(asOf ?? deps.now()))
      const row = {
        ...commodityRow(
          series,
          deps,
          new Set(seriesOf(deps.catalogue, deps.firstCodes).map(series => series.id)),
        ),
        ...(requestedCode !== undefined && { requested_code: requestedCode }),
        ...(disclosure && { instrument_disclosure: disclosure }),
        ...(series.delivery && deliveryRow(series.delivery)),
        freshness: {
          as_of: isoOrNull(asOf),
          data_status: quote?.status ?? ('empty' as const),
          stale: quote?.status === 'stale',
          max_age_hours: maxAgeHours(series, asOf ?? deps.now()),
          ...(nextRelease !== undefined && { next_release_at: isoInstant(nextRelease) }),
        },
      }
      markSeries(reply, deps.marks, [series])
      return tagged(request, reply, JSON.stringify(success(row)), false)
    },
  }),
]
