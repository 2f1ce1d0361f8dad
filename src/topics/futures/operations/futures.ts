import { t } from '../../../http/answer/schema.ts'
import { pastInQueryWorker } from '../../../http/gate/access-kind.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs, hourMs, isoInstant } from '../../../lib/time/instant.ts'
import { isOpen, rollIndicator, tradingDays } from '../math/contracts.ts'
import { contractCode } from '../math/families.ts'
import { futuresContinuousOperations } from './continuous.ts'
import { futuresCurveOperations } from './curve.ts'
import { futuresDaysOperations } from './days.ts'
import { futuresHistoryOperations } from './history.ts'
import {
  createFuturesRoutes,
  describeSource,
  noQuotes,
  type RequestedFamily,
  refuseStale,
  slugParams,
  sourcesOf,
} from './query.ts'
import { Contract, contractRow, familyFields, instantField, sourceField } from './shape.ts'
import { futuresShortcutsOperations } from './shortcuts.ts'
import { futuresSpreadHistoryOperations } from './spread-history.ts'
import { futuresSpreadsOperations } from './spreads.ts'

const settlementTime = '19:30 GMT' as const
const updateSeconds = 300 as const
const warningAgeMs = dayMs

const Current = t.object('Futures', {
  ...familyFields,
  name: t.String({ examples: ['WTI Futures'] }),
  source: sourceField,
  data_source: sourceField,
  updated_at: instantField,
  settlement_date: t.orNull(
    t.String({ format: 'date' }),
    'Trading date of the settlements shown; null while none is.',
  ),
  trading_hours: t.Object({
    timezone: t.String({ examples: ['America/New_York'] }),
    open: t.string('Local time; later than the close: on the evening before.', '18:00'),
    close: t.String({ examples: ['17:00'] }),
    days: t.Array(t.String({ examples: ['Monday'] }), {
      description: 'Days on which a session ends.',
    }),
    is_open: t.Boolean(),
  }),
  front_month: t.orNull(Contract, 'Null if the first listed month has no quote.'),
  contracts: t.Array(Contract, {
    description: 'Nearest first; contracts past their last trading day are left out.',
  }),
  roll_indicator: t.Optional(
    t.Object(
      {
        should_roll: t.boolean('With 3 days or fewer.'),
        days_remaining: t.integer({ examples: [5] }),
        next_contract: t.String({ examples: ['WTI_FUTURES_2027_02'] }),
        message: t.String(),
      },
      { description: 'True if the front month has 7 days or fewer left.' },
    ),
  ),
  data_age_warning: t.Optional(t.string('True if the newest quote is older than 24 hours.')),
  metadata: t.Object({
    total_contracts: t.integer({ examples: [12] }),
    data_source: sourceField,
    front_month_contract: t.String({ examples: ['WTI_FUTURES_2027_01'] }),
    settlement_time: t.Literal(settlementTime),
    update_interval_seconds: t.Literal(updateSeconds),
    source_description: t.String(),
  }),
})
export type Futures = (typeof Current)['static']

/** Futures by family: current quotes, history, curves and spreads. */
export function futuresOperations(deps: Context & { maxAgeHours: number; ohlcDaysMax: number }) {
  const routes = createFuturesRoutes(deps)

  const current = (
    { futures: markets, now }: Context,
    { family, decimals, head }: RequestedFamily,
    set: Reply,
  ) => {
    const { code, name, hours } = family
    const quotes = markets.quotes(code)
    const fresh = markets.freshness(code)
    if (!fresh) throw noQuotes(code)
    refuseStale(family, fresh, deps.maxAgeHours)
    const contracts = quotes.map(quote => contractRow(quote, family, decimals))
    const source = routes.mark(set, family, sourcesOf(quotes.map(quote => quote.day)))
    const roll = rollIndicator(code, markets.today(code))
    return {
      ...head,
      name,
      source,
      data_source: source,
      updated_at: isoInstant(Math.max(...quotes.map(quote => quote.day.quotedAt))),
      settlement_date:
        contracts.find(contract => contract.settlement !== null)?.trading_date ?? null,
      trading_hours: { ...hours, days: [...tradingDays], is_open: isOpen(family, now()) },
      front_month: contracts.find(contract => contract.is_front_month) ?? null,
      contracts,
      ...(roll && {
        roll_indicator: {
          should_roll: roll.shouldRoll,
          days_remaining: roll.daysRemaining,
          next_contract: contractCode(code, roll.nextMonth),
          message: roll.message,
        },
      }),
      ...(fresh.ageMs > warningAgeMs && {
        data_age_warning: `The newest quote is ${Math.floor(fresh.ageMs / hourMs)} hours old; over ${deps.maxAgeHours} hours prices are not served.`,
      }),
      metadata: {
        total_contracts: contracts.length,
        data_source: source,
        front_month_contract: contractCode(code, markets.listedMonth(code, 1)),
        settlement_time: settlementTime,
        update_interval_seconds: updateSeconds,
        source_description: describeSource(source),
      },
    }
  }

  return [
    ...futuresShortcutsOperations(routes),
    ...futuresHistoryOperations(routes),
    ...futuresContinuousOperations(routes),
    ...futuresDaysOperations(deps, routes),
    ...futuresCurveOperations(routes),
    ...futuresSpreadsOperations(routes),
    ...futuresSpreadHistoryOperations(deps, routes),
    operation('GET /v1/futures/:slug', {
      operationId: 'getFutures',
      summary: 'Get current futures quotes of a family',
      description: `Returns the listed contract months with their newest quotes, nearest first. Contracts past their last trading day are left out; the trading date follows the family's own hours and zone. A front quote older than ${deps.maxAgeHours} hours is refused (\`DATA_TOO_STALE\`); gasoil and natural gas also when it falls behind the running session (\`LIVE_DATA_STALE\`).`,
      access: { ...routes.every, ...pastInQueryWorker },
      view: 'as_of',
      params: slugParams.properties,
      answers: { 200: Current, 503: NestedProblem },
      handle: ({ at, params, reply }) => current(at, routes.familyOf(params.slug), reply),
    }),
  ]
}
