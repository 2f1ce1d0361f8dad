import { t } from '../../../http/answer/schema.ts'
import { type Page, PageMetaShape } from '../../../http/input/page.ts'
import { textParameter } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { missingParameter } from '../../../http/problem/problem.ts'
import type { Switched } from '../../../http/profiles/profiles.ts'
import { roundTo } from '../../prices/math/format.ts'
import { curvePrice } from '../math/contract-days.ts'
import { calendarSpread } from '../math/curve.ts'
import { contractCode } from '../math/families.ts'
import {
  checkOrder,
  type FuturesRoutes,
  noQuotes,
  priceRule,
  type RangeParameters,
  type RequestedFamily,
  rangeQuery,
  readContract,
  readDays,
  readRange,
  rollRule,
  slugParams,
  sourcesOf,
} from './query.ts'
import {
  countField,
  dayField,
  familyFields,
  priceField,
  spreadField,
  spreadPercentField,
} from './shape.ts'

const perPageMax = 100

const SpreadHistory = t.object('SpreadHistory', {
  family: t.String({ examples: ['WTI_FUTURES'] }),
  ...familyFields,
  contract1: t.string('Contract code, or the place on the curve of each date.', '1'),
  contract2: t.String({ examples: ['2'] }),
  period: t.Object({ from: dayField, to: dayField }),
  count: countField,
  history: t.Array(
    t.Object({
      date: dayField,
      spread: spreadField,
      spread_percent: spreadPercentField,
      price1: priceField,
      price2: priceField,
    }),
  ),
  meta: PageMetaShape,
})

interface HistoryQuery extends RangeParameters {
  contract1?: string
  contract2?: string
}

/** The spread between two months of one family over time. */
export const futuresSpreadHistoryOperations = ({ switched }: Context, routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/spread-history', {
    operationId: 'getFuturesSpreadHistory',
    summary: 'List historical calendar spreads',
    description: `Returns the first price minus the second on every trading date that both have, newest first. \`from\` and \`to\` are required. ${rollRule} ${priceRule}`,
    access: { ...routes.full, heavy: true },
    view: 'as_of',
    params: slugParams.properties,
    page: { max: perPageMax },
    query: {
      ...rangeQuery({ sampled: true }),
      contract1: textParameter(
        '`YYYY-MM`, a contract code, or N: the Nth contract of the curve of each date (default: 1).',
        '1',
        { default: '1' },
      ),
      contract2: textParameter('The same for the second leg (default: 2).', '2', {
        default: '2',
      }),
    },
    answers: SpreadHistory,
    handle: ({ at, params, query, page, request, reply }) =>
      spreadHistoryAnswer(routes.at(at), switched, routes.familyOf(params.slug), query, {
        page,
        request,
        reply,
      }),
  }),
]

function spreadHistoryAnswer(
  routes: FuturesRoutes,
  switched: Switched,
  requested: RequestedFamily,
  query: HistoryQuery,
  { page, request, reply }: { page: Page; request: Request; reply: Reply },
) {
  const { futures } = routes
  const { family, decimals, head, nth = 1 } = requested
  const range = readDays(query)
  const usesDefaultRange =
    range.from === undefined &&
    range.to === undefined &&
    switched(request, 'spread_history_default')
  const { from, to } = usesDefaultRange ? readRange({}, futures.today(family.code)) : range
  if (from === undefined)
    throw missingParameter('from', 'the first trading date, such as 2026-10-01.')
  if (to === undefined) throw missingParameter('to', 'the last trading date, such as 2026-11-20.')
  checkOrder(from, to)
  const first = legOf(routes, requested, 'contract1', query.contract1, nth, from, to)
  const second = legOf(routes, requested, 'contract2', query.contract2, nth + 1, from, to)
  const others = new Map(second.days.map(day => [day.tradedOn, curvePrice(day)]))
  const round = (value: number) => roundTo(value, decimals)
  const rows = first.days.flatMap(day => {
    const { tradedOn } = day
    const [price, other] = [curvePrice(day), others.get(tradedOn)]
    if (other === undefined) return []
    const { spread, percent } = calendarSpread(price, other)
    const spreadPercent = percent === undefined ? null : roundTo(percent, 2)
    return [
      {
        date: tradedOn,
        spread: round(spread),
        spread_percent: spreadPercent,
        price1: round(price),
        price2: round(other),
      },
    ]
  })
  const meta = page.meta(rows.length)
  routes.mark(reply, family, sourcesOf(first.days))
  const pageRows = rows.slice(page.offset, page.offset + page.perPage)
  return {
    family: family.code,
    ...head,
    contract1: first.name,
    contract2: second.name,
    period: { from, to },
    count: pageRows.length,
    history: pageRows,
    meta,
  }
}

/** One leg of a spread: a contract, or a place on the curve of each date. */
function legOf(
  { futures }: FuturesRoutes,
  { family }: RequestedFamily,
  parameter: string,
  text: string | undefined,
  fallback: number,
  from: string,
  to: string,
) {
  const contract = readContract(parameter, text, family) ?? { nth: fallback }
  const selection = 'month' in contract ? contract : { places: [contract.nth], ofCurve: true }
  if (!futures.hasDays(family.code, selection))
    throw noQuotes('month' in contract ? contractCode(family.code, contract.month) : family.code)
  return {
    name: 'month' in contract ? contractCode(family.code, contract.month) : String(contract.nth),
    days: futures.page(family.code, selection, from, to, 0, Number.MAX_SAFE_INTEGER).days,
  }
}
