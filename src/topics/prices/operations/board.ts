import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { cadences } from '../../catalogue/math/catalogue.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { PriceChange } from '../math/change.ts'
import { roundTo } from '../math/format.ts'
import type { Quote } from '../service/reads/latest-prices.ts'
import { formatted, priceFields } from './row.ts'
import { Sparkline, sparklineDays, sparklineOf } from './sparkline.ts'

/** As many as fill a large screen twice. */
const codesMax = 200

const Move = t.orNull(
  t.Object({
    amount: t.number('In the unit of the price.', -0.52),
    percent: t.orNull(t.Number({ examples: [-0.73] })),
  }),
  'Null without an earlier price.',
)

export const BoardRow = t.object('BoardRow', {
  ...priceFields('code', 'name'),
  category: t.String({ examples: ['crude_oil'] }),
  ...priceFields('currency', 'unit', 'price', 'formatted', 'created_at', 'updated_at'),
  data_status: t.oneOf(
    ['current', 'delayed', 'stale'],
    'Freshness of the newest price by its release schedule.',
  ),
  change_24h: Move,
  change_7d: Move,
  change_30d: Move,
  sparkline: Sparkline,
  cadence: t.oneOf(
    cadences,
    'Release frequency; `change_24h` of a weekly or monthly code is that of its last period.',
  ),
})
export type BoardRow = (typeof BoardRow)['static']

const BoardAnswer = envelopeOf({
  rows: t.Array(BoardRow, { description: 'In the order requested.' }),
  missing_codes: t.Array(t.String(), { description: 'Codes without a current price.' }),
})

const moveOf = (change: PriceChange | undefined) =>
  change ? { amount: change.amount, percent: change.percent ?? null } : null

const rowOf = (
  { series, observation, changes, status }: Quote,
  code: string,
  sparkline: number[],
): BoardRow => {
  const price = roundTo(observation.value, series.decimals)
  return {
    code,
    name: series.name,
    category: series.category,
    currency: series.currency,
    unit: series.unit,
    price,
    formatted: formatted(series, price),
    created_at: isoInstant(observation.observedAt),
    updated_at: isoInstant(observation.recordedAt),
    data_status: status,
    change_24h: moveOf(changes['24h']),
    change_7d: moveOf(changes['7d']),
    change_30d: moveOf(changes['30d']),
    sparkline,
    cadence: series.cadence,
  }
}

/** Newest prices with what a board shows alongside them. */
export function boardOperations({ latestPrices, history, codes, ...deps }: Context) {
  const textOf = ({ code, series }: Resolved): string | undefined =>
    latestPrices.rendered(`board ${code}`, series, quote =>
      JSON.stringify(rowOf(quote, code, sparklineOf({ latestPrices, history }, quote))),
    )?.text
  return [
    operation('GET /v1/prices/board', {
      operationId: 'getPriceBoard',
      summary: 'Get prices for a watchlist',
      description: `Returns the newest prices of up to ${codesMax} codes with their changes over 24 hours, 7 and 30 days, how fresh they are, and the daily closes of ${sparklineDays} days, in one request.`,
      access: { meter: true },
      query: {
        codes: codesParameter(
          200,
          `One to ${codesMax} codes or aliases, comma-separated; absent: the codes of the demo.`,
          'WTI_USD,BRENT_CRUDE_USD',
        ),
      },
      answers: { 200: serialised(BoardAnswer), 400: CodeProblem },
      handle: ({ query, request, reply, caller }) => {
        const requestedCodes = listOf(query.codes)
        const commodities = codes.read(
          requestedCodes.length > 0 ? requestedCodes : deps.firstCodes,
          request,
          codesMax,
        )
        const texts = latestPrices.together(() => commodities.map(textOf))
        const missing = commodities.filter((_, i) => texts[i] === undefined)
        const answering = reply
        markFixtures(answering, deps.marks, commodities)
        answering.headers['x-cache'] = 'MISS'
        answering.headers['content-type'] = jsonType
        deps.meter.noteRequested(
          caller.key,
          commodities.map(({ series }) => series.id),
        )
        const rows = texts.filter(text => text !== undefined).join(',')
        const missingCodes = JSON.stringify(missing.map(({ code }) => code))
        return `{"status":"success","data":{"rows":[${rows}],"missing_codes":${missingCodes}}}`
      },
    }),
  ]
}
