import { Elysia } from 'elysia'
import { correlation } from './correlation.ts'
import { forecast } from './forecast.ts'
import type { AnalyticsDeps } from './shape.ts'
import { spread } from './spread.ts'
import { statistics } from './statistics.ts'
import { trend } from './trend.ts'

/** Numbers about past prices; the description of each endpoint defines them. */
export const analytics = (deps: AnalyticsDeps) =>
  new Elysia()
    .use(statistics(deps))
    .use(correlation(deps))
    .use(trend(deps))
    .use(spread(deps))
    .use(forecast(deps))
