import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { percentileBand, statisticsOf, volatilityBand, zScoreBand } from '../math/statistics.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'

const Measured = t.Object({
  z_score: t.numberOrNull('(last - mean) / std_dev; null when std_dev is 0.', 1.1077),
  z_score_interpretation: t.stringOrNull(
    'Below -2 extremely oversold, below -1 below average, to 1 normal, to 2 above average, above extremely overbought.',
    'above average',
  ),
  percentile: t.number('100 x count(close <= last) / n.', 90.476),
  percentile_interpretation: t.String({ examples: ['in the upper quarter of the period'] }),
  volatility: t.numberOrNull('Percent a year; null when fewer than two returns have one.', 24.3),
  volatility_interpretation: t.stringOrNull(
    'Under 15 percent low, under 30 moderate, under 60 high, above extreme.',
    'moderate',
  ),
  mean: t.Number({ examples: [79.643] }),
  median: t.Number({ examples: [79.56] }),
  std_dev: t.number('Sample standard deviation, n - 1.', 2.8768),
  min: t.Number({ examples: [74.07] }),
  max: t.Number({ examples: [83.14] }),
  data_points: t.integer('Closes in the window.', 21),
  observations_per_year: fields.observations,
})
export const Statistics = t.object('SeriesStatistics', {
  code: fields.code,
  name: t.String({ examples: ['WTI Crude Oil'] }),
  period: fields.period,
  statistics: Measured,
  generated_at: t.String({ format: 'date-time' }),
})
export type Statistics = (typeof Statistics)['static']

function answer(call: AnalysisCall): string {
  const { closes, now } = call.at
  const { query } = call
  const matches = call.series({ code: query.code })
  const { series } = matches[0]!
  const period = call.period(30)
  const statistics = requireEnough(
    statisticsOf(closes.of(series.id, { days: period }), period),
    `${series.code}, last ${period} days`,
  )
  return call.answer(matches, Statistics, {
    code: series.code,
    name: series.name,
    period,
    statistics: answerRow(Measured, statistics, {
      z_score_interpretation:
        statistics.zScore === undefined ? null : zScoreBand(statistics.zScore),
      percentile_interpretation: percentileBand(statistics.percentile),
      volatility_interpretation:
        statistics.volatility === undefined ? null : volatilityBand(statistics.volatility),
    }),
    generated_at: isoInstant(now()),
  })
}

/** The rank of the newest close of a series in a window. */
export const statisticsOperations = [
  analysis({
    path: '/v1/analytics/statistics',
    operationId: 'getStatistics',
    summary: 'Calculate statistics of a series',
    description: `Returns the position of the newest close among those of the window.

${notes.closes}${notes.window}

| Field | Value |
|---|---|
| \`mean\`, \`std_dev\` | arithmetic mean and sample standard deviation (n - 1) of the closes in the window |
| \`z_score\` | (last - mean) / std_dev; null when std_dev is 0 |
| \`percentile\` | 100 x count(close <= last) / n |
| \`volatility\` | sample standard deviation of the log returns in the window x sqrt(A) x 100, percent a year |

${notes.spacing}A return spans from one close to the next available one, so a missing day makes one longer return. A non-positive price drops the two returns it affects.`,
    query: { code: parameters.code('Required'), period: parameters.period(30) },
    shapes: [Statistics],
    handle: answer,
  }),
]
