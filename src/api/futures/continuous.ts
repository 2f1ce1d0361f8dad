import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { integerOf } from '../../http/input/query.ts'
import { typed } from '../../http/input/typed.ts'
import { NestedProblem } from '../../http/problem/shape.ts'
import { monthsBefore } from '../../market/futures/contract-days.ts'
import { contractCode } from '../../market/futures/families.ts'
import { roundTo } from '../../market/prices/format.ts'
import { dayAfter } from '../../market/prices/window.ts'
import {
  type FuturesDeps,
  type FuturesRoutes,
  noQuotes,
  type RequestedFamily,
  slugParams,
  sourcesOf,
} from './query.ts'
import { codeField, countField, dayField, familyFields, sourceField } from './shape.ts'

/** The front month lasts a month, and a holiday may lie before its first date. */
const rollLookBackDays = 14

const Continuous = t.Object(
  {
    ...familyFields,
    contract: t.String({
      description: 'The contract that is active now.',
      examples: ['WTI_FUTURES_2027_01'],
    }),
    months: integer({ examples: [3] }),
    source: sourceField,
    roll_method: t.Literal('last_trading_day', {
      description: 'A contract is active through its last trading day.',
    }),
    adjustment: t.Literal('none', {
      description: 'Prices are those that were traded: a roll shows as a step.',
    }),
    count: countField,
    prices: t.Array(
      t.Object({
        date: dayField,
        price: t.Number({ description: 'Close of the active contract.', examples: [71.87] }),
        active_contract: codeField,
        rolled: t.Boolean({ description: 'First date of this contract.' }),
      }),
    ),
  },
  { title: 'FuturesContinuous' },
)

const monthsQuery = (defaultMonths: number) =>
  t.Object({
    months: typed({
      type: 'integer',
      description: `Months back from today, 1 to 60 (${defaultMonths}).`,
      examples: [3],
      default: defaultMonths,
      minimum: 1,
      maximum: 60,
    }),
  })

const description =
  'One price for each trading date, newest first: the close of the contract that is the front month on it (with `.N` the Nth listed month). A contract is active through its last trading day; prices are not adjusted, so that a roll shows as a step, and `rolled` marks the first date of each contract.'

/** The series that rolls from one contract to the next. */
export function futuresContinuousRoutes({ access }: FuturesDeps, routes: FuturesRoutes) {
  const response = { 200: Continuous, 400: NestedProblem, 404: NestedProblem }
  return new Elysia()
    .use(access)
    .get(
      '/v1/futures/:slug/continuous',
      ({ params, query, set }) =>
        continuousAnswer(routes, routes.familyOf(params.slug), query.months, 1, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: monthsQuery(1),
        response,
        detail: {
          operationId: 'getContinuousFutures',
          tags: ['futures'],
          summary: 'Continuous series',
          description,
        },
      },
    )
    .get(
      '/v1/futures/continuous/:slug/historical',
      ({ params, query, set }) =>
        continuousAnswer(routes, routes.familyOf(params.slug), query.months, 12, set),
      {
        access: { ...routes.full, heavy: true },
        params: slugParams,
        query: monthsQuery(12),
        response,
        detail: {
          operationId: 'getContinuousFuturesHistory',
          tags: ['futures'],
          summary: 'Continuous series, a year by default',
          description,
        },
      },
    )
}

function continuousAnswer(
  routes: FuturesRoutes,
  { family, nth = 1, decimals, head }: RequestedFamily,
  text: string | undefined,
  defaultMonths: number,
  set: unknown,
) {
  const { futures } = routes
  const months = integerOf('months', text, defaultMonths, 1, 60)
  if (!futures.hasDays(family.code, { places: [nth] })) throw noQuotes(family.code)
  const today = futures.today(family.code)
  const from = monthsBefore(today, months)
  // One stretch further back, so that the first date in the range is told from one on which the
  // contract changed.
  const { days } = futures.page(
    family.code,
    { places: [nth] },
    dayAfter(from, -rollLookBackDays),
    today,
    0,
    Number.MAX_SAFE_INTEGER,
  )
  const prices = days.map((day, i) => ({
    date: day.tradedOn,
    price: roundTo(day.close, decimals),
    active_contract: day.code,
    rolled: days[i + 1] !== undefined && days[i + 1]!.code !== day.code,
  }))
  const inside = prices.filter(row => row.date >= from)
  const source = routes.mark(set, family, sourcesOf(days.slice(0, inside.length)))
  return {
    ...head,
    contract: contractCode(family.code, futures.listedMonth(family.code, nth)),
    months,
    source,
    roll_method: 'last_trading_day' as const,
    adjustment: 'none' as const,
    count: inside.length,
    prices: inside,
  }
}
