import { t } from '../../../http/answer/schema.ts'
import { pastInQueryWorker } from '../../../http/gate/access-kind.ts'
import { codeParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, missingParameter, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { hourMs, isoInstant } from '../../../lib/time/instant.ts'
import { monthsBetween, structureOf } from '../../futures/math/curve.ts'
import {
  type Family,
  type FamilyCode,
  families,
  familyByStructure,
  structureNames,
} from '../../futures/math/families.ts'
import { barrelsPerTonne } from '../../units/math/identities.ts'
import { gasoilCrack } from '../math/spread.ts'
import { calculated, instantField } from './indicator-shape.ts'
import { tidy, unitField, valueField } from './spread-row.ts'

const Component = t.Object({
  code: t.String({ examples: ['GASOIL_FUTURES_2026_12'] }),
  contract_month: t.String({ examples: ['2026-12'] }),
  price: t.Number({ examples: [702.5] }),
  unit: t.String({ examples: ['USD/t'] }),
  timestamp: instantField,
})

const GasoilCrack = t.object('GasoilCrack', {
  spread_type: t.Literal('gasoil_crack'),
  type: t.Literal('gasoil-crack'),
  name: t.String({ examples: ['Gasoil Crack'] }),
  value: t.Number({ examples: [19.2] }),
  unit: unitField,
  components: t.Object({ product: Component, crude: Component }),
  conversion: t.Object({
    barrels_per_tonne: t.Number({ examples: [barrelsPerTonne.gasoil] }),
    basis: t.String({ examples: ['gasoil (USD/t) / 7.45 - Brent (USD/bbl)'] }),
    gasoil_usd_per_bbl: t.Number({ examples: [94.3] }),
  }),
  timestamp: t.instant('Of the older leg.'),
})

const spreadOrNull = t.orNull(valueField, 'Null where the month has no price.')
const Month = t.Object({
  price: t.Number({ examples: [75.1] }),
  contract: t.String({ examples: ['BRENT_FUTURES_2027_01'] }),
})

const Structure = t.object('CurveStructure', {
  commodity: t.String({ examples: ['EXCH_BRENT'] }),
  display_name: t.String({ examples: ['Brent Futures'] }),
  structure: t.oneOf(['contango', 'backwardation', 'flat', 'mixed']),
  severity: t.oneOf(
    ['none', 'mild', 'moderate', 'steep'],
    'By absolute `term_slope_pct`: below 0.5 none, below 2 mild, below 5 moderate, otherwise steep.',
  ),
  term_slope_pct: t.numberOrNull(
    '100 x (m12 / m1 - 1), using the last month if there are fewer; null when m1 is 0.',
    -1.8,
  ),
  spreads: t.Object({ m1_m3: spreadOrNull, m1_m6: spreadOrNull, m1_m12: spreadOrNull }),
  front_month: Month,
  back_month_6: t.orNull(Month),
  curve_points: t.integer({ examples: [12] }),
  timestamp: t.instant('Of the front month.'),
})

function mark({ catalogue, marks }: Context, reply: Reply, contracts: readonly string[]): void {
  const matches = contracts.flatMap(code => {
    const series = catalogue.named(code)
    return series ? [{ series }] : []
  })
  markFixtures(reply, marks, matches)
}

const isServed = ({ limits, now }: Context, quotedAt: number): boolean =>
  now() - quotedAt <= limits.futuresMaxAgeHours * hourMs

/** The front month of a leg, or 404 that names the leg. */
function frontOf(deps: Context, leg: 'product' | 'crude', family: FamilyCode, unit: string) {
  const quote = deps.futures.front(family)
  if (quote && isServed(deps, quote.quotedAt)) {
    const { contractCode, contractMonth, price, quotedAt } = quote
    return {
      quote,
      row: {
        code: contractCode,
        contract_month: contractMonth,
        price,
        unit,
        timestamp: isoInstant(quotedAt),
      },
    }
  }
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `The gasoil crack is not available: its ${leg} leg (${family}) has no front-month price from the last ${deps.limits.futuresMaxAgeHours} hours.`,
    {
      leg,
      family,
      reason: quote ? 'stale' : 'no_price',
      ...(quote && { last_updated: isoInstant(quote.quotedAt) }),
    },
  )
}

function gasoilAnswer(deps: Context, reply: Reply) {
  const product = frontOf(deps, 'product', 'GASOIL_FUTURES', 'USD/t')
  const crude = frontOf(deps, 'crude', 'BRENT_FUTURES', 'USD/bbl')
  const crack = gasoilCrack(product.quote.price, crude.quote.price)
  mark(deps, reply, [product.row.code, crude.row.code])
  return success({
    spread_type: 'gasoil_crack' as const,
    type: 'gasoil-crack' as const,
    name: 'Gasoil Crack',
    value: tidy(crack.value),
    unit: 'USD/bbl',
    components: { product: product.row, crude: crude.row },
    conversion: {
      barrels_per_tonne: crack.barrelsPerTonne,
      basis: `gasoil (USD/t) / ${crack.barrelsPerTonne} - Brent (USD/bbl), front months`,
      gasoil_usd_per_bbl: tidy(crack.gasoilPerBarrel),
    },
    timestamp: isoInstant(Math.min(product.quote.quotedAt, crude.quote.quotedAt)),
  })
}

/** The structure of the contracts whose prices may be served; undefined without any. */
function structureRow(deps: Context, family: Family): typeof Structure.static | undefined {
  const points = (deps.futures.curve(family.code)?.points ?? []).filter(point =>
    isServed(deps, point.quotedAt),
  )
  const termStructure = structureOf(
    points.map(point => ({ month: point.contractMonth, price: point.price })),
  )
  const [front] = points
  if (!termStructure || !front) return undefined
  // By months from the front, not by place: a month between that has no price must not move the
  // others.
  const month = (n: number) =>
    points.find(point => monthsBetween(front.contractMonth, point.contractMonth) === n - 1)
  const spread = (n: number) => {
    const back = month(n)
    return back ? tidy(front.price - back.price) : null
  }
  const sixth = month(6)
  return {
    commodity: `${deps.exchangeWords[0]!.toUpperCase()}_${family.structureName}`,
    display_name: family.name,
    structure: termStructure.structure,
    severity: termStructure.severity,
    term_slope_pct: termStructure.termSlopePercent ?? null,
    spreads: { m1_m3: spread(3), m1_m6: spread(6), m1_m12: spread(12) },
    front_month: { price: front.price, contract: front.contractCode },
    back_month_6: sixth ? { price: sixth.price, contract: sixth.contractCode } : null,
    curve_points: termStructure.points,
    timestamp: isoInstant(front.quotedAt),
  }
}

const withoutCurve = ({ limits }: Context, subject: string): Problem =>
  new Problem(
    'DATA_NOT_AVAILABLE',
    `${subject} no contract with a price from the last ${limits.futuresMaxAgeHours} hours.`,
    {
      reason: 'no_current_curve',
    },
  )

function structureAnswer(deps: Context, text: string | undefined, request: Request, reply: Reply) {
  const names = structureNames(deps.exchangeWords)
  const name =
    text?.trim() || (deps.switched(request, 'curve_structure_default') ? names[0] : undefined)
  if (name === undefined) throw missingParameter('commodity', `one of ${names.join(', ')}.`)
  const family = familyByStructure(name, deps.exchangeWords)
  if (!family) throw invalidParameter('commodity', name, names)
  const row = structureRow(deps, family)
  if (!row) throw withoutCurve(deps, `${family.code} has`)
  mark(deps, reply, [row.front_month.contract])
  return success(row)
}

function allStructures(deps: Context, reply: Reply) {
  const rows = families.flatMap(family =>
    family.structureName === undefined ? [] : (structureRow(deps, family) ?? []),
  )
  if (rows.length === 0) throw withoutCurve(deps, 'There is')
  mark(
    deps,
    reply,
    rows.map(row => row.front_month.contract),
  )
  return { ...success(rows), meta: { count: rows.length } }
}

/** Spreads of the futures curves: the gasoil crack and the term structures. */
export function spreadCurveOperations(deps: Context) {
  const names = structureNames(deps.exchangeWords)
  const hours = deps.limits.futuresMaxAgeHours
  const description = `Returns the term structure of the first twelve listed months, from the contracts with a price from the last ${hours} hours. \`m1_mN\` is month 1 minus month N, so that positive spreads are backwardation; \`term_slope_pct\` = 100 x (m12 / m1 - 1); the structure is flat inside +-0.5%, mixed when most steps go the other way than front to back.`
  return [
    operation('GET /v1/spreads/gasoil-crack', {
      operationId: 'getGasoilCrack',
      summary: 'Get the front-month gasoil crack',
      description: `Returns front-month gasoil in USD per tonne / ${barrelsPerTonne.gasoil} minus front-month Brent in USD per barrel. A leg without a price from the last ${hours} hours is a 404 whose \`leg\` is \`product\` or \`crude\`.`,
      access: calculated,
      view: 'as_of',
      answers: { 200: envelope(GasoilCrack), 404: NestedProblem },
      handle: ({ at: deps, reply }) => gasoilAnswer(deps, reply),
    }),
    operation('GET /v1/spreads/curve-structure', {
      operationId: 'getCurveStructure',
      summary: 'Get the term structure of a futures curve',
      description,
      access: { ...calculated, ...pastInQueryWorker },
      view: 'as_of',
      query: {
        commodity: codeParameter(
          `Required: one of ${names.join(', ')}; a family code or a slug is accepted too.`,
          names[0]!,
          { required: true },
        ),
      },
      answers: { 200: envelope(Structure), 404: NestedProblem },
      handle: ({ at: deps, query, request, reply }) =>
        structureAnswer(deps, query.commodity, request, reply),
    }),
    operation('GET /v1/spreads/curve-structure/all', {
      operationId: 'listCurveStructures',
      summary: 'List the term structures of all futures curves',
      description: `${description} Curves without such a contract are omitted; 404 if none has one.`,
      access: { ...calculated, ...pastInQueryWorker },
      view: 'as_of',
      answers: {
        200: t.Object({
          status: t.Literal('success'),
          data: t.Array(Structure),
          meta: t.Object({ count: t.integer({ examples: [5] }) }),
        }),
        404: NestedProblem,
      },
      handle: ({ at: deps, reply }) => allStructures(deps, reply),
    }),
  ]
}
