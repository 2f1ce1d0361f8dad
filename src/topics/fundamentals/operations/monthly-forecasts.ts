import { t } from '../../../http/answer/schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { codeOf, integerParameter, oneCode } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, parsePeriod } from '../../calendars/math/period.ts'
import { energy, wholePage } from '../../energy/operations/frame.ts'
import { monthsAhead } from '../math/monthly-forecast.ts'
import {
  accuracyAnswer,
  createForecastReads,
  evaluatedMonths,
  mergedRow,
} from './monthly-forecast-reads.ts'
import {
  Accuracy,
  Archive,
  defaultCode,
  Forecasts,
  PeriodForecast,
} from './monthly-forecast-shape.ts'

export type MonthlyForecastsDeps = Context

const modelNote = `It is a statistical projection, not advice.

The forecast of a month is the mean price expected of it, made at 06:00 UTC on the first of each month from the daily closes before: last close x exp(drift x 30 x (1 - exp(-h / 30))). h is the calendar days to the middle of the month; drift is half the log slope of the 20-day exponential average over a year. The bounds are that x exp(+-1.645 sigma sqrt(h)).`
const actualNote =
  'The actual price of a month that is over is the mean of its daily closes, to the decimals of the code; an error is the forecast minus the actual price.'

const commodityQuery = oneCode('commodity', 'A code or alias.', defaultCode)
const refusals = {
  400: CodeProblem,
  404: NestedProblem,
}

/**
 * This service's forecasts of the mean price of the next months, their accuracy, and all earlier
 * ones.
 */
export function monthlyForecastOperations(deps: MonthlyForecastsDeps) {
  const { monthlyForecasts: store, now } = deps
  const { requestedSeries, marked, forecastRow, current, archivedRow, scored } =
    createForecastReads(deps)

  const accuracy = (path: string, operationId: string, use?: string) =>
    energy.record({
      path,
      operationId,
      summary: 'Get the accuracy of monthly forecasts',
      ...(use !== undefined && { deprecated: { use } }),
      description: `Returns the errors of the forecasts of the last ${evaluatedMonths} completed months: all forecasts made before their month began, 1 to ${monthsAhead} months ahead. With \`commodity\` errors are in its unit; without, all codes together, and because their units differ \`mae\`, \`rmse\` and \`mean_error\` are then in percent of the actual price. ${actualNote}`,
      access: energy.heavyAccess,
      query: commodityQuery,
      title: 'ForecastAccuracyBody',
      data: Accuracy,
      refusals,
      handle: ({ query, reply, request }) => {
        const series = requestedSeries(codeOf(query), request)
        return accuracyAnswer(scored(series, reply), series, now())
      },
    })
  const archive = (path: string, operationId: string, use?: string) =>
    energy.operation({
      path,
      operationId,
      summary: 'List archived monthly forecasts',
      ...(use !== undefined && { deprecated: { use } }),
      description: `Returns every forecast of a month that has begun, newest month and newest publication first, with the actual value. ${actualNote}`,
      access: energy.heavyAccess,
      page: energy.page,
      query: {
        year: integerParameter('Of the month that was forecast.', 2026),
        ...commodityQuery,
      },
      answers: { 200: energy.body(Archive, 'ForecastArchive'), ...refusals },
      handle: ({ at, query, page, reply, request }) => {
        const series = requestedSeries(codeOf(query), request)
        const filter = { seriesIds: series && [series.id], ...monthsOf(query.year, now()) }
        const total = store.count(filter)
        page.meta(total)
        const rows = marked(reply, store.page(filter, page.perPage, page.offset))
        return {
          data: { forecasts: rows.map(archivedRow) },
          meta: energy.meta({ at }, total, page),
        }
      },
    })

  return [
    energy.operation({
      path: '/v1/forecasts/monthly',
      operationId: 'listMonthlyForecasts',
      summary: 'List monthly price forecasts',
      description: `Returns the newest forecasts of the current month (\`period\`) and the ${monthsAhead} following months, for every forecast code or for one. ${modelNote}`,
      query: commodityQuery,
      answers: { 200: energy.body(Forecasts, 'MonthlyForecasts'), ...refusals },
      handle: ({ at, query, reply, request }) => {
        const series = requestedSeries(codeOf(query), request)
        const rows = marked(reply, current(series))
        const data = {
          period: monthOf(isoDay(now())),
          forecasts: rows.map(forecast =>
            forecastRow({ ...forecast, period: forecast.month, months: [forecast.month] }),
          ),
        }
        return { data, meta: energy.meta({ at }, rows.length, wholePage(rows)) }
      },
    }),
    accuracy('/v1/forecasts/monthly/accuracy', 'getMonthlyForecastAccuracy'),
    accuracy('/v1/forecasts/accuracy', 'getForecastAccuracy', '/v1/forecasts/monthly/accuracy'),
    archive('/v1/forecasts/monthly/archive', 'listMonthlyForecastArchive'),
    archive('/v1/forecasts/archive', 'listForecastArchive', '/v1/forecasts/monthly/archive'),
    energy.record({
      path: '/v1/forecasts/monthly/:period',
      operationId: 'getPeriodForecast',
      summary: 'Get the price forecast of a month or quarter',
      description: `Returns the newest forecast of one code for one period, including past periods. A quarter is the mean of the newest forecasts of its three months, and so are its bounds. ${modelNote}`,
      params: {
        period: t.string('Month or quarter, `2026-12` or `2026-Q4`.', '2026-Q4'),
      },
      query: oneCode('commodity', `A code or alias; default: ${defaultCode}.`, defaultCode, {
        default: defaultCode,
      }),
      title: 'PeriodForecastBody',
      data: PeriodForecast,
      refusals,
      handle: ({ params, query, reply, request }) => {
        const period = parsePeriod(params.period)
        if (!period)
          throw invalidParameter(
            'period',
            params.period.slice(0, 100),
            'a month (2026-12) or a quarter (2026-Q4)',
          )
        const series = requestedSeries(codeOf(query)?.trim() || defaultCode, request)!
        const filter = {
          seriesIds: [series.id],
          fromMonth: period.months[0]!,
          toMonth: monthAfter(period.months.at(-1)!, 1),
        }
        const row = mergedRow(marked(reply, store.newest(filter)), period)
        if (!row) {
          throw new Problem(
            'DATA_NOT_AVAILABLE',
            `There is no forecast of ${series.code} for ${period.text}.`,
            { leg: series.code },
          )
        }
        const forecast = forecastRow(row)
        return { ...forecast, low: forecast.lower_bound, high: forecast.upper_bound }
      },
    }),
  ]
}

/** Months of a year that have begun, or all of them. */
function monthsOf(year: string | undefined, now: number): { fromMonth: string; toMonth: string } {
  const end = monthAfter(monthOf(isoDay(now)), 1)
  if (year === undefined || year === '') return { fromMonth: '0000-01', toMonth: end }
  const requestedYear = integerOf('year', year, 0, 1900, 2200)
  const toMonth = `${requestedYear + 1}-01`
  return { fromMonth: `${requestedYear}-01`, toMonth: toMonth < end ? toMonth : end }
}
