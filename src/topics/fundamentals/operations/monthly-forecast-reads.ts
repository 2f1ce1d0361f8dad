import { markFixtures, type Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { dayMs, isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, type Period, parsePeriod } from '../../calendars/math/period.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { decimalDifference, roundTo } from '../../prices/math/format.ts'
import { accuracyOf, inPercent, type Scored } from '../math/forecast-accuracy.ts'
import { forecastCodes, forecastPublishedAt, monthsAhead } from '../math/monthly-forecast.ts'
import type {
  ForecastFilter,
  ForecastValue,
  MonthlyForecastStore,
  StoredForecast,
} from '../store/monthly-forecasts.ts'
import { sourceName } from './monthly-forecast-shape.ts'

/** Accuracy looks back so many months that are over. */
export const evaluatedMonths = 24
const percentDecimals = 2

type Row = StoredForecast & { months: readonly string[]; period: string }

/** The mean of the monthly forecasts of a period; undefined where a month is missing. */
export function mergedRow(
  forecasts: readonly StoredForecast[],
  { text, months }: Period,
): Row | undefined {
  const parts = months.flatMap(month => forecasts.find(forecast => forecast.month === month) ?? [])
  const [first] = parts
  if (!first || parts.length < months.length) return undefined
  const mean = (of: (forecast: StoredForecast) => number) =>
    parts.reduce((sum, forecast) => sum + of(forecast), 0) / parts.length
  return {
    ...first,
    period: text,
    months,
    value: mean(forecast => forecast.value),
    low: mean(forecast => forecast.low),
    high: mean(forecast => forecast.high),
    publishedAt: Math.max(...parts.map(forecast => forecast.publishedAt)),
    dataPoints: Math.max(...parts.map(forecast => forecast.dataPoints)),
  }
}

/** Responses of forecasts: those of a period, and old ones with the actual values. */
function createForecastRows({
  catalogue,
  publishedFigures,
}: Pick<Context, 'catalogue' | 'publishedFigures'>) {
  const actualOf = (forecast: Pick<StoredForecast, 'seriesId' | 'month'>) =>
    publishedFigures.of(catalogue.byId(forecast.seriesId), parsePeriod(forecast.month)!)
  return {
    actualOf,
    forecastRow(row: Row) {
      const series = catalogue.byId(row.seriesId)
      const rounded = (value: number) => roundTo(value, series.decimals)
      return {
        period: row.period,
        commodity: series.code,
        price: rounded(row.value),
        forecast_price: rounded(row.value),
        lower_bound: rounded(row.low),
        upper_bound: rounded(row.high),
        currency: series.currency,
        unit: series.unit,
        source: sourceName,
        published_at: isoInstant(row.publishedAt),
        metadata: {
          method: 'damped_drift',
          data_points: row.dataPoints,
          months: [...row.months],
          hindcast: row.recordedAt > row.publishedAt + dayMs,
        },
      }
    },
    archivedRow(forecast: StoredForecast) {
      const series = catalogue.byId(forecast.seriesId)
      const actual = actualOf(forecast) ?? null
      const month = Number(forecast.month.slice(5))
      return {
        year: Number(forecast.month.slice(0, 4)),
        month,
        quarter: Math.ceil(month / 3),
        period: forecast.month,
        commodity: series.code,
        forecast_price: forecast.value,
        forecast: forecast.value,
        actual_price: actual,
        actual,
        error:
          actual === null
            ? null
            : roundTo(decimalDifference(forecast.value, actual), series.decimals),
        source: sourceName,
        published_at: isoInstant(forecast.publishedAt),
      }
    },
  }
}

/**
 * The forecasts of the last requested range. Forecasts are never changed or deleted, so the cache
 * is stale only where there are more.
 */
function cachedValues(
  store: Pick<MonthlyForecastStore, 'values' | 'count'>,
): (filter: ForecastFilter) => readonly ForecastValue[] {
  let cached: { of: string; values: readonly ForecastValue[] } | undefined
  return filter => {
    const filterState = JSON.stringify([filter, store.count(filter)])
    if (cached?.of !== filterState) cached = { of: filterState, values: store.values(filter) }
    return cached.values
  }
}

/** Reads of the forecasts, and how they are answered. */
export function createForecastReads(deps: Context) {
  const { catalogue, codes, monthlyForecasts: store, marks, now } = deps
  const rows = createForecastRows(deps)
  const mark = (set: Reply, seriesIds: ReadonlySet<number>) =>
    markFixtures(
      set,
      marks,
      [...seriesIds].map(id => ({ series: catalogue.byId(id) })),
    )
  const valuesOf = cachedValues(store)
  const marked = <T extends readonly StoredForecast[]>(set: Reply, forecasts: T): T => {
    mark(set, new Set(forecasts.map(forecast => forecast.seriesId)))
    return forecasts
  }
  return {
    ...rows,
    marked,
    requestedSeries: (text: string | undefined, request: Request): Series | undefined =>
      text?.trim() ? codes.read([text.trim()], request)[0]!.series : undefined,
    current(series: Series | undefined): StoredForecast[] {
      const fromMonth = monthOf(isoDay(now()))
      const forecasts = store.newest({
        seriesIds: series && [series.id],
        fromMonth,
        toMonth: monthAfter(fromMonth, monthsAhead + 1),
      })
      const rank = (forecast: StoredForecast) =>
        forecastCodes.indexOf(catalogue.byId(forecast.seriesId).code)
      return forecasts.sort((a, b) =>
        a.month === b.month ? rank(a) - rank(b) : a.month < b.month ? -1 : 1,
      )
    },
    /**
     * The forecasts of the months under judgement that were made before their month began, with the
     * actual values.
     */
    scored(
      series: Series | undefined,
      set: Reply,
    ): (Scored & { month: string; publishedAt: number })[] {
      const toMonth = monthOf(isoDay(now()))
      const filter = {
        seriesIds: series && [series.id],
        fromMonth: monthAfter(toMonth, -evaluatedMonths),
        toMonth,
      }
      // By series and month: the actual value is looked up once for each.
      let judged:
        | { seriesId: number; month: string; beganAt: number; actual: number | undefined }
        | undefined
      const seriesIds = new Set<number>()
      const scored = valuesOf(filter).flatMap(({ seriesId, month, publishedAt, value }) => {
        if (judged?.seriesId !== seriesId || judged.month !== month) {
          const actual = rows.actualOf({ seriesId, month })
          judged = { seriesId, month, beganAt: forecastPublishedAt(month), actual }
        }
        if (publishedAt >= judged.beganAt) return []
        seriesIds.add(seriesId)
        const { actual } = judged
        return actual === undefined ? [] : [{ forecast: value, actual, month, publishedAt }]
      })
      mark(set, seriesIds)
      return scored
    },
  }
}

/** How far forecasts were off, as it is answered. */
export function accuracyAnswer(
  scored: readonly (Scored & { month: string; publishedAt: number })[],
  series: Series | undefined,
  now: number,
) {
  const accuracy = accuracyOf(scored)
  const measured = accuracyOf(series ? scored : inPercent(scored))
  if (!accuracy || !measured)
    throw new Problem('DATA_NOT_AVAILABLE', 'No month is over that was forecast before it began.', {
      have: 0,
      need: 1,
    })
  const months = [...new Set(scored.map(forecast => forecast.month))].sort()
  const lastBefore = new Map(
    months.map(month => [month, forecastPublishedAt(monthAfter(month, -1))]),
  )
  const near = accuracyOf(
    scored.filter(({ month, publishedAt }) => publishedAt === lastBefore.get(month)),
  )
  const decimals = series ? series.decimals + 2 : percentDecimals
  const rounded = (value: number | undefined, places: number) =>
    value === undefined ? null : roundTo(value, places)
  return {
    commodity: series?.code ?? null,
    source: sourceName,
    mape: rounded(accuracy.mape, percentDecimals),
    mae: roundTo(measured.mae, decimals),
    rmse: roundTo(measured.rmse, decimals),
    mean_error: roundTo(measured.meanError, decimals),
    avg_error_pct: rounded(accuracy.meanErrorPercent, percentDecimals),
    sample_size: accuracy.sampleSize,
    period_evaluated: `${months[0]} to ${months.at(-1)}`,
    '30_day': {
      accuracy:
        near?.mape === undefined ? null : roundTo(Math.max(0, 100 - near.mape), percentDecimals),
    },
    timestamp: isoInstant(now),
  }
}
