import { t } from '../../../http/answer/schema.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter, parsed } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atPoint, knownQuery } from '../../../http/operations/point-in-time.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { planNeeded } from '../../../http/problem/refusals.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { type Entitlements, offeredPlans, type Plans } from '../../../plans/plans.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { sourcesRow } from '../../fundamentals/operations/storage-row.ts'
import { roundTo } from '../../prices/math/format.ts'
import { formatted, priceFields, priceRowFields } from '../../prices/operations/row.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { type BriefItem, type MonthForecast, monthForecast, narrative } from '../math/brief.ts'

const price = t.Number({ examples: [74.25] })
const confidenceDecimals = 4

const Forecast = t.object('MonthForecast', {
  point: price,
  low: t.Number({ examples: [67.9] }),
  high: t.Number({ examples: [81.2] }),
  confidence: t.Number({ minimum: 0, maximum: 1, examples: [0.9145] }),
  confidence_level: t.oneOf(['low', 'medium', 'high']),
  method: t.String({ examples: ['combined'] }),
})

const change = (description: string) => t.numberOrNull(description, -0.52)

const Commodity = t.object('BriefCommodity', {
  ...priceFields('code', 'name', 'price', 'currency', 'unit', 'formatted'),
  change_24h_abs: change(
    'Change against the price 24 hours earlier, or for a daily series the previous close; null without one.',
  ),
  change_24h_pct: change('The same in percent of that price; null when that is 0.'),
  change_24h: change('The same as `change_24h_abs`.'),
  as_of: t.instant('When the price was observed.'),
  source: priceRowFields.source,
  stale: t.boolean('No new price for three periods of the cadence.'),
  requested_code: t.Optional(t.string('The requested alias or futures family, if any.')),
  forecast_1m: t.orNull(
    Forecast,
    'Null with too few daily closes, or a price that is not positive.',
  ),
})

const Brief = envelopeOf({
  as_of: t.instant('When the brief was made.'),
  codes: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
    description: 'Codes in the response, in the order requested.',
  }),
  count: t.integer({ examples: [1] }),
  missing_codes: t.Optional(
    t.Array(t.String(), { description: 'Known codes without a current price.' }),
  ),
  narrative: t.Optional(
    t.String({
      examples: ['Brent Crude Oil is at 74.25 USD per barrel, down 0.70% over 24 hours.'],
    }),
  ),
  commodities: t.Array(Commodity),
  metadata: t.Object({ source: t.String(), source_description: t.String() }),
})

/** 403 when a brief has more codes than the plan's, naming the cheapest plan that takes as many. */
function tooManyFor(
  plans: Plans,
  entitled: Entitlements,
  requested: number,
  upgradeUrl: string,
): Problem {
  const limit = entitled.marketBriefCodes
  const largerTier = offeredPlans(plans).find(tier => tier.marketBriefCodes >= requested)
  const instead = largerTier
    ? `For more, upgrade to ${largerTier.name}: ${upgradeUrl}`
    : 'No plan allows that many; request fewer.'
  return new Problem(
    'INSUFFICIENT_PLAN',
    `A market brief of the ${entitled.planName} plan takes ${limit} codes; got ${requested}. ${instead}`,
    {
      limit,
      requested,
      ...planNeeded({ upgradeUrl }, entitled, 'market_brief_codes', largerTier),
    },
  )
}

interface Item {
  match: Resolved
  quote: Quote
  forecast: MonthForecast | undefined
}

function forecastRow({ forecast, match }: Item) {
  if (!forecast) return null
  const rounded = (value: number) => roundTo(value, match.series.decimals)
  return {
    point: rounded(forecast.point),
    low: rounded(forecast.low),
    high: rounded(forecast.high),
    confidence: roundTo(forecast.confidence, confidenceDecimals),
    confidence_level: forecast.level,
    method: forecast.method,
  }
}

function commodityRow(item: Item) {
  const { match, quote } = item
  const { series, observation, changes } = quote
  const value = roundTo(observation.value, series.decimals)
  const moved = changes['24h']
  return {
    code: match.code,
    name: series.name,
    price: value,
    currency: series.currency,
    unit: series.unit,
    formatted: formatted(series, value),
    change_24h_abs: moved?.amount ?? null,
    change_24h_pct: moved?.percent ?? null,
    change_24h: moved?.amount ?? null,
    as_of: isoInstant(observation.observedAt),
    source: sourceOf(series).name,
    stale: quote.status === 'stale',
    ...(match.requestedCode !== undefined && { requested_code: match.requestedCode }),
    forecast_1m: forecastRow(item),
  }
}

const sentenceItem = ({ quote, forecast }: Item): BriefItem => ({
  name: quote.series.name,
  price: quote.observation.value,
  currency: quote.series.currency,
  unit: quote.series.unit,
  decimals: quote.series.decimals,
  changePercent: quote.changes['24h']?.percent,
  forecast,
  stale: quote.status === 'stale',
})

function itemOf({ latestPrices, closes }: Context, match: Resolved): Item | undefined {
  const { series } = match
  const quote = latestPrices.quote(series)
  return (
    quote && {
      match,
      quote,
      forecast: closes.derived('month forecast', [series.id], ([seriesCloses]) =>
        monthForecast(seriesCloses!),
      ),
    }
  )
}

function briefAnswer(
  deps: Context,
  matches: readonly Resolved[],
  withNarrative: boolean,
  reply: Reply,
) {
  const items = matches.map(match => itemOf(deps, match))
  const priced = items.filter(item => item !== undefined)
  const missing = matches.filter((_, i) => !items[i]).map(match => match.code)
  if (priced.length === 0) {
    throw new Problem('DATA_NOT_AVAILABLE', `None of ${missing.join(', ')} has a current price.`, {
      missing_codes: missing,
    })
  }
  markFixtures(
    reply,
    deps.marks,
    priced.map(item => item.match),
  )
  const rows = priced.map(commodityRow)
  return success({
    as_of: isoInstant(deps.now()),
    codes: rows.map(row => row.code),
    count: rows.length,
    ...(missing.length > 0 && { missing_codes: missing }),
    ...(withNarrative && { narrative: narrative(priced.map(sentenceItem)) }),
    commodities: rows,
    metadata: sourcesRow(priced.map(item => item.quote.series)),
  })
}

/** Prices, their day and their month ahead in one answer. */
export const marketBriefOperations = [
  operation('GET /v1/market-brief', {
    operationId: 'getMarketBrief',
    summary: 'Get the market brief',
    description: `Returns the newest price of several commodities with its 24-hour change, a statistical projection for the month ahead and, optionally, a text summary. Counts as one request.

The plan limits the number of codes (\`market_brief_codes\` of \`GET /v1/meta/limits\`); more are refused with 403, \`limit\` and \`requested\`. Codes without a price are named in \`missing_codes\`; 404 if none has one.

\`forecast_1m\` is the combined forecast of \`GET /v1/analytics/forecast\` 30 calendar days ahead over the closes of 90 days, n = 30 x A / 365 closes ahead (A: 252 closes a year for daily series, 52 weekly, 12 monthly). It is null where a close of the 90 days is zero or negative. It is not investment advice.

| Field | Value |
|---|---|
| \`point\` | mean of sma(20) and last x exp(drift x n); drift is the log slope of ema(20) from close to close |
| \`low\`, \`high\` | point x exp(-+sigma sqrt(n)), stated probability 0.6827; sigma is the sample standard deviation of the log returns |
| \`confidence\` | exp(-sigma sqrt(n)): \`high\` from 0.9 on, \`medium\` from 0.8 on, below it \`low\` |`,
    tags: ['Prices'],
    access: { meter: true, heavy: true },
    query: {
      codes: codesParameter(
        undefined,
        "Codes or aliases, comma-separated, up to the plan's limit. Default: the free tier's codes up to that number.",
        'BRENT_CRUDE_USD,WTI_USD',
      ),
      narrative: parsed.flag('`true` adds a text summary of the numbers. Default: false.', true, {
        default: false,
      }),
      ...knownQuery,
    },
    answers: {
      200: Brief,
      400: CodeProblem,
      404: NestedProblem,
    },
    handle: ({ at: deps, query, request, reply, caller }) => {
      const { codes, plans } = deps
      const { entitled } = caller
      const requestedCodes = listOf(query.codes)
      if (requestedCodes.length > entitled.marketBriefCodes) {
        throw tooManyFor(plans, entitled, requestedCodes.length, deps.links(request).upgradeUrl)
      }
      const withNarrative = query.narrative
      const briefCodes =
        requestedCodes.length > 0
          ? requestedCodes
          : deps.firstCodes.slice(0, entitled.marketBriefCodes)
      const matches = codes.read(briefCodes, request)
      return atPoint(deps, { as_of: query.as_of }, reply, deps =>
        briefAnswer(deps, matches, withNarrative, reply),
      )
    },
  }),
]
