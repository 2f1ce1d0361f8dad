import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { type Close, closesIn } from '../../prices/math/window.ts'
import { analyticsSpreads, type SpreadIdentity } from '../../units/math/identities.ts'
import { codesOf, type SpreadDay, spreadHistory, spreadStatistics } from '../math/spread.ts'
import { type AnalysisCall, analysis, fields, notes, parameters, requireEnough } from './shape.ts'
import { tidy } from './spread-row.ts'

const types = ['current', 'historical'] as const
const ids = analyticsSpreads.map(spread => spread.id)
const idField = t.String({ examples: ['wti_brent'] })
const unitField = t.String({ examples: ['USD/barrel'] })
const spreadField = t.Number({ examples: [-3.87] })
const priceFields = {
  price1: t.Number({ examples: [71.23] }),
  price2: t.Number({ examples: [75.1] }),
}

const Available = t.Object({
  id: idField,
  name: t.String({ examples: ['WTI - Brent'] }),
  description: t.String(),
  unit: unitField,
  formula: t.String(),
})
const List = t.object('AvailableSpreads', {
  available_spreads: t.Array(Available),
  usage: t.String(),
})

const Historical = t.Object({
  mean: spreadField,
  std_dev: t.number('Sample standard deviation, n - 1.', 0.41),
  min: spreadField,
  max: spreadField,
  percentile: t.Number({ examples: [38.1] }),
  z_score: t.numberOrNull('Null when std_dev is 0.', -0.4),
  data_points: t.integer('Common dates in the window.', 21),
})
const Statistics = t.object('SpreadStanding', {
  type: t.oneOf(types),
  spread: idField,
  spread_name: t.String({ examples: ['WTI - Brent'] }),
  code1: t.string('First leg.', 'WTI_USD'),
  code2: t.string('Last leg; of a crack its crude.', 'BRENT_CRUDE_USD'),
  ...priceFields,
  current_spread: spreadField,
  unit: unitField,
  formula: t.String({ examples: ['WTI_USD - BRENT_CRUDE_USD'] }),
  date: fields.date,
  prices: t.Record(t.String(), t.Number(), {
    description: 'Close of every leg on `date`.',
    examples: [{ WTI_USD: 71.23, BRENT_CRUDE_USD: 75.1 }],
  }),
  historical: Historical,
  interpretation: t.String({ examples: ['normal: 0.40 standard deviations below the mean'] }),
  period: fields.period,
  history: t.Optional(
    t.objects('With `type=historical`, newest first.', {
      date: fields.date,
      spread: spreadField,
      ...priceFields,
    }),
  ),
})

function identityOf(text: string): SpreadIdentity {
  const identity = analyticsSpreads.find(spread => spread.id === text.trim().toLowerCase())
  if (!identity) throw invalidParameter('spread', text, ids)
  return identity
}

const spreadList: typeof List.static = {
  available_spreads: analyticsSpreads.map(spread => answerRow(Available, spread, {})),
  usage: '/v1/analytics/spread?spread=wti_brent&period=30&type=historical',
}

function legsOf({ catalogue, closes, now }: Context, identity: SpreadIdentity) {
  return codesOf(identity).map(code => {
    const match = catalogue.resolve(code, now())
    return { code, match, legCloses: match ? closes.of(match.series.id) : ([] as readonly Close[]) }
  })
}

/** The spread over the window, and the rank of its newest value. */
function statisticsOf(at: Context, identity: SpreadIdentity, period: number) {
  const legs = legsOf(at, identity)
  const closesByCode = new Map(legs.map(leg => [leg.code, leg.legCloses]))
  const days = spreadHistory(identity, code => closesByCode.get(code)!, period)
  const without = legs.find(leg => leg.legCloses.length === 0)
  const subject = `${identity.id}, common dates of ${legs.map(leg => leg.code).join(', ')} in the last ${period} days`
  const statistics = requireEnough(
    spreadStatistics(days, period),
    without ? `${subject} (${without.code} has none)` : subject,
    without && { leg: without.code },
  )
  return { statistics, days: closesIn(days, period), matches: legs.flatMap(leg => leg.match ?? []) }
}

function answer(call: AnalysisCall): string {
  const { query } = call
  const type = call.word('type', types, 'current')
  const period = call.period(30)
  if (query.spread === undefined || query.spread === '') return call.answer([], List, spreadList)
  const identity = identityOf(query.spread)
  const { statistics, days, matches } = statisticsOf(call.at, identity, period)
  const [code1, code2] = [identity.legs[0]!.code, identity.legs.at(-1)!.code]
  const { current } = statistics
  const row = (spreadDay: SpreadDay) => ({
    spread: tidy(spreadDay.value),
    price1: spreadDay.prices[code1]!,
    price2: spreadDay.prices[code2]!,
  })
  const { spread: currentSpread, ...prices } = row(current)
  return call.answer(matches, Statistics, {
    type,
    spread: identity.id,
    spread_name: identity.name,
    code1,
    code2,
    ...prices,
    current_spread: currentSpread,
    unit: identity.unit,
    formula: identity.formula,
    date: current.day,
    prices: current.prices,
    historical: answerRow(Historical, statistics, {}),
    interpretation: statistics.interpretation,
    period,
    ...(type === 'historical' && {
      history: days.toReversed().map(spreadDay => ({ date: spreadDay.day, ...row(spreadDay) })),
    }),
  })
}

/** Differences and ratios of series, and their position within a window. */
export const analyticsSpreadOperations = [
  analysis({
    path: '/v1/analytics/spread',
    operationId: 'getSpread',
    summary: 'Calculate spreads between series',
    description: `Returns a spread on the dates common to all legs, and the position of the newest value within the window.

${notes.closes}${notes.window}A close is the spread on a common date, and the window ends at the newest one.

| Spread | Formula | Unit |
|---|---|---|
${analyticsSpreads.map(spread => `| \`${spread.id}\` | ${spread.formula} | ${spread.unit} |`).join('\n')}

\`mean\` and \`std_dev\` are the arithmetic mean and the sample standard deviation (n - 1). \`z_score\` = (last - mean) / std_dev, null when std_dev is 0. \`percentile\` = 100 x count(spread <= last) / n.`,
    query: {
      spread: wordParameter(
        ids,
        `One of ${ids.join(', ')}; absent: the list of them.`,
        'wti_brent',
      ),
      period: parameters.period(30),
      type: wordParameter(
        types,
        '`current` (default), or `historical` for the values of the window too.',
        'current',
        { default: 'current' },
      ),
    },
    shapes: [Statistics, List],
    handle: answer,
  }),
]
