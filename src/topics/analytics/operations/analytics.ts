import { correlationOperations } from './correlation.ts'
import { forecastOperations } from './forecast.ts'
import { rollingOperations } from './rolling.ts'
import { analyticsSpreadOperations } from './spread.ts'
import { statisticsOperations } from './statistics.ts'
import { trendOperations } from './trend.ts'

/** Numbers about past prices; the description of each endpoint defines them. */
export const analyticsOperations = [
  ...statisticsOperations,
  ...correlationOperations,
  ...trendOperations,
  ...rollingOperations,
  ...analyticsSpreadOperations,
  ...forecastOperations,
]
