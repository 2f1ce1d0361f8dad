import { t } from '../../../http/answer/schema.ts'
import { momentParameter } from '../../../http/input/typed.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import { analyseCurve, monthsBetween } from '../math/curve.ts'
import type { Curve as FuturesCurve } from '../service/quotes.ts'
import {
  type FuturesRoutes,
  type RequestedFamily,
  readDate,
  rollRule,
  slugParams,
} from './query.ts'
import {
  CurvePointShape,
  codeField,
  countField,
  curvePointRow,
  dayField,
  familyFields,
  instantField,
  monthField,
  priceField,
  sourceField,
} from './shape.ts'

const noData = 'No futures data available for curve analysis'

const Curve = t.object('FuturesCurve', {
  ...familyFields,
  source: sourceField,
  analysis_date: t.date('Trading date of the newest quote.', '2026-11-20'),
  curve_type: t.oneOf(
    ['contango', 'backwardation', 'flat', 'mixed'],
    '`flat` within 0.5 percent from front to back; `mixed` when most steps go the other way than front to back.',
  ),
  total_contracts: countField,
  front_month: CurvePointShape,
  back_month: CurvePointShape,
  contracts: t.Array(CurvePointShape, { description: 'Nearest first.' }),
  curve: t.objects('The contracts once more in a shorter spelling.', {
    month: monthField,
    price: priceField,
    expiration: dayField,
    months_out: t.integer('Months from the front month.', 0),
    contract: codeField,
  }),
  curve_metrics: t.Object({
    front_month_price: priceField,
    back_month_price: priceField,
    total_slope: t.number('Back minus front.', -1.4),
    slope_percentage: t.numberOrNull(
      'The same in percent of the front; null when that is 0.',
      -1.95,
    ),
    average_price: priceField,
    price_range: t.number('Highest minus lowest.', 1.6),
    steepness: t.oneOf(
      ['flat', 'moderate', 'steep'],
      'By the size of the slope: under 0.5 percent flat, under 5 moderate.',
    ),
  }),
  updated_at: instantField,
})
export type Curve = (typeof Curve)['static']

const NoCurve = t.Object(
  {
    error: t.Literal(noData),
    date: dayField,
    contracts: t.Array(CurvePointShape, { maxItems: 0 }),
  },
  { title: 'NoFuturesCurve', description: 'There are no quotes at all.' },
)
export type NoCurve = (typeof NoCurve)['static']

export const futuresCurveOperations = (routes: FuturesRoutes) => [
  operation('GET /v1/futures/:slug/curve', {
    operationId: 'getFuturesCurve',
    summary: 'Get a forward curve',
    description: `Returns the listed contracts that have a quote, nearest first, with their settlements; until one is published, with the last trade (\`settlement_basis\`). ${rollRule} Without any quote, the response is 200 with \`error\` and an empty list.`,
    access: { ...routes.every, queryWorker: true },
    view: 'as_of',
    unpaged: true,
    params: slugParams.properties,
    query: {
      date: momentParameter('The curve as it was at the end of a day; default: now.', '2026-11-19'),
    },
    answers: t.Union([Curve, NoCurve]),
    handle: ({ at: { futures }, params, query, reply }) => {
      const requested = routes.familyOf(params.slug)
      const day = readDate(query.date)
      const curve = futures.curve(requested.family.code, day)
      const source = routes.mark(
        reply,
        requested.family,
        curve?.points.map(point => point.source) ?? [],
      )
      if (curve) return curveAnswer(requested, curve, source)
      return {
        error: noData,
        date: day ?? futures.today(requested.family.code),
        contracts: [],
      } as {
        error: typeof noData
        date: string
        contracts: []
      }
    },
  }),
]

function curveAnswer(
  { decimals, head }: RequestedFamily,
  { day, points }: FuturesCurve,
  source: string,
) {
  const round = (value: number) => roundTo(value, decimals)
  const rows = points.map(point => curvePointRow(point, day, decimals))
  const analysis = analyseCurve(
    points.map(point => ({ month: point.contractMonth, price: point.price })),
  )!
  return {
    ...head,
    source,
    analysis_date: day,
    curve_type: analysis.shape,
    total_contracts: rows.length,
    front_month: rows[0]!,
    back_month: rows.at(-1)!,
    contracts: rows,
    curve: rows.map(row => ({
      month: row.contract_month,
      price: row.price,
      expiration: row.expiry_date,
      months_out: monthsBetween(rows[0]!.contract_month, row.contract_month),
      contract: row.contract,
    })),
    curve_metrics: {
      front_month_price: round(analysis.front.price),
      back_month_price: round(analysis.back.price),
      total_slope: round(analysis.totalSlope),
      slope_percentage:
        analysis.slopePercent === undefined ? null : roundTo(analysis.slopePercent, 2),
      average_price: round(analysis.averagePrice),
      price_range: round(analysis.priceRange),
      steepness: analysis.steepness,
    },
    updated_at: isoInstant(Math.max(...points.map(point => point.quotedAt))),
  }
}
