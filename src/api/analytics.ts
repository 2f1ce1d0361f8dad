import { Elysia } from 'elysia'
import { correlation } from './analytics-correlation.ts'
import { forecast } from './analytics-forecast.ts'
import type { AnalyticsDeps } from './analytics-shape.ts'
import { spread } from './analytics-spread.ts'
import { statistics } from './analytics-statistics.ts'
import { trend } from './analytics-trend.ts'

/** Numbers about past prices; the description of each endpoint defines them. */
export const analytics = (deps: AnalyticsDeps) =>
  new Elysia().use(statistics(deps)).use(correlation(deps)).use(trend(deps)).use(spread(deps)).use(forecast(deps))
