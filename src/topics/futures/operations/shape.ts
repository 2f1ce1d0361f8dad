import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { ContractDay } from '../math/contract-days.ts'
import { monthsBetween } from '../math/curve.ts'
import type { Family } from '../math/families.ts'
import type { ContractQuote, CurvePoint } from '../service/quotes.ts'

export const dayField = t.String({ format: 'date', examples: ['2026-11-20'] })
export const instantField = t.String({ format: 'date-time', examples: ['2026-11-20T14:55:00Z'] })
export const monthField = t.string('Contract month, `YYYY-MM`.', '2027-01')
export const codeField = t.String({ examples: ['WTI_FUTURES_2027_01'] })
export const priceField = t.Number({ examples: [71.87] })
export const countField = t.integer({ examples: [12] })
export const sourceField = t.string('Source of the numbers.', 'market_reporting')
export const openInterestOrNull = t.integerOrNull('Null until it is published.', 284113)
export const volumeOrNull = t.integerOrNull(
  'Contracts traded; null where the source does not say.',
  301442,
)
const settlementOrNull = t.orNull(
  priceField,
  'Settlement as the exchange published it; null until then, and never derived from the close.',
)

export const spreadField = t.number('First minus second.', 0.21)
export const spreadPercentField = t.numberOrNull(
  'In percent of the second; null when that is 0.',
  0.29,
)

/** The first fields of every response about a family. */
export const familyFields = {
  commodity: t.string('Code of the family.', 'WTI_FUTURES'),
  slug: t.String({ examples: ['exch-wti'] }),
  currency: t.String({ examples: ['USD'] }),
  unit: t.String({ examples: ['barrel'] }),
}

export const Contract = t.object('FuturesContract', {
  contract_month: monthField,
  contract_code: codeField,
  code: codeField,
  contract: codeField,
  last_price: priceField,
  price: priceField,
  currency: t.String({ examples: ['USD'] }),
  unit: t.String({ examples: ['barrel'] }),
  open: priceField,
  close: priceField,
  high: priceField,
  low: priceField,
  volume: volumeOrNull,
  change: t.numberOrNull(
    'Change since the settlement of the previous trading date, or its close if there is none.',
    0.42,
  ),
  change_percent: t.orNull(t.Number({ examples: [0.59] })),
  days_to_expiry: t.integer({ examples: [29] }),
  contract_status: t.oneOf(
    ['front_month', 'near_expiry', 'active', 'expired'],
    '`near_expiry` with 7 days or fewer, otherwise `front_month` for the first listed month and `active` for the others.',
  ),
  is_front_month: t.Boolean(),
  expiry_date: t.date('Last trading day.', '2026-12-21'),
  open_interest: t.Optional(t.integer({ examples: [284113] })),
  settlement: settlementOrNull,
  trading_date: dayField,
  updated_at: instantField,
})

/** A listed contract with its newest quote on the wire. */
export function contractRow(quote: ContractQuote, { currency, unit }: Family, decimals: number) {
  const { day, previous } = quote
  const round = (value: number) => roundTo(value, decimals)
  const base = previous && (previous.settlement ?? previous.close)
  const change = base === undefined ? null : round(day.close - base)
  return {
    contract_month: day.month,
    contract_code: day.code,
    code: day.code,
    contract: day.code,
    last_price: round(day.close),
    price: round(day.close),
    currency,
    unit,
    open: round(day.open),
    close: round(day.close),
    high: round(day.high),
    low: round(day.low),
    volume: day.volume,
    change,
    change_percent:
      base === undefined || base === 0
        ? null
        : roundTo((100 * (day.close - base)) / Math.abs(base), 2),
    days_to_expiry: quote.daysToExpiry,
    contract_status: quote.status,
    is_front_month: quote.isFront,
    expiry_date: quote.expiryDay,
    ...(day.openInterest !== null && { open_interest: day.openInterest }),
    settlement: day.settlement === null ? null : round(day.settlement),
    trading_date: day.tradedOn,
    updated_at: isoInstant(day.quotedAt),
  }
}

export const Bar = t.object('FuturesBar', {
  date: t.date('Trading date; of a week or month the last in it.', '2026-11-19'),
  timestamp: t.instant('When the close was quoted.'),
  contract: codeField,
  contract_month: monthField,
  contract_code: codeField,
  price: priceField,
  open: priceField,
  high: priceField,
  low: priceField,
  close: priceField,
  settlement: settlementOrNull,
  volume: volumeOrNull,
  open_interest: openInterestOrNull,
})

export function barRow(day: ContractDay, decimals: number) {
  const round = (value: number) => roundTo(value, decimals)
  return {
    date: day.tradedOn,
    timestamp: isoInstant(day.quotedAt),
    contract: day.code,
    contract_month: day.month,
    contract_code: day.code,
    price: round(day.close),
    open: round(day.open),
    high: round(day.high),
    low: round(day.low),
    close: round(day.close),
    settlement: day.settlement === null ? null : round(day.settlement),
    volume: day.volume,
    open_interest: day.openInterest,
  }
}

export const CurvePointShape = t.object('FuturesCurvePoint', {
  contract_month: monthField,
  contract_code: codeField,
  contract: codeField,
  settlement_price: priceField,
  price: priceField,
  last_price: priceField,
  settlement_basis: t.oneOf(
    ['exchange_settlement', 'last_trade'],
    'What `settlement_price` is: the settlement of the trading date, or the last trade until it is published.',
  ),
  trading_date: dayField,
  months_to_expiry: t.integer('Calendar months from the analysis date to the last trading day.', 1),
  expiry_date: dayField,
})

export function curvePointRow(point: CurvePoint, analysisDay: string, decimals: number) {
  const round = (value: number) => roundTo(value, decimals)
  return {
    contract_month: point.contractMonth,
    contract_code: point.contractCode,
    contract: point.contractCode,
    settlement_price: round(point.price),
    price: round(point.price),
    last_price: round(point.lastPrice),
    settlement_basis: point.basis,
    trading_date: point.tradingDay,
    months_to_expiry: monthsBetween(analysisDay.slice(0, 7), point.expiryDay.slice(0, 7)),
    expiry_date: point.expiryDay,
  }
}
