import { isoInstant } from '../../../lib/time/instant.ts'
import { parsePeriod } from '../../calendars/math/period.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { accuracyPercent } from '../math/forecast-accuracy.ts'
import { regionOf } from '../math/outlook.ts'
import type { PublishedFigures } from '../service/published-figures.ts'
import type { Comparison, OutlookRow } from '../store/outlooks.ts'

const percentDecimals = 2

/** Rows of forecasts: as published, with the actual values, and by agency. */
export function createOutlookRows({
  catalogue,
  publishedFigures,
}: {
  catalogue: Pick<Catalogue, 'byId'>
  publishedFigures: PublishedFigures
}) {
  const recordRow = (outlook: OutlookRow) => {
    const series = catalogue.byId(outlook.seriesId)
    return {
      id: String(outlook.id),
      source: outlook.source,
      commodity: series.code,
      forecast_value: outlook.value,
      unit: series.unit,
      currency: series.currency,
      period: outlook.period,
      published_date: outlook.publishedOn,
      target_date: outlook.targetOn,
      timestamp: isoInstant(outlook.recordedAt),
    }
  }
  const sharedFields = (outlook: OutlookRow, series: Series) => ({
    source: outlook.source,
    unit: series.unit,
    period: outlook.period,
    published_date: outlook.publishedOn,
    commodity: series.code,
  })
  const pastRow = (outlook: OutlookRow) => {
    const series = catalogue.byId(outlook.seriesId)
    const actual = publishedFigures.of(series, parsePeriod(outlook.period)!)
    const accuracy =
      actual === undefined ? undefined : accuracyPercent({ forecast: outlook.value, actual })
    const { unit: _, ...shared } = sharedFields(outlook, series)
    return {
      ...shared,
      date: outlook.targetOn,
      forecast_value: outlook.value,
      actual_value: actual ?? null,
      accuracy_percent: accuracy === undefined ? null : roundTo(accuracy, percentDecimals),
    }
  }
  const comparedRow = (comparison: Comparison) => {
    const series = catalogue.byId(comparison.seriesId)
    const { first, second } = comparison
    return {
      period: comparison.period,
      commodity: series.code,
      eia_forecast: first ?? null,
      iea_forecast: second ?? null,
      actual_value: publishedFigures.of(series, parsePeriod(comparison.period)!) ?? null,
      difference:
        first === undefined || second === undefined
          ? null
          : roundTo(first - second, series.decimals),
    }
  }
  const priceRow = (outlook: OutlookRow) => ({
    ...sharedFields(outlook, catalogue.byId(outlook.seriesId)),
    forecast_price: outlook.value,
  })
  const productionRow = (outlook: OutlookRow) => {
    const series = catalogue.byId(outlook.seriesId)
    return {
      ...sharedFields(outlook, series),
      region: regionOf(series.code),
      forecast_production: outlook.value,
    }
  }
  return { recordRow, pastRow, comparedRow, priceRow, productionRow }
}
