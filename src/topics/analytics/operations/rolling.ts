import { t } from '../../../http/answer/schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { integerParameter, wordParameter } from '../../../http/input/typed.ts'
import { closesIn, tooFew } from '../../prices/math/window.ts'
import { rolling, rollingMeasures, type Spread, seasonality } from '../math/rolling.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'

const windowDefault = 20
const windowMax = 500
const periodDefault = 365

const Rolling = t.object('RollingMeasure', {
  code: fields.code,
  benchmark: t.orNull(fields.code, 'Of beta.'),
  measure: t.oneOf(rollingMeasures, 'What the values are.'),
  window: t.integer('Closes, or changes, of each value.', 20),
  period: fields.period,
  values: t.objects('Oldest first.', {
    date: fields.date,
    value: t.numberOrNull(
      'In the unit of the series, in percent or without a unit, depending on the measure; null if undefined.',
      1.23,
    ),
  }),
})

const SpreadShape = t.orNull(
  t.Object({
    mean: t.number('Percent.', 1.4),
    median: t.number('Percent.', 1.1),
    min: t.number('Percent.', -12.4),
    max: t.number('Percent.', 19.3),
    years: t.integer({ examples: [10] }),
  }),
)
const Seasonality = t.object('Seasonality', {
  code: fields.code,
  by: t.oneOf(['month', 'week']),
  parts: t.objects('In the order of the year.', {
    part: t.integer('Month 1 to 12, or ISO week 1 to 53.', 1),
    change: SpreadShape,
    level: SpreadShape,
  }),
})

function rollingAnswer(call: AnalysisCall): string {
  const { closes } = call.at
  const { query } = call
  const measure = call.word('measure', rollingMeasures, 'mean')
  const matches = call.series(
    measure === 'beta' ? { code: query.code, benchmark: query.benchmark } : { code: query.code },
  )
  const [{ series } = matches[0]!, other] = matches
  const period = call.period(periodDefault)
  const window = integerOf('window', query.window, windowDefault, 2, windowMax)
  const all = closes.of(series.id)
  const benchmark = other && closes.of(other.series.id)
  const values = rolling(measure, all, window, {
    benchmark,
    fromDay: closesIn(all, period)[0]?.day,
  })
  // A period without a value is answered as it is, as long as there is one before it.
  if (values.length === 0 && rolling(measure, all, window, { benchmark }).length === 0)
    requireEnough(tooFew(all.length, window + 1), `${series.code}, ${measure}(${window})`)
  return call.answer(matches, Rolling, {
    code: series.code,
    benchmark: other?.series.code ?? null,
    measure,
    window,
    period,
    values: values.map(({ day, value }) => ({ date: day, value: value ?? null })),
  })
}

const wholeYears = 'a full year of closes is needed.'

function seasonalityAnswer(call: AnalysisCall): string {
  const { closes } = call.at
  const { query } = call
  const matches = call.series({ code: query.code })
  const { series } = matches[0]!
  const by = call.word('by', ['month', 'week'] as const, 'month')
  const all = closes.of(series.id)
  const parts = seasonality(all, by)
  if (parts.length === 0)
    requireEnough({ ...tooFew(all.length, 12), reason: wholeYears }, series.code)
  const spread = (values: Spread | undefined) => values ?? null
  return call.answer(matches, Seasonality, {
    code: series.code,
    by,
    parts: parts.map(({ part, change, level }) => ({
      part,
      change: spread(change),
      level: spread(level),
    })),
  })
}

/** Statistics at every date, and through the year. */
export const rollingOperations = [
  analysis({
    path: '/v1/analytics/rolling',
    operationId: 'getRolling',
    summary: 'Calculate a rolling statistic',
    description: `Returns a measure of the last \`window\` closes at each date of the period. Windows extend back before it.

${notes.closes}A value is null where the measure is undefined, such as returns of non-positive prices.

| Measure | Value |
|---|---|
| \`mean\`, \`median\`, \`std_dev\` (n - 1), \`min\`, \`max\` | in the unit of the series |
| \`z_score\` | (last - mean) / std_dev |
| \`return\` | percent against the close \`window\` closes before |
| \`volatility\` | std_dev of log returns x sqrt(closes a year of the series) x 100 |
| \`drawdown\` | percent below the highest close of the window |
| \`beta\` | covariance with the benchmark over its variance, of log returns between common dates |`,
    query: {
      code: parameters.code('Required'),
      measure: wordParameter(rollingMeasures, 'The measure to calculate.', 'volatility', {
        default: 'mean',
      }),
      window: integerParameter(
        `Closes of each value, of \`return\`, \`volatility\` and \`beta\` changes: 2 to ${windowMax}; default: ${windowDefault}.`,
        20,
        { default: windowDefault, minimum: 2, maximum: windowMax },
      ),
      benchmark: parameters.code('Of beta', 'BRENT_CRUDE_USD'),
      period: parameters.period(periodDefault),
    },
    shapes: [Rolling],
    handle: rollingAnswer,
  }),
  analysis({
    path: '/v1/analytics/seasonality',
    operationId: 'getSeasonality',
    summary: 'Calculate the seasonality of a series',
    description: `Returns, for each month or ISO week over whole years (those with a close in every part): \`change\`, percent from the close before the part to its last, and \`level\`, its mean in percent of its year's mean. ${notes.closes}`,
    query: {
      code: parameters.code('Required'),
      by: wordParameter(['month', 'week'], 'Calendar months or ISO weeks.', 'month', {
        default: 'month',
      }),
    },
    shapes: [Seasonality],
    handle: seasonalityAnswer,
  }),
]
