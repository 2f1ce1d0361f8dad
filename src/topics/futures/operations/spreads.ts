import { t } from '../../../http/answer/schema.ts'
import { momentParameter, parsed } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import { type Close, commonDays, dayAfter } from '../../prices/math/window.ts'
import { calendarPairs, calendarSpread } from '../math/curve.ts'
import type { CurvePoint } from '../service/quotes.ts'
import {
  type FuturesRoutes,
  noQuotes,
  priceRule,
  type RequestedFamily,
  readDate,
  rollRule,
  slugParams,
} from './query.ts'
import {
  codeField,
  countField,
  dayField,
  familyFields,
  instantField,
  monthField,
  priceField,
  spreadField,
  spreadPercentField,
} from './shape.ts'

export const Spread = t.object('CalendarSpread', {
  contract1: codeField,
  contract2: t.String({ examples: ['WTI_FUTURES_2027_02'] }),
  month1: monthField,
  month2: t.String({ examples: ['2027-02'] }),
  spread: spreadField,
  spread_percent: spreadPercentField,
  price1: priceField,
  price2: priceField,
  average: t.number('Of the prices of the common dates of the period.', 0.18),
  min: t.Number({ examples: [-0.05] }),
  max: t.Number({ examples: [0.44] }),
  timestamp: t.instant('Of the older quote.'),
})
export type Spread = (typeof Spread)['static']

export const Spreads = t.object('CalendarSpreads', {
  ...familyFields,
  date: dayField,
  days: t.integer({ examples: [30] }),
  spreads: t.Array(Spread, {
    description: 'Neighbouring months in order, then the first against the 3rd, 6th and 12th.',
  }),
  data: t.Array(Spread, { description: 'The same list.' }),
  count: countField,
  updated_at: instantField,
})
export type Spreads = (typeof Spreads)['static']

/** Spreads between the months of one family as they are now. */
export const futuresSpreadsOperations = (routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/spreads', {
    operationId: 'getFuturesSpreads',
    summary: 'List calendar spreads',
    description: `Returns the differences of the prices of listed contracts, first minus second, and their average, minimum and maximum over the period. ${rollRule} ${priceRule}`,
    access: { ...routes.full, heavy: true },
    view: 'as_of',
    params: slugParams.properties,
    query: {
      days: parsed.integer('Calendar days that average, min and max are of', [1, 365], 30),
      date: momentParameter('Trading date; default: the latest.', '2026-11-19'),
    },
    answers: Spreads,
    handle: ({ at, params, query, reply }) =>
      spreadsAnswer(routes.at(at), routes.familyOf(params.slug), query, reply),
  }),
]

function spreadsAnswer(
  routes: FuturesRoutes,
  requested: RequestedFamily,
  query: { days: number; date?: string },
  set: Reply,
) {
  const { futures } = routes
  const { family, decimals, head } = requested
  const { days } = query
  const curve = futures.curve(family.code, readDate(query.date))
  if (!curve) throw noQuotes(family.code)
  const { day: date, points } = curve
  const closes = points.map(point =>
    futures.curvePricesOf(
      family.code,
      { month: point.contractMonth },
      dayAfter(date, 1 - days),
      date,
    ),
  )
  const rows = calendarPairs(points.length).map(([i, j]) =>
    spreadRow(
      points[i - 1]!,
      points[j - 1]!,
      differences(closes[i - 1]!, closes[j - 1]!),
      decimals,
    ),
  )
  routes.mark(
    set,
    family,
    points.map(point => point.source),
  )
  const updatedAt = Math.max(...points.map(point => point.quotedAt))
  return {
    ...head,
    date,
    days,
    spreads: rows,
    data: rows,
    count: rows.length,
    updated_at: isoInstant(updatedAt),
  }
}

/** `history`: the spread on the common dates of the period. */
function spreadRow(
  first: CurvePoint,
  second: CurvePoint,
  history: readonly number[],
  decimals: number,
) {
  const round = (value: number) => roundTo(value, decimals)
  const { spread, percent } = calendarSpread(first.price, second.price)
  const all = history.length > 0 ? history : [spread]
  return {
    contract1: first.contractCode,
    contract2: second.contractCode,
    month1: first.contractMonth,
    month2: second.contractMonth,
    spread: round(spread),
    spread_percent: percent === undefined ? null : roundTo(percent, 2),
    price1: round(first.price),
    price2: round(second.price),
    average: round(all.reduce((sum, value) => sum + value, 0) / all.length),
    min: round(Math.min(...all)),
    max: round(Math.max(...all)),
    timestamp: isoInstant(Math.min(first.quotedAt, second.quotedAt)),
  }
}

/** First minus second on their common dates. */
const differences = (first: readonly Close[], second: readonly Close[]): number[] =>
  commonDays([first, second]).map(({ values }) => values[0]! - values[1]!)
