import { mean } from 'simple-statistics'
import { t } from '../../../http/answer/schema.ts'
import { pastInQueryWorker } from '../../../http/gate/access-kind.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atPoint, knownQuery } from '../../../http/operations/point-in-time.ts'
import { missingParameter } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoInstant, startOfDay } from '../../../lib/time/instant.ts'
import { annualVolatility } from '../../analytics/math/statistics.ts'
import { yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { closesIn, closesPerYear, windowOf } from '../math/window.ts'
import type { Quote } from '../service/reads/latest-prices.ts'
import { isFullOf, precisionQuery, rounder } from './precision.ts'
import { priceFields, priceRowFields } from './row.ts'
import { noPrice } from './texts.ts'

export const Metric = t.object('PriceMetrics', {
  ...priceFields('code', 'name', 'currency', 'unit'),
  current: priceRowFields.price,
  min_24h: t.Number({ examples: [70.4] }),
  max_24h: t.Number({ examples: [71.9] }),
  average_7d: t.Number({ examples: [70.87] }),
  average_30d: t.Number({ examples: [69.92] }),
  min_52w: t.Number({ examples: [55.12] }),
  max_52w: t.Number({ examples: [82.44] }),
  volatility_30d: t.numberOrNull('Percent per year; null for fewer than five closes.', 31.4),
  observations_per_year: t.integer(
    'Closes per year at the spacing of the 30 days, used to scale volatility.',
    252,
  ),
  as_of: t.instant('When the current price was observed.'),
})
export type Metric = (typeof Metric)['static']

const Metrics = envelopeOf({
  metrics: t.Array(Metric, { description: 'In the order requested.' }),
  missing_codes: t.Array(t.String(), {
    description: 'Known codes without a current price.',
  }),
  count: t.integer(),
})

/** Hour bars of 24 hours: the range may cut the first and the last. */
const hourBarsMax = 25

function metricsAnswer(
  deps: Context,
  commodities: readonly Resolved[],
  unknown: readonly string[],
  isFull: boolean,
) {
  const quotes = commodities.map(commodity => deps.latestPrices.quote(commodity.series))
  const missing = commodities.filter((_, i) => !quotes[i])
  if (commodities.length === 1 && unknown.length === 0 && missing[0])
    throw noPrice(missing[0], deps.latestPrices, deps.catalogue)
  const rows = commodities.flatMap((commodity, i) =>
    quotes[i] ? [metricOf(deps, commodity, quotes[i], isFull)] : [],
  )
  return success({
    metrics: rows,
    missing_codes: [...missing.map(({ code }) => code), ...unknown],
    count: rows.length,
  })
}

/** The rank of a code's newest price among those before it. */
export const metricsOperations = [
  operation('GET /v1/prices/metrics', {
    operationId: 'getPriceMetrics',
    summary: 'Get price range, averages and volatility',
    description:
      'Returns range, averages and volatility of each code. Days without observations and quarantined days are excluded, never filled.\n\n| number | definition |\n|---|---|\n| range | lowest and highest observation of the 24 hours up to the newest, and of 52 weeks (364 days) |\n| averages | arithmetic means of the daily closes (last observation of each UTC day) of the 7 and 30 calendar days that end with the newest close |\n| volatility | sample standard deviation of the log returns from close to close of those 30 days x sqrt(`observations_per_year`) x 100; 252 observations per year for daily, 52 for weekly and 12 for monthly closes |',
    access: { meter: true, ...pastInQueryWorker },
    query: {
      by_code: codesParameter(20, 'One to twenty codes or aliases, comma-separated.', 'WTI_USD', {
        required: true,
      }),
      ...knownQuery,
      ...precisionQuery,
    },
    answers: { 200: Metrics, 400: CodeProblem, 404: NestedProblem },
    handle: ({ at: deps, query, request, reply, caller }) => {
      const { codes, meter, marks } = deps
      const requestedCodes = listOf(query.by_code)
      if (requestedCodes.length === 0)
        throw missingParameter('by_code', 'one to twenty codes, comma-separated.')
      const { known: commodities, unknown } = codes.readSome(requestedCodes, request, reply.headers)
      const answer = atPoint(deps, { as_of: query.as_of }, reply, deps =>
        metricsAnswer(deps, commodities, unknown, isFullOf(query.precision)),
      )
      markFixtures(reply, marks, commodities)
      reply.headers['x-cache'] = 'MISS'
      meter.noteRequested(
        caller.key,
        commodities.map(commodity => commodity.series.id),
      )
      return answer
    },
  }),
]

function metricOf(
  { history, closes }: Context,
  { code, series }: Resolved,
  { observation }: Quote,
  isFull: boolean,
): Metric {
  const shown = rounder(isFull)
  const rounded = (value: number) => shown(value, series.decimals)
  const seriesIds = [series.id]
  const until = observation.observedAt + 1
  const hours = history.page({
    seriesIds,
    interval: 'hour',
    from: until - dayMs,
    to: until,
    limit: hourBarsMax,
    offset: 0,
  }).rows
  const days = history.page({
    seriesIds,
    interval: 'day',
    from: startOfDay(observation.observedAt) - (yearOfWeeksDays - 1) * dayMs,
    to: until,
    limit: yearOfWeeksDays,
    offset: 0,
  }).rows
  const all = closes.of(series.id)
  const average = (periodDays: number) =>
    rounded(mean(closesIn(all, periodDays).map(close => close.value)))
  const month = windowOf(all, 30)
  return {
    code,
    name: series.name,
    currency: series.currency,
    unit: series.unit,
    current: rounded(observation.value),
    min_24h: rounded(Math.min(...hours.map(row => row.bar!.low))),
    max_24h: rounded(Math.max(...hours.map(row => row.bar!.high))),
    average_7d: average(7),
    average_30d: average(30),
    min_52w: rounded(Math.min(...days.map(row => row.bar!.low))),
    max_52w: rounded(Math.max(...days.map(row => row.bar!.high))),
    volatility_30d: (month.enough ? annualVolatility(month.value) : undefined) ?? null,
    observations_per_year: closesPerYear(closesIn(all, 30)),
    as_of: isoInstant(observation.observedAt),
  }
}
