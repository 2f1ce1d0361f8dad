import { t } from '../../../http/answer/schema.ts'
import { type Page, PageMetaShape } from '../../../http/input/page.ts'
import { parsed } from '../../../http/input/typed.ts'
import type { Reply } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { longIntervals } from '../../prices/math/bars.ts'
import { intervalOf, intervalParameter } from '../../prices/operations/window-query.ts'
import { contractCode } from '../math/families.ts'
import type { ContractSelection } from '../service/contract-history.ts'
import type { Futures } from '../service/futures.ts'
import {
  contractQuery,
  describeSource,
  type FuturesRoutes,
  monthOf,
  noQuotes,
  type RangeParameters,
  type RequestedFamily,
  rangeQuery,
  readRange,
  slugParams,
  sourcesOf,
} from './query.ts'
import { Bar, barRow, codeField, dayField, familyFields, sourceField } from './shape.ts'

const perPageMax = 100
const barIntervals = ['day', ...longIntervals] as const
type BarInterval = (typeof barIntervals)[number]

const Historical = t.object('FuturesHistory', {
  ...familyFields,
  source: sourceField,
  contract: t.orNull(codeField, 'Null: on each date the nearest contracts.'),
  period: t.Object({
    from: dayField,
    to: dayField,
    interval: t.oneOf(barIntervals),
  }),
  count: t.integer('Rows on this page.', 20),
  prices: t.Array(Bar),
  metadata: t.Object({
    continuous: t.boolean('Whether the contract changes with the front month.'),
    source_description: t.String(),
  }),
  meta: PageMetaShape,
})

interface HistoryQuery extends RangeParameters {
  contract?: string
  contracts: number
  interval?: string
}

/** Bars of contracts by date. */
export const futuresHistoryOperations = (routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/historical', {
    operationId: 'getFuturesHistory',
    summary: 'List daily, weekly or monthly futures bars',
    description:
      'Returns bars by trading date, newest first. Default: the last 30 days. Without `contract` they are those of the front month of each date, which changes after its last trading day. Weeks and months merge the bars of their dates; bars of different contracts are never merged, so that a week or month in which the front month changes has one for each. `volume` is null where the source has none.',
    access: { ...routes.every, heavy: true },
    view: 'as_of',
    params: slugParams.properties,
    page: { max: perPageMax },
    query: {
      ...contractQuery('on each date its front month'),
      ...rangeQuery(),
      interval: intervalParameter('`day` (default), `week` (from Monday) or `month`.'),
      contracts: parsed.integer(
        'Without `contract`: how many of the nearest months of each date',
        [1, 12],
        1,
        3,
      ),
    },
    answers: { 200: Historical, 400: CodeProblem },
    handle: ({ at, params, query, page, reply }) =>
      historyAnswer(routes.at(at), routes.familyOf(params.slug), query, page, reply),
  }),
]

function historyAnswer(
  routes: FuturesRoutes,
  requested: RequestedFamily,
  query: HistoryQuery,
  page: Page,
  set: Reply,
) {
  const { futures } = routes
  const { family, decimals, head } = requested
  const month = monthOf(futures, requested, query.contract)
  const { contracts: places } = query
  const interval = barIntervalOf(query.interval)
  const { from, to } = readRange(query, futures.today(family.code))
  const selection: ContractSelection =
    month === undefined ? { places: Array.from({ length: places }, (_, i) => i + 1) } : { month }
  if (!futures.hasDays(family.code, selection))
    throw noQuotes(month === undefined ? family.code : contractCode(family.code, month))
  const { days, total } = barsOf(
    futures,
    family.code,
    selection,
    interval,
    { from, to },
    page.offset,
    page.perPage,
  )
  const meta = page.meta(total)
  const source = routes.mark(set, family, sourcesOf(days))
  return {
    ...head,
    source,
    contract: month === undefined ? null : contractCode(family.code, month),
    period: { from, to, interval },
    count: days.length,
    prices: days.map(day => barRow(day, decimals)),
    metadata: { continuous: month === undefined, source_description: describeSource(source) },
    meta,
  }
}

function barIntervalOf(text: string | undefined): BarInterval {
  const interval = intervalOf(text) ?? 'day'
  const barInterval = barIntervals.find(candidate => candidate === interval)
  if (!barInterval) throw invalidParameter('interval', text, barIntervals)
  return barInterval
}

function barsOf(
  futures: Futures,
  code: Parameters<Futures['page']>[0],
  selection: ContractSelection,
  interval: BarInterval,
  { from, to }: { from: string; to: string },
  offset: number,
  limit: number,
) {
  if (interval === 'day') return futures.page(code, selection, from, to, offset, limit)
  const days = futures.merged(code, selection, interval, from, to)
  return { days: days.slice(offset, offset + limit), total: days.length }
}
