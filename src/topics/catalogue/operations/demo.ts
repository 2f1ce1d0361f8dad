import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter } from '../../../http/input/typed.ts'
import { envelopeOf, type Marks, type Reply, success } from '../../../http/operations/answer.ts'
import {
  Commodity,
  commodityOf,
  isForAnyone,
  markSeries,
  seriesOf,
} from '../../../http/operations/commodities/row.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { CatalogProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import { priceFields, priceRowFields } from '../../prices/operations/row.ts'
import { Sparkline, sparklineOf } from '../../prices/operations/sparkline.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { sourceOf } from '../math/catalogue.ts'
import type { Series } from '../store/series.ts'

/** Longer than any code and shorter than any token, so that no token is echoed. */
const codeMax = 60

const access = { open: 'People try the service before they have a key.', rate: 'demo' } as const

const demoFields = {
  ...priceFields('code', 'name', 'price', 'currency', 'unit', 'created_at', 'updated_at'),
  change_24h: t.orNull(t.Number({ examples: [-0.52] })),
  change_24h_percent: t.orNull(t.Number({ examples: [-0.73] })),
  source: priceRowFields.source,
}
export const DemoRow = t.object('DemoPrice', { ...demoFields, sparkline: Sparkline })
export type DemoRow = (typeof DemoRow)['static']

const codesNow = t.integer('Codes of the demo that have a price.', 9)

const DemoPrices = envelopeOf({
  prices: t.Array(DemoRow),
  meta: t.Object({
    demo_mode: t.Literal(true),
    rate_limit: t.String({ examples: ['20 requests per hour'] }),
    signup_url: t.String({ examples: ['https://prices.example.com/signup'] }),
    available_commodities: codesNow,
    commodities_available: codesNow,
    unavailable_codes: t.Optional(
      t.Array(t.String(), {
        description: 'Requested codes that the demo does not serve.',
      }),
    ),
  }),
  examples: t.Object({
    curl: t.String({ examples: ['curl "https://prices.example.com/v1/demo/prices"'] }),
    latest: t.String({
      examples: [
        'curl -H "Authorization: Token YOUR_API_KEY" "https://prices.example.com/v1/prices/latest?by_code=WTI_USD"',
      ],
    }),
    history: t.String({
      examples: [
        'curl -H "Authorization: Token YOUR_API_KEY" "https://prices.example.com/v1/prices/past_week?by_code=WTI_USD"',
      ],
    }),
    authentication: t.String({ examples: ['Authorization: Token YOUR_API_KEY'] }),
  }),
})

const DemoPrice = envelopeOf({ ...demoFields, demo_mode: t.Literal(true) })

const DemoCommodities = envelopeOf({
  commodities: t.Record(t.String(), t.Array(Commodity), { description: 'By category.' }),
  meta: t.Object({
    total: t.integer({ examples: [884] }),
    categories: t.Array(t.String({ examples: ['crude_oil'] })),
    free_commodities: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] })),
  }),
})

const rowOf = ({ series, observation, changes }: Quote) => ({
  code: series.code,
  name: series.name,
  price: roundTo(observation.value, series.decimals),
  currency: series.currency,
  unit: series.unit,
  created_at: isoInstant(observation.observedAt),
  updated_at: isoInstant(observation.recordedAt),
  change_24h: changes['24h']?.amount ?? null,
  change_24h_percent: changes['24h']?.percent ?? null,
  source: sourceOf(series).name,
})

const examplesOf = (baseUrl: string) => ({
  curl: `curl "${baseUrl}/v1/demo/prices"`,
  latest: `curl -H "Authorization: Token YOUR_API_KEY" "${baseUrl}/v1/prices/latest?by_code=WTI_USD"`,
  history: `curl -H "Authorization: Token YOUR_API_KEY" "${baseUrl}/v1/prices/past_week?by_code=WTI_USD"`,
  authentication: 'Authorization: Token YOUR_API_KEY',
})

const markDemo = (reply: Reply, marks: Marks, all: readonly Series[]) => {
  reply.headers['x-demo-mode'] = 'true'
  markSeries(reply, marks, all)
}

/** Operations that need no key. */
export const demoOperations: Operations = [
  operation('GET /v1/demo/prices', {
    aliases: ['/v1/demo/prices/latest'],
    operationId: 'getDemoPrices',
    summary: 'List demo prices',
    description:
      'Returns the newest prices of a few codes without an API key. Limited per client address; the headers show the remaining requests.',
    access,
    query: {
      codes: codesParameter(
        undefined,
        'Demo codes, comma-separated. Others are named in `meta.unavailable_codes`.',
        'WTI_USD,GOLD_USD',
      ),
    },
    answers: DemoPrices,
    handle: ({ at: deps, query, request, reply }) => {
      const free = seriesOf(deps.catalogue, deps.firstCodes)
      const quotes = free.flatMap(series => deps.latestPrices.quote(series) ?? [])
      const requestedCodes = listOf(query.codes).map(code => ({
        code: code.toUpperCase().slice(0, codeMax),
        id: deps.catalogue.named(code)?.id,
      }))
      const selectedQuotes = quotes.filter(
        quote =>
          requestedCodes.length === 0 ||
          requestedCodes.some(requested => requested.id === quote.series.id),
      )
      const missing = new Set(
        requestedCodes
          .filter(requested => !selectedQuotes.some(quote => quote.series.id === requested.id))
          .map(requested => requested.code),
      )
      markDemo(reply, deps.marks, free)
      const { baseUrl, signupUrl } = deps.links(request)
      return success({
        prices: selectedQuotes.map(quote => ({
          ...rowOf(quote),
          sparkline: sparklineOf({ latestPrices: deps.latestPrices, history: deps.history }, quote),
        })),
        meta: {
          demo_mode: true as const,
          rate_limit: `${deps.limits.demoPerHour} requests per hour`,
          signup_url: signupUrl,
          available_commodities: quotes.length,
          commodities_available: quotes.length,
          ...(missing.size > 0 && { unavailable_codes: [...missing] }),
        },
        examples: examplesOf(baseUrl),
      })
    },
  }),
  operation('GET /v1/demo/prices/:code', {
    operationId: 'getDemoPrice',
    summary: 'Get a demo price',
    description:
      'Returns the newest price of a demo code. Other codes of the catalogue get 403 with the list of demo codes.',
    access,
    params: {
      code: t.string('One of the demo codes or an alias of it.', 'WTI_USD'),
    },
    answers: {
      200: DemoPrice,
      403: NestedProblem,
      404: t.Union([CatalogProblem, NestedProblem]),
    },
    handle: ({ at: deps, params, reply }) => {
      const free = seriesOf(deps.catalogue, deps.firstCodes)
      markDemo(reply, deps.marks, free)
      const { series } = commodityOf(deps.catalogue, params.code, deps.now())
      if (!free.includes(series)) {
        throw new Problem(
          'DEMO_CODE_NOT_AVAILABLE',
          `The demo does not serve ${series.code}; with an API key, /v1/prices/latest does.`,
          {
            commodity_code: series.code,
            available_codes: free.map(series => series.code),
          },
        )
      }
      const quote = deps.latestPrices.quote(series)
      if (!quote)
        throw new Problem('DATA_NOT_AVAILABLE', `${series.code} has no current price.`, {
          commodity_code: series.code,
        })
      return success({ ...rowOf(quote), demo_mode: true as const })
    },
  }),
  commoditiesRoute,
]

function commoditiesRoute(deps: Context) {
  const { catalogue, commodityTexts } = deps
  const write = (all: readonly Series[]): string => {
    const groups = [...Map.groupBy(all, series => series.category)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    const parts = groups.map(
      ([category, part]) =>
        `${JSON.stringify(category)}:[${part.map(commodityTexts.row).join(',')}]`,
    )
    const meta = {
      total: all.length,
      categories: groups.map(([category]) => category),
      free_commodities: seriesOf(catalogue, deps.firstCodes).map(series => series.code),
    }
    return `{"status":"success","data":{"commodities":{${parts.join(',')}},"meta":${JSON.stringify(meta)}}}`
  }
  return [
    operation('GET /v1/demo/commodities', {
      operationId: 'getDemoCommodities',
      summary: 'List demo commodity codes',
      description:
        'Returns every code with data, by category, and which of them the demo serves. Codes whose values may not be redistributed (`license_class` `view`) are left out.',
      access,
      answers: serialised(DemoCommodities),
      handle: ({ reply }) => {
        const { list, hit } = commodityTexts.rendered(
          'demo',
          () => commodityTexts.select(false).filter(isForAnyone),
          write,
        )
        markDemo(reply, deps.marks, list.series)
        reply.headers['x-cache'] = hit ? 'HIT' : 'MISS'
        reply.headers['content-type'] = 'application/json; charset=utf-8'
        return list.text
      },
    }),
  ]
}
