import { t } from '../../../http/answer/schema.ts'
import { codeOf, oneCode, wordParameter } from '../../../http/input/typed.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import {
  type Band,
  type Calibration,
  calibrationOf,
  forecastMethods,
  forecast as forecastOf,
  horizonDays,
  sigma1Probability,
  sigma2Probability,
} from '../math/forecast.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'

const methods = forecastMethods.map(method => method.id)
const methodDefault = 'ema'
const periodDefault = 90
const periodMin = 20

const price = t.Number({ examples: [82.83] })
const methodField = t.oneOf(['sma', 'ema', 'combined'])
const interval = (probability: number) =>
  t.Object({ low: price, high: price, probability: t.Number({ examples: [probability] }) })

const heldField = (share: number) =>
  t.number('Share of intervals that contained the later price.', share, { minimum: 0, maximum: 1 })

const Listing = t.object('ForecastMethods', {
  methods: t.Array(t.Object({ id: methodField, name: t.String(), description: t.String() })),
  default_method: t.Literal(methodDefault),
  horizons: t.Array(t.integer({ examples: [7] })),
  usage: t.String(),
})

export const Forecast = t.object('PriceForecast', {
  code: fields.code,
  method: methodField,
  current_price: price,
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  data_points: t.integer('Closes in the lookback.', 62),
  observations_per_year: fields.observations,
  volatility: t.number('Percent a year.', 21.7),
  forecasts: t.Array(
    t.Object({
      horizon_days: t.Union(horizonDays.map(days => t.Literal(days))),
      forecast_value: price,
      forecast_change_pct: t.numberOrNull('Against `current_price`; null when that is 0.', -0.57),
      confidence_intervals: t.Object({
        sigma_1: interval(sigma1Probability),
        sigma_2: interval(sigma2Probability),
      }),
    }),
  ),
  calibration: t.orNull(
    t.Object({
      horizon_days: t.integer({ examples: [30] }),
      intervals: t.integer('Forecasts of the last five years whose target day has passed.', 1236),
      sigma_1: heldField(0.7),
      sigma_2: heldField(0.94),
    }),
    'How often the intervals of past forecasts contained the price; null for fewer than 60.',
  ),
  disclaimer: t.String(),
  generated_at: t.String({ format: 'date-time' }),
})
export type Forecast = (typeof Forecast)['static']

const disclaimer = 'A statistical projection of past prices. It is not investment advice.'
const bandRow = ({ low, high }: Band, probability: number) => ({ low, high, probability })

const calibrationRow = (calibration: Calibration) => ({
  horizon_days: calibration.horizonDays,
  intervals: calibration.intervals,
  sigma_1: calibration.sigma1Held,
  sigma_2: calibration.sigma2Held,
})

const listing: typeof Listing.static = {
  methods: [...forecastMethods],
  default_method: methodDefault,
  horizons: [...horizonDays],
  usage: `/v1/analytics/forecast?code=WTI_USD&method=${methodDefault}&period=${periodDefault}`,
}

function answer(call: AnalysisCall): string {
  const { closes, now } = call.at
  const { query } = call
  const method = call.word('method', methods, methodDefault)
  const period = call.period(periodDefault, periodMin)
  const code = codeOf(query)
  if (!code) return call.answer([], Listing, listing)
  const matches = call.series({ code })
  const { series } = matches[0]!
  const forecast = requireEnough(
    forecastOf(closes.of(series.id), method, period),
    `${series.code}, ${method} over the last ${period} days`,
  )
  const calibration = closes.derived(`calibration ${method} ${period}`, [series.id], all =>
    calibrationOf(all[0]!, method, period),
  )
  return call.answer(matches, Forecast, {
    code: series.code,
    method,
    current_price: forecast.currentPrice,
    currency: series.currency,
    unit: series.unit,
    data_points: forecast.dataPoints,
    observations_per_year: forecast.observationsPerYear,
    volatility: forecast.volatility,
    forecasts: forecast.projections.map(projection => ({
      horizon_days: projection.horizonDays as (typeof horizonDays)[number],
      forecast_value: projection.value,
      forecast_change_pct: projection.changePercent ?? null,
      confidence_intervals: {
        sigma_1: bandRow(projection.sigma1, sigma1Probability),
        sigma_2: bandRow(projection.sigma2, sigma2Probability),
      },
    })),
    calibration: calibration ? calibrationRow(calibration) : null,
    disclaimer,
    generated_at: isoInstant(now()),
  })
}

/** Extrapolates a series, with bands for the uncertainty. */
export const forecastOperations = [
  analysis({
    path: '/v1/analytics/forecast',
    operationId: 'getPriceForecast',
    summary: 'Forecast a series statistically',
    description: `Returns a statistical projection ${horizonDays.join(', ')} calendar days ahead, n = horizon x A / 365 closes.

${notes.closes}${notes.window}

${notes.spacing}A price of zero or less in the lookback allows no forecast: 404 \`DATA_NOT_AVAILABLE\`.

| Method or field | Value |
|---|---|
| \`sma\` | sma(20), the mean of the last 20 closes |
| \`ema\` | last x exp(drift x n); drift is the log slope from close to close over the lookback: least squares of ln ema(20) on the number of the close |
| \`combined\` | the mean of the two |
| \`sigma_1\` | value x exp(+-sigma sqrt(n)), stated probability 0.6827; sigma is the sample standard deviation of the log returns from close to close of the lookback |
| \`sigma_2\` | the same with 2 sigma, 0.9545 |
| \`volatility\` | sigma x sqrt(A) x 100, percent a year |
| \`calibration\` | how often past intervals held: those that would have been stated 30 days ahead at each close of the last five years |

ema(20) has alpha = 2 / 21, seeded with the mean of the first 20 closes; it needs 21 of them.`,
    feature: 'forecast',
    query: {
      ...oneCode('code', 'A code or an alias, in any letter case; absent: the methods.', 'WTI_USD'),
      method: wordParameter(
        methods,
        `\`sma\`, \`ema\` or \`combined\`; default: \`${methodDefault}\`.`,
        methodDefault,
        { default: methodDefault },
      ),
      period: parameters.period(periodDefault, periodMin),
    },
    shapes: [Forecast, Listing],
    handle: answer,
  }),
]
