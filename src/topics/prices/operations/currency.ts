import { t } from '../../../http/answer/schema.ts'
import { invalidParameter, refusedParameter } from '../../../http/problem/problem.ts'
import { oneOf } from '../../../lib/text/wrong-value.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { wholeUnit } from '../../units/math/units.ts'
import { formatPrice, roundTo } from '../math/format.ts'
import type { Fx, Rate } from '../service/fx.ts'
import { PriceRow } from './row.ts'

/** The requested currency, upper case; refused when there is no rate to it. */
export function currencyOf(parameter: string, text: string, exchange: Fx, now: number): string {
  const currency = text.trim().toUpperCase()
  const currencies = exchange.currencies(now)
  if (currencies.includes(currency)) return currency
  throw invalidParameter(
    parameter,
    text,
    `a currency with an exchange rate: ${oneOf(currencies)}`,
    currencies,
  )
}

/**
 * The rate from a series' currency into `currency` for a price of `pricedAt`, or the refusal that
 * names both.
 */
export function rateOf(
  parameter: string,
  series: Series & { currency: string },
  currency: string,
  exchange: Fx,
  now: number,
  pricedAt: number,
): Rate {
  const rate = exchange.rate(series.currency, currency, now, pricedAt)
  if (rate) return rate
  throw refusedParameter(
    parameter,
    currency,
    `${series.code}: ${noRate(series.currency, currency, pricedAt)}`,
  )
}

/** Why a price of a moment is not converted. */
export const noRate = (from: string, to: string, pricedAt: number): string =>
  `No exchange rate from ${from} to ${to} is available for a price of ${isoDay(pricedAt)}. Rates may be at most seven days older than the price.`

/**
 * Whether a series is a price in money: exchange rates are in a currency too, but a rate in a third
 * currency means nothing.
 */
export const isMoney = (series: Series): series is Series & { currency: string } =>
  series.currency !== null && series.category !== 'fx'

export const conversionFields = {
  original_price: t.number('The original price.', 71.23),
  original_currency: t.String({ examples: ['USD'] }),
  original_unit: t.string(
    'Pence prices are converted per whole unit: `pence_per_therm` becomes `therm`.',
    'barrel',
  ),
  fx_rate: t.number('Of one `original_currency` in `currency`.', 0.8639),
  fx_as_of: t.instant('Time of the oldest rate used.'),
}

export const ConvertedRow = t.Object({
  ...PriceRow.properties,
  ...t.Partial(t.Object(conversionFields)).properties,
})
export type ConvertedRow = (typeof ConvertedRow)['static']

/**
 * The conversion of a series' values to another currency: whole units, and the number of decimals.
 */
export function conversionOf(series: Series, from: string, rate: number) {
  const { unit, perWhole } = wholeUnit(from)
  // Pence become pounds with the same precision, and no currency is shown in less than hundredths.
  const decimals = Math.max(2, series.decimals) + (perWhole === 100 ? 2 : 0)
  return { unit, decimals, exact: (value: number) => (value / perWhole) * rate }
}

/**
 * A price row in another currency; its percentages stay, because one rate converts the price and
 * its base.
 */
export function convertedRow(
  row: PriceRow,
  series: Series & { currency: string },
  currency: string,
  { rate, asOf }: Rate,
  isFull = false,
): ConvertedRow {
  const { unit, decimals, exact } = conversionOf(series, row.unit, rate)
  const converted = (value: number) => roundTo(exact(value), decimals)
  const shown = isFull ? exact : converted
  return {
    ...row,
    price: shown(row.price),
    formatted: formatPrice(converted(row.price), decimals, currency, unit, false),
    currency,
    unit,
    change_24h: row.change_24h === null ? null : shown(row.change_24h),
    changes: Object.fromEntries(
      Object.entries(row.changes).map(([span, change]) => [
        span,
        {
          ...change,
          amount: shown(change.amount),
          previous_price: shown(change.previous_price),
        },
      ]),
    ),
    original_price: row.price,
    original_currency: series.currency,
    original_unit: row.unit,
    fx_rate: rate,
    fx_as_of: isoInstant(asOf),
  }
}
