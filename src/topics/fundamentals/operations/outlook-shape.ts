import { t } from '../../../http/answer/schema.ts'

/** Named first where one code must be. */
export const firstChoice = 'BRENT_CRUDE_USD'

const commodity = t.String({ examples: [firstChoice] })
const source = t.String({ examples: ['EIA'] })
const value = t.Number({ examples: [71.5] })
const unit = t.string('Of the code.', 'barrel')
const period = t.string('Month or quarter.', '2026-12')
const published = t.String({ format: 'date', examples: ['2026-11-03'] })
const orNull = (description: string) => t.orNull(value, description)
export const actualNote =
  'Mean of the daily closes of the period; null before its end and where there are none.'

export const Record = t.object('Outlook', {
  id: t.String({ examples: ['1'] }),
  source,
  commodity,
  forecast_value: value,
  unit,
  currency: t.orNull(t.String({ examples: ['USD'] })),
  period,
  published_date: published,
  target_date: t.date('Last day of the period.', '2026-12-31'),
  timestamp: t.instant('When this service recorded the forecast.'),
})
export const Summary = t.object('OutlookSummary', {
  total_forecasts: t.integer({ examples: [6552] }),
  latest_forecast: Record,
  average_forecast: t.number("Mean of that publication's forecasts for the same code.", 70.8),
  as_of_date: published,
})
export const Price = t.object('PriceOutlook', {
  commodity,
  source,
  forecast_price: value,
  unit,
  period,
  published_date: published,
})
export const Production = t.object('ProductionOutlook', {
  region: t.String({ examples: ['US'] }),
  source,
  forecast_production: t.Number({ examples: [13.8] }),
  unit: t.String({ examples: ['million_barrels_per_day'] }),
  period,
  published_date: published,
  commodity,
})
export const Past = t.object('PastOutlook', {
  date: t.date('Last day of the period.', '2026-10-31'),
  commodity,
  forecast_value: value,
  actual_value: orNull(actualNote),
  accuracy_percent: t.numberOrNull(
    '100 minus the error in percent of the actual value, at least 0.',
    96.4,
  ),
  period,
  source,
  published_date: published,
})
export const Compared = t.object('ComparedOutlook', {
  period,
  commodity,
  eia_forecast: orNull('The newest of the Energy Information Administration.'),
  iea_forecast: orNull('The newest of the International Energy Agency.'),
  actual_value: orNull(actualNote),
  difference: orNull('`eia_forecast` minus `iea_forecast`; null without both.'),
})
