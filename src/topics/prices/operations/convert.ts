import { t } from '../../../http/answer/schema.ts'
import { dayOf, listOf } from '../../../http/input/query.ts'
import {
  codeParameter,
  dayParameter,
  numberParameter,
  textParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { asOfQuery, atPoint } from '../../../http/operations/point-in-time.ts'
import {
  invalidParameter,
  missingParameter,
  refusedParameter,
} from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import {
  isTargetUnit,
  productOf,
  targetUnits,
  unitsPer,
  wholeUnit,
} from '../../units/math/units.ts'
import { roundTo } from '../math/format.ts'
import { currencyOf, isMoney, rateOf } from './currency.ts'
import { noPrice } from './texts.ts'

const Priced = (
  description: string,
  value: number,
  currency: string,
  unit: string,
  unitPrice: number,
) =>
  t.Object(
    {
      amount: t.number('Number of units that `value` prices.', 1),
      value: t.Number({ examples: [value] }),
      unit_price: t.number('Price of one unit.', unitPrice),
      currency: t.orNull(t.String({ examples: [currency] })),
      unit: t.String({ examples: [unit] }),
    },
    { description },
  )

const Conversion = envelopeOf({
  code: t.String({ examples: ['WTI_USD'] }),
  amount: t.Number({ examples: [1] }),
  from: Priced('The price as it is quoted, times `amount`.', 71.23, 'USD', 'barrel', 71.23),
  to: Priced(
    'Without an amount, the price of one unit: `from.value` x `fx_rate` x `unit_factor`. With an amount, the same quantity of goods: `amount` / `unit_factor` units (apart from the hundredths of a price in pence), at the cost in `from`. Six decimals.',
    451.061,
    'EUR',
    'metric_ton',
    451.061,
  ),
  fx_rate: t.numberOrNull('Null without a requested currency.', 0.8639),
  unit_factor: t.number(
    'Units of `from` in one unit of `to`; a price in pence counts as hundredths.',
    7.33,
  ),
  as_of: t.instant('Time of the oldest observation used.'),
})

const decimals = 6
/** Decimals of converted amounts: a litre is a small part of a barrel. */
const amountDecimals = 9

/** The newest price of a code in another currency, per another unit, or both. */
export const convertOperations = [
  operation('GET /v1/prices/convert', {
    operationId: 'convertPrice',
    summary: 'Convert a price to another currency or unit',
    description: `Returns the converted amount. Currencies convert at the newest rates, or those of \`date\`, through USD or EUR where no series pairs them; without a rate that is at most seven days older than the price, the request is refused (400). Prices in pence are divided by 100 first.

Between volume, mass and heat the conventional factors of the product apply. Other products convert within volume, mass or heat only.

| Product | Barrels a metric ton | MMBtu a barrel (gross) |
|---|---|---|
| crude | 7.33 | 5.8 |
| gasoil, diesel | 7.45 | 5.77 |
| gasoline | 8.33 | 5.253 |
| jet | 7.88 | 5.67 |
| naphtha | 8.9 | 5.248 |
| high-sulphur fuel oil | 6.35 | 6.287 |
| propane | 12.4 | 3.841 |
| butane | 10.8 | 4.353 |
| ethanol | 7.92 | 3.539 |
| FAME | 7.15 | 5.359 |
| paraffinic diesel | 8.06 | 5.494 |

LNG has 53.38 MMBtu a metric ton.`,
    access: { meter: true, queryWorker: true, isLight: ({ as_of, date }) => !as_of && !date },
    query: {
      by_code: codeParameter('One code or alias.', 'WTI_USD', { required: true }),
      to_currency: textParameter(
        'Currency to convert to; absent: the currency of the price.',
        'EUR',
        { pattern: '^[A-Za-z]{3}$' },
      ),
      to_unit: wordParameter(
        targetUnits,
        `Unit to price by; absent: the unit of the price. One of: ${targetUnits.join(', ')}.`,
        'metric_ton',
      ),
      date: dayParameter(
        'Converts the last price of this day (UTC), or the one before it, at the rates of then; absent: the newest.',
        '2026-11-15',
      ),
      as_of: asOfQuery,
      amount: numberParameter(
        'How many units of the price to convert, above 0; absent: the price of one unit on either side.',
        1000,
        { minimum: 0 },
      ),
    },
    answers: { 200: Conversion, 400: CodeProblem, 404: NestedProblem },
    handle: ({ at: deps, query, request, reply, caller }) => {
      const { codes, meter, marks } = deps
      const requestedCodes = listOf(query.by_code)
      if (requestedCodes.length === 0)
        throw missingParameter('by_code', 'the code of the price to convert.')
      const commodity = codes.read(requestedCodes, request, 1)[0]!
      if (query.date) dayOf('date', query.date)
      const point = { as_of: query.as_of, end_date: query.date }
      const { conversion, legs } = atPoint(deps, point, reply, known =>
        conversionOf(known, commodity, query),
      )
      markFixtures(reply, marks, [commodity, ...legs])
      reply.headers['x-cache'] = 'MISS'
      meter.noteRequested(caller.key, [commodity.series.id])
      return success(conversion)
    },
  }),
]

interface ConversionParameters {
  to_currency?: string
  to_unit?: string
  amount?: string
}

/** The converted price, and the exchange rates that went in. */
function conversionOf(
  { latestPrices, catalogue, exchange, now }: Context,
  commodity: Resolved,
  query: ConversionParameters,
) {
  const { series, code } = commodity
  const amount = amountOf(query.amount)
  const isAmountGiven = query.amount !== undefined && query.amount !== ''
  const target = query.to_currency
    ? currencyOf('to_currency', query.to_currency, exchange, now())
    : undefined
  if (target !== undefined && !isMoney(series))
    throw refusedParameter('to_currency', target, `${code} is not a price in a currency.`)
  const unit = unitOf(series, query.to_unit, target !== undefined)
  const observation = latestPrices.quote(series)?.observation
  if (!observation) throw noPrice(commodity, latestPrices, catalogue)
  const fx =
    target !== undefined && isMoney(series)
      ? rateOf('to_currency', series, target, exchange, now(), observation.observedAt)
      : undefined
  const price = roundTo(observation.value, series.decimals)
  const convertedPrice = price * (fx?.rate ?? 1) * unit.factor
  // The same goods in the other unit: a barrel is less than a ton of them.
  const convertedAmount = isAmountGiven ? amount / unit.size : 1
  const conversion = {
    code,
    amount,
    from: {
      amount,
      value: roundTo(price * amount, decimals),
      unit_price: price,
      currency: series.currency,
      unit: series.unit,
    },
    to: {
      amount: roundTo(convertedAmount, amountDecimals),
      value: roundTo(convertedPrice * convertedAmount, decimals),
      unit_price: roundTo(convertedPrice, decimals),
      currency: target ?? series.currency,
      unit: unit.name,
    },
    fx_rate: fx?.rate ?? null,
    unit_factor: unit.factor,
    as_of: isoInstant(Math.min(observation.observedAt, fx?.asOf ?? Number.POSITIVE_INFINITY)),
  }
  return { conversion, legs: fx?.legs ?? [] }
}

function amountOf(text: string | undefined): number {
  if (text === undefined || text === '') return 1
  const amount = /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) : 0
  if (amount <= 0) throw invalidParameter('amount', text, 'a decimal number above 0')
  return amount
}

/**
 * The target unit; `size` is how many units of the price are in one, `factor` is the factor for a
 * price, in whole currency units as soon as anything is converted.
 */
function unitOf(
  series: Series,
  requestedUnit: string | undefined,
  converted: boolean,
): { name: string; factor: number; size: number } {
  const { unit, perWhole } = wholeUnit(series.unit)
  if (!requestedUnit)
    return converted
      ? { name: unit, factor: 1 / perWhole, size: 1 }
      : { name: series.unit, factor: 1, size: 1 }
  const name = requestedUnit.trim().toLowerCase()
  if (!isTargetUnit(name)) throw invalidParameter('to_unit', requestedUnit, targetUnits)
  const factor = unitsPer(unit, name, productOf(series.code, series.category))
  if (factor !== undefined)
    return { name, factor: Number((factor / perWhole).toPrecision(10)), size: factor }
  const possibleUnits = targetUnits.filter(
    candidate => unitsPer(unit, candidate, productOf(series.code, series.category)) !== undefined,
  )
  throw refusedParameter(
    'to_unit',
    requestedUnit,
    `${series.code} is priced per ${series.unit}, which cannot be converted.`,
    possibleUnits,
  )
}
