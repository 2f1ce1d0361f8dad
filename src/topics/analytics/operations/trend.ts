import { t } from '../../../http/answer/schema.ts'
import { instantOf, integerOf } from '../../../http/input/query.ts'
import { integerParameter, wordParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { type Close, closesIn, tooFew } from '../../prices/math/window.ts'
import { bulkSeriesOf } from '../../prices/service/exports/bulk.ts'
import {
  atr,
  bollinger,
  type DayRange,
  indicatorRun,
  macd,
  type Pivots,
  pivotsOf,
  shownOf,
  trendAnalysis,
} from '../math/indicators.ts'
import { rsiBand } from '../math/statistics.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'

const types = ['analysis', 'sma', 'ema', 'rsi', 'levels', 'macd', 'bollinger', 'atr'] as const

const averageWindow = 20
const rsiWindow = 14
const atrWindow = 14
/** Closes before there is a first MACD. */
const macdNeed = 26
const windowMax = 500

const price = t.Number({ examples: [82.83] })
const rsiField = t.Number({ minimum: 0, maximum: 100, examples: [59.18] })
const rsiWord = t.string(
  'Above 70 overbought, from 50 bullish, from 30 bearish, below oversold.',
  'bullish',
)

const Levels = t.object('PriceLevels', {
  support: t.Array(price, { description: 'S1 = 2P - H, S2 = P - (H - L).' }),
  resistance: t.Array(price, { description: 'R1 = 2P - L, R2 = P + (H - L).' }),
  pivot_point: t.number('P = (H + L + C) / 3.', 80.01),
})

export const Analysis = t.object('TrendAnalysis', {
  type: t.Literal('analysis'),
  code: fields.code,
  period: fields.period,
  trend: t.Object({
    direction: t.oneOf(['up', 'down', 'sideways']),
    strength: t.number('100 x R squared.', 74.36, { minimum: 0, maximum: 100 }),
    slope: t.number('Price units per calendar day.', 0.2687),
    price_change_pct: t.numberOrNull(
      '100 x (last - first) / |first| over the window; null when the first close is 0.',
      4.9,
    ),
  }),
  momentum: t.Object({ rsi: rsiField, interpretation: rsiWord }),
  moving_averages: t.Object({
    sma_20: price,
    ema_20: price,
    price_vs_sma: t.numberOrNull(
      '100 x (last - sma_20) / |sma_20|; null when the average is 0.',
      3.96,
    ),
    golden_cross: t.boolean('sma(50) above sma(200), when there are 200 closes, otherwise false.'),
  }),
  levels: Levels,
  signal: t.Object({
    value: t.oneOf(['buy', 'sell', 'neutral']),
    interpretation: t.String({
      examples: ['The trend is up, the price is at or above its average, momentum is bullish.'],
    }),
  }),
})
export type Analysis = (typeof Analysis)['static']

const run = {
  code: fields.code,
  period: fields.period,
  window: t.integer('Closes of the average, changes of the RSI.', 20),
  current_price: price,
  current_value: t.number('At the newest close.', 79.68),
  position: t.oneOf(
    ['above', 'below'],
    'For the price: above (or at) or below its average. For RSI: above (or at) or below 50.',
  ),
  values: t.objects('Oldest first.', { date: fields.date, value: t.Number({ examples: [79.68] }) }),
}
const Average = t.object('MovingAverage', {
  type: t.oneOf(['sma', 'ema']),
  ...run,
})
const Rsi = t.object('RelativeStrength', {
  type: t.Literal('rsi'),
  ...run,
  rsi: rsiField,
  interpretation: rsiWord,
})
const pointFields = { date: fields.date, value: t.Number({ examples: [1.234] }) }
const shown = { code: fields.code, period: fields.period, current_price: price }
const MacdRun = t.object('Macd', {
  type: t.Literal('macd'),
  ...shown,
  values: t.objects('Oldest first; `value` = ema(12) - ema(26), unit of the series.', {
    ...pointFields,
    signal: t.numberOrNull('ema(9) of `value`.', 1.1),
    histogram: t.numberOrNull('`value` - `signal`.', 0.134),
  }),
})
const Bands = t.object('BollingerBands', {
  type: t.Literal('bollinger'),
  ...shown,
  window: t.integer({ examples: [20] }),
  values: t.objects('Oldest first; `value` is the mean, unit of the series.', {
    ...pointFields,
    upper: t.Number({ examples: [85.2] }),
    lower: t.Number({ examples: [76.4] }),
  }),
})
const TrueRange = t.object('AverageTrueRange', {
  type: t.Literal('atr'),
  ...shown,
  window: t.integer({ examples: [14] }),
  current_value: t.numberOrNull(
    'At the newest day; null for a series with one value per day.',
    1.9,
  ),
  values: t.objects(
    'Oldest first, unit of the series; empty for a series with one value per day.',
    pointFields,
  ),
})
const LevelsOnly = t.object('SupportAndResistance', {
  type: t.Literal('levels'),
  code: fields.code,
  period: fields.period,
  current_price: price,
  levels: Levels,
})

const levelsRow = ({ pivotPoint, support, resistance }: Pivots) => ({
  support,
  resistance,
  pivot_point: pivotPoint,
})

function requestedCloses(call: AnalysisCall) {
  const matches = call.series({ code: call.query.code })
  const { series } = matches[0]!
  return {
    matches,
    series,
    code: series.code,
    period: call.period(30),
    seriesCloses: call.at.closes.of(series.id),
  }
}

function analysisAnswer(call: AnalysisCall): string {
  const { matches, code, period, seriesCloses } = requestedCloses(call)
  const result = requireEnough(
    trendAnalysis(seriesCloses, period),
    `${code}, last ${period} days and the warm-up of its averages`,
  )
  return call.answer(matches, Analysis, {
    type: 'analysis',
    code,
    period,
    trend: {
      direction: result.trend.direction,
      strength: result.trend.strength,
      slope: result.trend.slope,
      price_change_pct: result.trend.changePercent ?? null,
    },
    momentum: { rsi: result.rsi, interpretation: rsiBand(result.rsi) },
    moving_averages: {
      sma_20: result.sma20,
      ema_20: result.ema20,
      price_vs_sma: result.priceVsSma ?? null,
      golden_cross: result.goldenCross,
    },
    levels: levelsRow(result.pivots),
    signal: result.signal,
  })
}

function indicatorAnswer(type: 'sma' | 'ema' | 'rsi', call: AnalysisCall): string {
  const { matches, code, period, seriesCloses } = requestedCloses(call)
  const window = integerOf(
    'window',
    call.query.window,
    type === 'rsi' ? rsiWindow : averageWindow,
    2,
    windowMax,
  )
  const { currentPrice, currentValue, values } = requireEnough(
    indicatorRun(type, seriesCloses, window, period),
    `${code}, ${type}(${window})`,
  )
  const isAbove = type === 'rsi' ? currentValue >= 50 : currentPrice >= currentValue
  const fields = {
    code,
    period,
    window,
    current_price: currentPrice,
    current_value: currentValue,
    position: isAbove ? ('above' as const) : ('below' as const),
    values: values.map(({ day, value }) => ({ date: day, value })),
  }
  return type === 'rsi'
    ? call.answer(matches, Rsi, {
        type,
        ...fields,
        rsi: currentValue,
        interpretation: rsiBand(currentValue),
      })
    : call.answer(matches, Average, { type, ...fields })
}

function levelsAnswer(call: AnalysisCall): string {
  const { matches, code, period, seriesCloses } = requestedCloses(call)
  const pivots = requireEnough(pivotsOf(seriesCloses, period), `${code}, last ${period} days`)
  return call.answer(matches, LevelsOnly, {
    type: 'levels',
    code,
    period,
    current_price: pivots.currentPrice,
    levels: levelsRow(pivots),
  })
}

function macdAnswer(call: AnalysisCall): string {
  const { matches, code, period, seriesCloses } = requestedCloses(call)
  const { currentPrice, values } = requireEnough(
    shownOf(macd(seriesCloses), seriesCloses, period, macdNeed),
    `${code}, macd`,
  )
  return call.answer(matches, MacdRun, {
    type: 'macd',
    code,
    period,
    current_price: currentPrice,
    values: values.map(({ day, value, signal }) => ({
      date: day,
      value,
      signal: signal ?? null,
      histogram: signal === undefined ? null : value - signal,
    })),
  })
}

function bandsAnswer(call: AnalysisCall): string {
  const { matches, code, period, seriesCloses } = requestedCloses(call)
  const window = integerOf('window', call.query.window, averageWindow, 2, windowMax)
  const { currentPrice, values } = requireEnough(
    shownOf(bollinger(seriesCloses, window), seriesCloses, period, window),
    `${code}, bollinger(${window})`,
  )
  return call.answer(matches, Bands, {
    type: 'bollinger',
    code,
    period,
    current_price: currentPrice,
    window,
    values: values.map(({ day, ...band }) => ({ date: day, ...band })),
  })
}

/** Highest, lowest and last value of each day that has closes, also as of a past moment. */
function daysOf(
  { bulk, history, ingest, now }: Context,
  series: Series,
  closes: readonly Close[],
  asOf: number | undefined,
): DayRange[] {
  const lastFrom = parseDay(closes.at(-1)!.day)!
  const blocks = bulk.blocks({
    series: [bulkSeriesOf(series, [])],
    interval: 'day',
    from: parseDay(closes[0]!.day)!,
    to: lastFrom,
    asOf,
    snapshotAt: ingest.snapshotAt(),
  })
  // The bars of an export are whole days, and the last day may have values of later times.
  const [last] = history.page({
    seriesIds: [series.id],
    interval: 'day',
    from: lastFrom,
    to: Math.min(lastFrom + dayMs, now() + 1),
    limit: 1,
    offset: 0,
  }).rows
  const days = [...blocks].flatMap(({ length, value, bars }) =>
    Array.from({ length }, (_, i) => ({
      day: isoDay(bars!.startsAt[i]!),
      high: bars!.high[i]!,
      low: bars!.low[i]!,
      close: value[i]!,
    })),
  )
  const { high, low, close } = last!.bar!
  return [...days, { day: closes.at(-1)!.day, high, low, close }]
}

function rangeAnswer(call: AnalysisCall): string {
  const { matches, code, period, series, seriesCloses } = requestedCloses(call)
  const window = integerOf('window', call.query.window, atrWindow, 2, windowMax)
  if (seriesCloses.length < window + 1)
    requireEnough(tooFew(seriesCloses.length, window + 1), `${code}, atr(${window})`)
  const asOf = instantOf('as_of', call.query.as_of)
  const days = daysOf(call.at, series, seriesCloses, asOf)
  const hasRange = days.some(({ high, low }) => high > low)
  const values = hasRange ? atr(days, window) : []
  const first = closesIn(seriesCloses, period)[0]!.day
  return call.answer(matches, TrueRange, {
    type: 'atr',
    code,
    period,
    current_price: seriesCloses.at(-1)!.value,
    window,
    current_value: values.at(-1)?.value ?? null,
    values: values
      .filter(({ day }) => day >= first)
      .map(({ day, value }) => ({ date: day, value })),
  })
}

function answer(call: AnalysisCall): string {
  const type = call.word('type', types, 'analysis')
  if (type === 'macd') return macdAnswer(call)
  if (type === 'bollinger') return bandsAnswer(call)
  if (type === 'atr') return rangeAnswer(call)
  if (type === 'analysis') return analysisAnswer(call)
  return type === 'levels' ? levelsAnswer(call) : indicatorAnswer(type, call)
}

/** Where a series is heading, and its indicators. */
export const trendOperations = [
  analysis({
    path: '/v1/analytics/trend',
    operationId: 'getTrend',
    summary: 'Calculate the trend and indicators of a series',
    description: `Returns direction, momentum, averages and levels.

${notes.closes}${notes.window}

| Field | Value |
|---|---|
| \`slope\` | least squares of close on day number over the window, price units a day |
| \`strength\` | 100 x R squared |
| \`direction\` | up or down when the slope over the window exceeds 1% of the mean, otherwise sideways |
| \`sma(n)\` | mean of the last n closes |
| \`ema(n)\` | alpha = 2 / (n + 1), seeded with the mean of the first n closes of the warm-up |
| \`rsi(n)\` | Wilder: first averages are the means of the first n gains and losses of the warm-up, then (previous x (n - 1) + current) / n; 100 when the average loss is 0, 50 when both are 0 |
| \`macd\` | ema(12) - ema(26), with its ema(9) as signal |
| \`bollinger(n)\` | sma(n) with two population standard deviations of the same n closes to either side |
| \`atr(n)\` | Wilder's mean of the true range of day bars |
| levels | classic pivots of the window's highest, lowest and last close |
| \`signal\` | majority of three votes: trend, price against sma(20), and RSI band |

The warm-up is the whole series, so the value of a date does not depend on the requested period. Indicators need \`window\` + 1 closes, otherwise 404 with \`have\` and \`need\`.`,
    query: {
      code: parameters.code('Required'),
      period: parameters.period(30),
      type: wordParameter(
        types,
        '`analysis` (default), `sma`, `ema`, `rsi`, `levels`, `macd`, `bollinger` or `atr`.',
        'analysis',
        { default: 'analysis' },
      ),
      window: integerParameter(
        `Closes of \`sma\`, \`ema\` and \`bollinger\` (default: ${averageWindow}), changes of \`rsi\` and \`atr\` (default: ${rsiWindow}): 2 to ${windowMax}.`,
        20,
        { minimum: 2, maximum: windowMax },
      ),
    },
    shapes: [Analysis, Average, Rsi, LevelsOnly, MacdRun, Bands, TrueRange],
    handle: answer,
  }),
]
