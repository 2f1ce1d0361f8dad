import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { envelopeOf, success, tagged } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { strongEtag } from '../../../lib/text/etag.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { features } from '../../../plans/tiers.ts'
import { version } from '../../../version.ts'
import {
  Constants,
  constantsRow,
  RateLimit,
  rateLimitRows,
  tierRow,
} from '../../keys/operations/limit-rows.ts'
import { FeatureList, TierShape } from '../../keys/operations/tier-shape.ts'

const schemaVersion = '2.0.0'

const updatedAt = t.instant('When these limits took effect.')

const LimitsBody = envelopeOf({
  schema_version: t.Literal(schemaVersion),
  updated_at: updatedAt,
  tiers: t.Array(TierShape),
  rate_limits: t.Array(RateLimit, { description: 'Rolling windows.' }),
  constants: Constants,
})

const WebhookIps = envelopeOf({
  ip_ranges: t.Array(t.String({ examples: ['198.51.100.0/24'] }), {
    description: 'Networks, in CIDR notation.',
  }),
  ips: t.Array(t.String({ examples: ['203.0.113.7'] }), {
    description: 'The networks that are a single address.',
  }),
  updated_at: updatedAt,
})

const Facts = t.Object({
  schema_version: t.Literal(schemaVersion),
  name: t.String({ examples: ['Energy Prices'] }),
  version: t.String({ examples: [version] }),
  plans: t.Array(
    t.Object({
      ...TierShape.properties,
      price_monthly: t.integer('In cents.', 9900),
      price_yearly: t.integer('In cents.', 118_800),
      currency: t.Literal('USD'),
      custom_pricing: t.boolean('The price is agreed with the operator.'),
    }),
  ),
  commodities: t.Object({
    total: t.integer('Codes of the catalogue.', 897),
    available: t.integer('Codes that have data.', 884),
    categories: t.Array(t.String({ examples: ['crude_oil'] })),
  }),
  features: FeatureList,
  updated_at: updatedAt,
})
export type PlanFacts = (typeof Facts)['static']['plans'][number]

/**
 * Public facts: plans and limits in force, addresses that webhooks come from, and figures about the
 * service.
 */
export function metaOperations(deps: Context) {
  // Plans and limits are settings: the present ones have been in force since the process started.
  const startedAt = isoInstant(deps.now())
  return [
    ...limitsOperations(deps, startedAt),
    ...webhookIpsRoute(deps, startedAt),
    ...factsRoute(deps, startedAt),
  ]
}

function limitsOperations({ plans, limits }: Context, startedAt: string) {
  const text = JSON.stringify(
    success({
      schema_version: schemaVersion,
      updated_at: startedAt,
      tiers: plans.tiers.map(tier => tierRow(plans, tier)),
      rate_limits: rateLimitRows(limits),
      constants: constantsRow(limits),
    }),
  )
  const etag = strongEtag(text)
  const options = {
    access: { open: 'People compare plans before they have a key.' },
    answers: { 200: serialised(LimitsBody), 304: t.Void() },
  } as const
  const description =
    'Returns every plan with its quota and limits, the rolling windows and other limits. Send the `ETag` as `If-None-Match`: unchanged limits return 304.'
  return [
    operation('GET /v1/meta/limits', {
      operationId: 'getLimits',
      summary: 'Get plans and limits',
      description,
      ...options,
      handle: ({ request, reply }) => tagged(request, reply, text, true, etag),
    }),
    operation('GET /limits.json', {
      operationId: 'getLimitsFile',
      summary: 'Get plans and limits',
      deprecated: { use: '/v1/meta/limits' },
      description,
      ...options,
      handle: ({ request, reply }) => tagged(request, reply, text, true, etag),
    }),
  ]
}

/** A network that is only one address. */
const singleAddress = /^(?:([\d.]+)\/32|([\da-f:.]+)\/128)$/i

function webhookIpsRoute({ config }: Context, startedAt: string) {
  const { sourceRanges } = config.webhooks
  const answer = success({
    ip_ranges: [...sourceRanges],
    ips: sourceRanges.flatMap(range => singleAddress.exec(range)?.slice(1).find(Boolean) ?? []),
    updated_at: startedAt,
  })
  return [
    operation('GET /v1/webhook-ips', {
      operationId: 'getWebhookIps',
      summary: 'List the addresses that webhooks are sent from',
      description:
        "Returns the networks that webhooks are sent from, for a receiver's firewall; empty if the operator has not set them. Free of charge.",
      access: { meter: false },
      answers: WebhookIps,
      handle: () => answer,
    }),
  ]
}

function factsRoute({ plans, catalogue, commodityTexts, serviceName }: Context, startedAt: string) {
  const write = (): string =>
    JSON.stringify({
      schema_version: schemaVersion,
      name: serviceName,
      version,
      plans: plans.tiers.map(tier => ({
        ...tierRow(plans, tier),
        price_monthly: tier.priceMonthlyCents,
        price_yearly: tier.priceYearlyCents,
        currency: 'USD',
        custom_pricing: tier.customPricing,
      })),
      commodities: {
        total: catalogue.list().length,
        available: commodityTexts.select(false).length,
        categories: [...new Set(catalogue.list().map(series => series.category))].sort(),
      },
      features: [...features],
      updated_at: startedAt,
    })
  return [
    operation('GET /product-facts.json', {
      operationId: 'getProductFacts',
      summary: 'Get key figures of the service',
      description:
        'Returns plans with their prices, features and the size of the catalogue, for service comparisons.',
      access: { open: 'The service describes itself.', rate: 'none' },
      answers: { 200: serialised(Facts), 304: t.Void() },
      handle: ({ request, reply }) => {
        const { list, hit } = commodityTexts.rendered('facts', () => [], write)
        return tagged(request, reply, list.text, hit, list.etag)
      },
    }),
  ]
}
