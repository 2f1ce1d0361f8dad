import { t } from '../../../http/answer/schema.ts'

export const defaultCode = 'BRENT_CRUDE_USD'
export const sourceName = 'model'

const price = t.Number({ examples: [71.5] })
const bound = t.orNull(price)
const period = t.string('Month or quarter.', '2026-12')
const commodity = t.String({ examples: [defaultCode] })
const source = t.string(`\`${sourceName}\`: made by this service.`, sourceName)
const publishedAt = t.instant('The publication that it belongs to.', '2026-11-01T06:00:00Z')

const forecastFields = {
  period,
  commodity,
  price,
  forecast_price: t.number('The same as `price`.', 71.5),
  lower_bound: t.orNull(
    price,
    'Nine in ten prices of the middle of the period lie between the bounds.',
  ),
  upper_bound: bound,
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  source,
  published_at: publishedAt,
  metadata: t.Object({
    method: t.String({ examples: ['damped_drift'] }),
    data_points: t.integer('Number of closes that it was computed from.', 252),
    months: t.Array(t.String({ examples: ['2026-12'] }), {
      description: 'The months that the period is the mean of.',
    }),
    hindcast: t.boolean(
      'True if it was computed after its publication was due, using only earlier closes.',
    ),
  }),
}
export const Forecast = t.object('MonthlyForecast', forecastFields)
export const PeriodForecast = t.object('PeriodForecast', {
  ...forecastFields,
  low: bound,
  high: bound,
})
export const Forecasts = t.Object({ period, forecasts: t.Array(Forecast) })
const percent = (description: string) => t.numberOrNull(description, 6.42)
export const Accuracy = t.object('ForecastAccuracy', {
  commodity: t.orNull(commodity, 'Null: all of them together.'),
  source,
  mape: percent('Mean of |error| / |actual| in percent; null when every actual price was 0.'),
  mae: t.number('Mean of |error|.', 4.51),
  rmse: t.number('Square root of the mean squared error.', 5.87),
  mean_error: t.number('Mean of the errors: positive when forecasts were too high.', -0.38),
  avg_error_pct: percent('Mean of error / |actual| in percent.'),
  sample_size: t.integer('Forecasts judged.', 222),
  period_evaluated: t.string('First and last month.', '2024-12 to 2026-10'),
  '30_day': t.Object({
    accuracy: percent(
      '100 minus the mean error, in percent, of the forecasts made a month before, at least 0; null without such forecasts.',
    ),
  }),
  timestamp: t.String({ format: 'date-time' }),
})
const orNull = t.orNull(price, 'Mean of the daily closes of the month; null before its end.')
const Archived = t.object('ArchivedForecast', {
  year: t.integer({ examples: [2026] }),
  month: t.orNull(t.integer({ examples: [10] })),
  quarter: t.integerOrNull('Quarter of the month.', 4),
  period,
  commodity,
  forecast_price: price,
  forecast: t.number('The same as `forecast_price`.', 71.5),
  actual_price: orNull,
  actual: orNull,
  error: t.numberOrNull('`forecast` less `actual`.', -2.31),
  source,
  published_at: publishedAt,
})
export const Archive = t.Object({ forecasts: t.Array(Archived) })
