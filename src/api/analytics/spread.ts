import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { serialised } from '../../http/answer/serialised.ts'
import { invalidParameter } from '../../http/problem/problem.ts'
import {
  codesOf,
  type SpreadDay,
  spreadHistory,
  spreadStatistics,
} from '../../market/analytics/spread.ts'
import { type Close, closesIn } from '../../market/prices/window.ts'
import { analyticsSpreads, type SpreadIdentity } from '../../market/units/identities.ts'
import { type Answering, markFixtures } from '../answer.ts'
import {
  type AnalyticsDeps,
  both,
  bothText,
  closesNote,
  dateField,
  enough,
  nullable,
  periodField,
  periodOf,
  periodQuery,
  type Question,
  refusals,
  windowNote,
  wordOf,
} from './shape.ts'
import { tidy } from './spread-row.ts'

const types = ['current', 'historical'] as const
const ids = analyticsSpreads.map(one => one.id)
const idField = t.String({ examples: ['wti_brent'] })
const unitField = t.String({ examples: ['USD/barrel'] })
const spreadField = t.Number({ examples: [-3.87] })
const priceFields = {
  price1: t.Number({ examples: [71.23] }),
  price2: t.Number({ examples: [75.1] }),
}

const List = t.Object(
  {
    available_spreads: t.Array(
      t.Object({
        id: idField,
        name: t.String({ examples: ['WTI - Brent'] }),
        description: t.String(),
        unit: unitField,
        formula: t.String(),
      }),
    ),
    usage: t.String(),
  },
  { title: 'AvailableSpreads' },
)

const Standing = t.Object(
  {
    type: t.Union(types.map(word => t.Literal(word))),
    spread: idField,
    spread_name: t.String({ examples: ['WTI - Brent'] }),
    code1: t.String({ description: 'First leg.', examples: ['WTI_USD'] }),
    code2: t.String({
      description: 'Last leg; of a crack its crude.',
      examples: ['BRENT_CRUDE_USD'],
    }),
    ...priceFields,
    current_spread: spreadField,
    unit: unitField,
    formula: t.String({ examples: ['WTI_USD - BRENT_CRUDE_USD'] }),
    date: dateField,
    prices: t.Record(t.String(), t.Number(), {
      description: 'Close of every leg on `date`.',
      examples: [{ WTI_USD: 71.23, BRENT_CRUDE_USD: 75.1 }],
    }),
    historical: t.Object({
      mean: spreadField,
      std_dev: t.Number({ description: 'Sample standard deviation, n - 1.', examples: [0.41] }),
      min: spreadField,
      max: spreadField,
      percentile: t.Number({ examples: [38.1] }),
      z_score: nullable(t.Number({ examples: [-0.4] }), 'Null when std_dev is 0.'),
      data_points: integer({ description: 'Common dates in the window.', examples: [21] }),
    }),
    interpretation: t.String({ examples: ['normal: 0.40 standard deviations below the mean'] }),
    period: periodField,
    history: t.Optional(
      t.Array(t.Object({ date: dateField, spread: spreadField, ...priceFields }), {
        description: 'With `type=historical`, newest first.',
      }),
    ),
  },
  { title: 'SpreadStanding' },
)

function identityOf(text: string): SpreadIdentity {
  const found = analyticsSpreads.find(one => one.id === text.trim().toLowerCase())
  if (!found) throw invalidParameter('spread', text, `is not one of ${ids.join(', ')}.`, ids)
  return found
}

const listed: typeof List.static = {
  available_spreads: analyticsSpreads.map(({ id, name, description, unit, formula }) => ({
    id,
    name,
    description,
    unit,
    formula,
  })),
  usage: '/v1/analytics/spread?spread=wti_brent&period=30&type=historical',
}

function legsOf({ catalogue, closes, now }: AnalyticsDeps, identity: SpreadIdentity) {
  return codesOf(identity).map(code => {
    const found = catalogue.resolve(code, now())
    return { code, found, held: found ? closes.of(found.series.id) : ([] as readonly Close[]) }
  })
}

/** The spread over the window, and where its newest value stands. */
function standingOf(deps: AnalyticsDeps, identity: SpreadIdentity, period: number) {
  const legs = legsOf(deps, identity)
  const held = new Map(legs.map(leg => [leg.code, leg.held]))
  const days = spreadHistory(identity, code => held.get(code)!, period)
  const without = legs.find(leg => leg.held.length === 0)
  const of = `${identity.id}, common dates of ${legs.map(leg => leg.code).join(', ')} in the last ${period} days`
  const made = enough(
    spreadStatistics(days, period),
    without ? `${of} (${without.code} has none)` : of,
    without && { leg: without.code },
  )
  return { made, days: closesIn(days, period), found: legs.flatMap(leg => leg.found ?? []) }
}

function answer(deps: AnalyticsDeps, question: Question): string {
  const { query } = question
  const type = wordOf('type', query.type, types, 'current')
  const period = periodOf(query.period, 30)
  if (query.spread === undefined || query.spread === '') return bothText(question, List, listed)
  const identity = identityOf(query.spread)
  const { made, days, found } = standingOf(deps, identity, period)
  markFixtures(question.set, deps.marks, found)
  const [code1, code2] = [identity.legs[0]!.code, identity.legs.at(-1)!.code]
  const { current } = made
  const row = (one: SpreadDay) => ({
    spread: tidy(one.value),
    price1: one.prices[code1]!,
    price2: one.prices[code2]!,
  })
  const { spread: currentSpread, ...prices } = row(current)
  return bothText(question, Standing, {
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
    historical: {
      mean: made.mean,
      std_dev: made.stdDev,
      min: made.min,
      max: made.max,
      percentile: made.percentile,
      z_score: made.zScore ?? null,
      data_points: made.dataPoints,
    },
    interpretation: made.interpretation,
    period,
    ...(type === 'historical' && {
      history: days.toReversed().map(one => ({ date: one.day, ...row(one) })),
    }),
  })
}

/** Differences and ratios of series, and where they stand in a window. */
export function analyticsSpreadRoutes(deps: AnalyticsDeps) {
  return new Elysia()
    .use(deps.access)
    .get(
      '/v1/analytics/spread',
      ({ query, request, set, caller }) =>
        answer(deps, { query, request, set: set as Answering, caller }),
      {
        access: { feature: 'analytics', meter: true, heavy: true },
        query: t.Object({
          spread: t.Optional(
            t.String({
              description: `One of ${ids.join(', ')}; absent: the list of them.`,
              examples: ['wti_brent'],
            }),
          ),
          period: periodQuery(30),
          type: t.Optional(
            t.String({
              description: '`current` (default), or `historical` for the values of the window too.',
              examples: ['current'],
            }),
          ),
        }),
        response: { 200: serialised(t.Union([both(Standing), both(List)])), ...refusals },
        detail: {
          operationId: 'getSpread',
          tags: ['analytics'],
          summary: 'Spreads between series',
          description: `A spread on the dates that all its legs have, and where the newest stands among those of the window. ${closesNote}${windowNote}Here a close is the spread of a common date, and the window ends at the newest of them. ${analyticsSpreads.map(one => `\`${one.id}\` = ${one.formula} (${one.unit})`).join('; ')}. \`mean\` and \`std_dev\` are the arithmetic mean and the sample standard deviation (n - 1); \`z_score\` = (last - mean) / std_dev, null when std_dev is 0; \`percentile\` = 100 x count(spread <= last) / n.`,
        },
      },
    )
}
