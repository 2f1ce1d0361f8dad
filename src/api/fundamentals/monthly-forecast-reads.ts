import type { CodeReader } from '../../http/input/codes.ts'
import { Problem } from '../../http/problem/problem.ts'
import { dayMs, isoDay, isoInstant } from '../../lib/instant.ts'
import { accuracyOf, inPercent, type Scored } from '../../market/fundamentals/forecast-accuracy.ts'
import {
  forecastCodes,
  forecastPublishedAt,
  monthsAhead,
} from '../../market/fundamentals/monthly-forecast.ts'
import { monthAfter, monthOf, type Period, parsePeriod } from '../../market/fundamentals/period.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import type { PublishedFigures } from '../../service/fundamentals/published-figures.ts'
import type { Series } from '../../store/catalogue/series.ts'
import type {
  MonthlyForecastStore,
  StoredForecast,
} from '../../store/fundamentals/monthly-forecasts.ts'
import { type Answering, type Marks, markFixtures } from '../answer.ts'
import { sourceName } from './monthly-forecast-shape.ts'

export interface ForecastReadsDeps {
  catalogue: Catalogue
  codes: CodeReader
  monthlyForecasts: MonthlyForecastStore
  actuals: PublishedFigures
  marks: Marks
  now: () => number
}

/** Accuracy looks back so many months that are over. */
export const evaluatedMonths = 24
const percentDecimals = 2

type Row = StoredForecast & { months: readonly string[]; period: string }

/**
 * The forecasts of a period as one: the mean of its months; undefined unless all of them are there.
 */
export function mergedRow(
  found: readonly StoredForecast[],
  { text, months }: Period,
): Row | undefined {
  const parts = months.flatMap(month => found.find(one => one.month === month) ?? [])
  const [first] = parts
  if (!first || parts.length < months.length) return undefined
  const mean = (of: (one: StoredForecast) => number) =>
    parts.reduce((sum, one) => sum + of(one), 0) / parts.length
  return {
    ...first,
    period: text,
    months,
    value: mean(one => one.value),
    low: mean(one => one.low),
    high: mean(one => one.high),
    publishedAt: Math.max(...parts.map(one => one.publishedAt)),
    dataPoints: Math.max(...parts.map(one => one.dataPoints)),
  }
}

/** Reads of the forecasts, and how they are answered. */
export function createForecastReads({
  catalogue,
  codes,
  monthlyForecasts: store,
  actuals,
  marks,
  now,
}: ForecastReadsDeps) {
  const marked = <T extends readonly StoredForecast[]>(set: unknown, found: T): T => {
    markFixtures(
      set as Answering,
      marks,
      found.map(one => ({ series: catalogue.byId(one.seriesId) })),
    )
    return found
  }
  const actualOf = (one: StoredForecast) =>
    actuals.of(catalogue.byId(one.seriesId), parsePeriod(one.month)!)
  return {
    marked,
    seriesAsked: (text: string | undefined, request: Request): Series | undefined =>
      text?.trim() ? codes.read([text.trim()], request)[0]!.series : undefined,
    current(series: Series | undefined): StoredForecast[] {
      const fromMonth = monthOf(isoDay(now()))
      const found = store.newest({
        seriesIds: series && [series.id],
        fromMonth,
        toMonth: monthAfter(fromMonth, monthsAhead + 1),
      })
      const rank = (one: StoredForecast) => forecastCodes.indexOf(catalogue.byId(one.seriesId).code)
      return found.sort((a, b) =>
        a.month === b.month ? rank(a) - rank(b) : a.month < b.month ? -1 : 1,
      )
    },
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
    archivedRow(one: StoredForecast) {
      const series = catalogue.byId(one.seriesId)
      const actual = actualOf(one) ?? null
      const month = Number(one.month.slice(5))
      return {
        year: Number(one.month.slice(0, 4)),
        month,
        quarter: Math.ceil(month / 3),
        period: one.month,
        commodity: series.code,
        forecast_price: one.value,
        forecast: one.value,
        actual_price: actual,
        actual,
        error: actual === null ? null : roundTo(one.value - actual, series.decimals),
        source: sourceName,
        published_at: isoInstant(one.publishedAt),
      }
    },
    /**
     * The forecasts of the months under judgement that were made before their month began, with
     * what came.
     */
    scored(
      series: Series | undefined,
      set: unknown,
    ): (Scored & { month: string; publishedAt: number })[] {
      const toMonth = monthOf(isoDay(now()))
      const filter = {
        seriesIds: series && [series.id],
        fromMonth: monthAfter(toMonth, -evaluatedMonths),
        toMonth,
      }
      const made = store
        .page(filter, Number.MAX_SAFE_INTEGER, 0)
        .filter(one => one.publishedAt < forecastPublishedAt(one.month))
      const actualsByMonth = new Map<string, number | undefined>()
      return marked(set, made).flatMap(one => {
        const key = `${one.seriesId} ${one.month}`
        if (!actualsByMonth.has(key)) actualsByMonth.set(key, actualOf(one))
        const actual = actualsByMonth.get(key)
        return actual === undefined
          ? []
          : [{ forecast: one.value, actual, month: one.month, publishedAt: one.publishedAt }]
      })
    },
  }
}

/** How far forecasts were off, as it is answered. */
export function accuracyAnswer(
  all: readonly (Scored & { month: string; publishedAt: number })[],
  series: Series | undefined,
  now: number,
) {
  const own = accuracyOf(all)
  const measured = accuracyOf(series ? all : inPercent(all))
  if (!own || !measured)
    throw new Problem('DATA_NOT_AVAILABLE', 'No month is over that was forecast before it began.', {
      have: 0,
      need: 1,
    })
  const near = accuracyOf(
    all.filter(one => one.publishedAt === forecastPublishedAt(monthAfter(one.month, -1))),
  )
  const decimals = series ? series.decimals + 2 : percentDecimals
  const rounded = (value: number | undefined, places: number) =>
    value === undefined ? null : roundTo(value, places)
  const months = all.map(one => one.month).sort()
  return {
    commodity: series?.code ?? null,
    source: sourceName,
    mape: rounded(own.mape, percentDecimals),
    mae: roundTo(measured.mae, decimals),
    rmse: roundTo(measured.rmse, decimals),
    mean_error: roundTo(measured.meanError, decimals),
    avg_error_pct: rounded(own.meanErrorPercent, percentDecimals),
    sample_size: own.sampleSize,
    period_evaluated: `${months[0]} to ${months.at(-1)}`,
    '30_day': {
      accuracy:
        near?.mape === undefined ? null : roundTo(Math.max(0, 100 - near.mape), percentDecimals),
    },
    timestamp: isoInstant(now),
  }
}
