import { t } from '../../../http/answer/schema.ts'
import { integerOf, listOf } from '../../../http/input/query.ts'
import { codesParameter, integerParameter, wordParameter } from '../../../http/input/typed.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { correlationMatrix, correlationOf, rollingCorrelation } from '../math/correlation.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'

const types = ['analysis', 'matrix', 'rolling'] as const
const codesMax = 10
const windowDefault = 7

const coefficient = (description?: string) =>
  t.orNull(
    t.Number({ minimum: -1, maximum: 1, examples: [0.9462] }),
    description ?? 'Null if one of the prices did not change.',
  )
const pair = {
  code1: fields.code,
  code2: t.String({ examples: ['BRENT_CRUDE_USD'] }),
  period: fields.period,
}

const Analysis = t.object('Correlation', {
  type: t.Literal('analysis'),
  ...pair,
  correlation: coefficient(),
  correlation_interpretation: t.String({ examples: ['very strong positive correlation'] }),
  strength: t.oneOf(
    ['very strong', 'strong', 'moderate', 'weak', 'none'] as const,
    'By absolute value: 0.9 very strong, 0.7 strong, 0.4 moderate, 0.2 weak.',
  ),
  direction: t.oneOf(['positive', 'negative', 'none']),
  stability: t.oneOf(['stable', 'moderate', 'unstable']),
  data_points: t.integer('Number of dates with a close in both series.', 21),
})

const Matrix = t.object('CorrelationMatrix', {
  type: t.Literal('matrix'),
  codes: t.Array(fields.code),
  period: fields.period,
  matrix: t.Record(t.String(), t.Record(t.String(), coefficient()), {
    examples: [
      {
        WTI_USD: { WTI_USD: 1, BRENT_CRUDE_USD: 0.95 },
        BRENT_CRUDE_USD: { WTI_USD: 0.95, BRENT_CRUDE_USD: 1 },
      },
    ],
  }),
  data_points: t.integer('Number of common closes of the pair with the fewest.', 21),
})

export type CorrelationMatrix = (typeof Matrix)['static']

const Rolling = t.object('RollingCorrelation', {
  type: t.Literal('rolling'),
  ...pair,
  window: t.integer('Returns of each correlation.', 7),
  correlations: t.objects('Oldest first.', { date: fields.date, correlation: coefficient() }),
  latest: coefficient(),
  average: coefficient('Arithmetic mean of the available values.'),
})

const idsOf = (matches: readonly Resolved[]) => matches.map(match => match.series.id)

function pairOf(call: AnalysisCall) {
  const { query } = call
  const matches = call.series({ code1: query.code1, code2: query.code2 }) as [Resolved, Resolved]
  const [code1, code2] = [matches[0].series.code, matches[1].series.code]
  const period = call.period(30)
  return {
    matches,
    period,
    fields: { code1, code2, period },
    subject: `${code1} and ${code2}, common dates of the last ${period} days`,
  }
}

function pairAnalysis(call: AnalysisCall): string {
  const { matches, period, fields, subject } = pairOf(call)
  const correlation = requireEnough(
    call.at.closes.derived(`correlation ${period}`, idsOf(matches), ([first, second]) =>
      correlationOf(first!, second!, period),
    ),
    subject,
  )
  return call.answer(matches, Analysis, {
    type: 'analysis',
    ...fields,
    correlation: correlation.value ?? null,
    correlation_interpretation: correlation.interpretation,
    strength: correlation.strength,
    direction: correlation.direction,
    stability: correlation.stability,
    data_points: correlation.dataPoints,
  })
}

function matrix(call: AnalysisCall): string {
  const { query, request } = call
  const requestedCodes = listOf(query.codes)
  if (requestedCodes.length === 0)
    throw missingParameter('codes', `two to ${codesMax} commodity codes, comma-separated.`)
  const matches = call.at.codes.read(requestedCodes, request, codesMax)
  if (matches.length < 2)
    throw invalidParameter('codes', query.codes, 'at least two different series for a matrix')
  const period = call.period(30)
  const names = matches.map(match => match.series.code)
  const correlations = call.at.closes.derived(`matrix ${period}`, idsOf(matches), series =>
    correlationMatrix(series, period),
  )
  const short = correlations.enough ? [] : [...new Set(correlations.pair.map(i => names[i]!))]
  const { cells, dataPoints } = requireEnough(
    correlations,
    `${short.join(' and ')}, common dates of the last ${period} days`,
    { codes: short },
  )
  const rows = cells.map(row => Object.fromEntries(row.map((cell, j) => [names[j]!, cell ?? null])))
  return call.answer(matches, Matrix, {
    type: 'matrix',
    codes: names,
    period,
    matrix: Object.fromEntries(rows.map((row, i) => [names[i]!, row])),
    data_points: dataPoints,
  })
}

function rolling(call: AnalysisCall): string {
  const { matches, period, fields, subject } = pairOf(call)
  const window = integerOf('window', call.query.window, Math.min(windowDefault, period), 2, period)
  const [first, second] = idsOf(matches).map(id => call.at.closes.of(id))
  const correlations = requireEnough(rollingCorrelation(first!, second!, period, window), subject)
  const values = correlations.flatMap(correlation => correlation.value ?? [])
  return call.answer(matches, Rolling, {
    type: 'rolling',
    ...fields,
    window,
    correlations: correlations.map(correlation => ({
      date: correlation.day,
      correlation: correlation.value ?? null,
    })),
    latest: correlations.at(-1)?.value ?? null,
    average:
      values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length,
  })
}

const answers = { analysis: pairAnalysis, matrix, rolling }

/** Correlations between series. */
export const correlationOperations = [
  analysis({
    path: '/v1/analytics/correlation',
    operationId: 'getCorrelation',
    summary: 'Calculate correlations of series',
    description: `Returns the Pearson coefficient of daily log returns on the dates common to both series. Each return spans from one common date to the next.

${notes.closes}The window ends at the newest common date and holds the common dates d with last - period < d <= last, in calendar days. A matrix uses the common dates of each pair. A non-positive price in either series drops the two returns it touches. Under 5 common dates (\`rolling\`: under \`window\` + 1): 404 \`DATA_NOT_AVAILABLE\` with \`have\` and \`need\`.

| Field | Value |
|---|---|
| \`rolling\` | the coefficient over the last \`window\` returns at each date |
| \`stability\` | from the sample standard deviation of the 7-return rolling correlations: under 0.25 stable, under 0.5 moderate, else unstable |`,
    query: {
      type: wordParameter(types, '`analysis` (default), `matrix` or `rolling`.', 'analysis', {
        default: 'analysis',
      }),
      code1: parameters.code('Required for `analysis` and `rolling`'),
      code2: parameters.code('Required for `analysis` and `rolling`', 'BRENT_CRUDE_USD'),
      codes: codesParameter(
        codesMax,
        `Two to ${codesMax} codes, comma-separated: required for \`matrix\`.`,
        'WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD',
      ),
      period: parameters.period(30),
      window: integerParameter(
        `Returns of each rolling correlation, 2 to \`period\`; default: ${windowDefault}.`,
        windowDefault,
        { default: windowDefault, minimum: 2 },
      ),
    },
    shapes: [Analysis, Matrix, Rolling],
    handle: call => answers[call.word('type', types, 'analysis')](call),
  }),
]
