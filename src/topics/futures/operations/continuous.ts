import { t } from '../../../http/answer/schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { integerParameter, parsed } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { knownQuery } from '../../../http/operations/point-in-time.ts'
import { Problem, refusedParameter } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { roundTo } from '../../prices/math/format.ts'
import { dayAfter } from '../../prices/math/window.ts'
import {
  type Adjustment,
  adjusted,
  adjustments,
  measureOf,
  type Roll,
  type RollRule,
  type RollTerms,
  rollRules,
  Unadjustable,
} from '../math/continuous.ts'
import { type ContractDay, monthsBefore } from '../math/contract-days.ts'
import { contractCode } from '../math/families.ts'
import {
  type FuturesRoutes,
  noQuotes,
  type RequestedFamily,
  slugParams,
  sourcesOf,
} from './query.ts'
import { codeField, countField, dayField, familyFields, sourceField } from './shape.ts'

/**
 * How many days before the requested range a series is computed from, so that its first date is not
 * taken for a roll, and rules by volume have settled on a contract.
 */
const lookBackDays: Readonly<Record<RollRule, number>> = {
  expiry: 14,
  days_before: 14,
  volume: 200,
  open_interest: 200,
}
const daysBeforeDefault = 5

const Continuous = t.object('FuturesContinuous', {
  ...familyFields,
  contract: t.string('The contract that is active now.', 'WTI_FUTURES_2027_01'),
  months: t.integer({ examples: [3] }),
  source: sourceField,
  roll_method: t.oneOf(
    ['last_trading_day', 'days_before', 'volume', 'open_interest'],
    'When a contract is left: after its last trading day, or by the requested rule.',
  ),
  roll_days: t.Optional(t.integer('Trading days before the last one, with `days_before`.')),
  adjustment: t.oneOf(adjustments, 'How steps at rolls are adjusted; `none`: traded prices.'),
  count: countField,
  prices: t.Array(
    t.Object({
      date: dayField,
      price: t.number('Close of the active contract, adjusted if requested.', 71.87),
      unadjusted: t.Optional(t.number('The traded close, if `close` is adjusted.')),
      active_contract: codeField,
      rolled: t.boolean('First date of this contract.'),
    }),
  ),
  rolls: t.Optional(
    t.objects(
      'Where the series changes contracts, newest first; with an adjustment or another roll rule than `expiry`.',
      {
        date: dayField,
        from: codeField,
        to: codeField,
        gap: t.orNull(
          t.number(
            'New minus old settlement on the date, or on the last date that has both where the old contract has ended.',
            0.42,
          ),
        ),
        ratio: t.orNull(t.number('New over old settlement.', 1.0058)),
      },
    ),
  ),
})

const monthsQuery = (defaultMonths: number) =>
  t.Object({
    months: parsed.integer('Months back from today', [1, 60], defaultMonths, 3),
    adjustment: parsed.word(
      ['unadjusted', ...adjustments],
      '`back_adjusted` shifts earlier prices by the gaps of later rolls, `ratio_adjusted` multiplies them by their ratios; `none` or `unadjusted` (default) leaves them.',
      'back_adjusted',
      { default: 'none' },
    ),
    roll: parsed.word(
      rollRules,
      "When the series leaves a contract: after its last trading day (`expiry`, default), `roll_days` trading days before it (`days_before`), or on the day after the next contract's `volume` or `open_interest` exceeds its own.",
      'days_before',
      { default: 'expiry' },
    ),
    roll_days: integerParameter(
      `Trading days before the last one, 1 to 60, default: ${daysBeforeDefault}; for \`days_before\`.`,
      5,
      { default: daysBeforeDefault, minimum: 1, maximum: 60 },
    ),
    ...knownQuery,
  })

const descriptionOf = (
  months: number,
) => `Returns one price for each trading date of the last ${months === 1 ? 'month' : `${months} months`} or of \`months\`, newest first: the close of the contract that is the front month on it (with \`.N\` the Nth listed month).

A contract is active through its last trading day unless \`roll\` says otherwise. Prices are not adjusted unless \`adjustment\` is set, so a roll appears as a step. \`rolled\` marks the first date of each contract.

A roll depends only on data up to the date before it. A contract is not used again after a roll, and the newest contract keeps its prices. If a settlement that an adjustment needs is missing, a price of a ratio is not positive, or no contract of the range has the \`volume\` or \`open_interest\` of the roll, the response is 404 \`DATA_NOT_AVAILABLE\`.`

/** The series that rolls from one contract to the next. */
export function futuresContinuousOperations(routes: FuturesRoutes) {
  const continuous = (
    endpoint: `GET ${string}`,
    operationId: string,
    summary: string,
    months: number,
  ) =>
    operation(endpoint, {
      operationId,
      summary,
      description: descriptionOf(months),
      access: { ...routes.full, heavy: true },
      view: 'as_of',
      unpaged: true,
      params: slugParams.properties,
      query: monthsQuery(months).properties,
      answers: { 200: Continuous, 400: NestedProblem, 404: NestedProblem },
      handle: ({ at, params, query, reply }) =>
        continuousAnswer(routes.at(at), routes.familyOf(params.slug), query, reply),
    })
  return [
    continuous(
      'GET /v1/futures/:slug/continuous',
      'getContinuousFutures',
      'Get a continuous futures series',
      1,
    ),
    continuous(
      'GET /v1/futures/continuous/:slug/historical',
      'getContinuousFuturesHistory',
      'Get a year of a continuous futures series',
      12,
    ),
  ]
}

interface ContinuousQuery {
  months: number
  adjustment: Adjustment | 'unadjusted'
  roll: RollTerms['rule']
  roll_days?: string | undefined
}

function readTerms(query: ContinuousQuery, nth: number): RollTerms & { adjustment: Adjustment } {
  const { roll: rule, adjustment: word } = query
  const adjustment = word === 'unadjusted' ? 'none' : word
  const daysBefore = integerOf('roll_days', query.roll_days, daysBeforeDefault, 1, 60)
  if (query.roll_days && rule !== 'days_before')
    throw refusedParameter('roll_days', query.roll_days, 'roll_days requires roll=days_before.')
  return { rule, daysBefore, nth, adjustment }
}

function continuousAnswer(
  routes: FuturesRoutes,
  { family, nth = 1, decimals, head }: RequestedFamily,
  query: ContinuousQuery,
  set: Reply,
) {
  const { futures } = routes
  const { code } = family
  const { months } = query
  const terms = readTerms(query, nth)
  const { rule, adjustment } = terms
  if (!futures.hasDays(code, { places: [nth] })) throw noQuotes(code)
  const today = futures.today(code)
  const from = monthsBefore(today, months)
  const { days, rolls, activeMonth } = futures.continuous(
    code,
    dayAfter(from, -lookBackDays[rule]),
    today,
    terms,
  )
  const measure = measureOf(rule)
  // Without the figure, contracts would silently be left after their last trading day.
  if (measure && days.length > 0 && days.every(day => measure(day) === null))
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `${code} has no ${rule.replace('_', ' ')} in this range, so that roll=${rule} finds no roll. Use roll=expiry or roll=days_before.`,
    )
  const starts = new Set(rolls.map(roll => roll.date))
  const inside = days.filter(day => day.tradedOn >= from)
  const shown = pricesOf(inside, rolls, adjustment)
  const source = routes.mark(set, family, sourcesOf(inside))
  const isPlain = rule === 'expiry' && adjustment === 'none'
  return {
    ...head,
    contract: contractCode(code, activeMonth),
    months,
    source,
    roll_method: rule === 'expiry' ? ('last_trading_day' as const) : rule,
    ...(rule === 'days_before' && { roll_days: terms.daysBefore }),
    adjustment,
    count: shown.length,
    prices: shown.toReversed().map(({ day, price }) => ({
      date: day.tradedOn,
      price: roundTo(price, decimals),
      ...(adjustment !== 'none' && { unadjusted: roundTo(day.close, decimals) }),
      active_contract: day.code,
      rolled: starts.has(day.tradedOn),
    })),
    ...(!isPlain && {
      rolls: rolls
        .filter(roll => roll.date >= from)
        .map(roll => ({
          date: roll.date,
          from: contractCode(code, roll.fromMonth),
          to: contractCode(code, roll.toMonth),
          gap: roll.gap === null ? null : roundTo(roll.gap, decimals),
          ratio: roll.ratio,
        }))
        .reverse(),
    }),
  }
}

function pricesOf(days: readonly ContractDay[], rolls: readonly Roll[], adjustment: Adjustment) {
  try {
    return adjusted(days, rolls, adjustment)
  } catch (error) {
    if (!(error instanceof Unadjustable)) throw error
    throw new Problem('DATA_NOT_AVAILABLE', `The series cannot be adjusted: ${error.message}.`)
  }
}
