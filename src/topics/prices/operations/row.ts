import { t } from '../../../http/answer/schema.ts'
import { isoDay, isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import {
  instrumentDisclosure,
  isIntraday,
  priceType,
  sourceOf,
} from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { formulaStatuses } from '../../formulas/math/status.ts'
import type { ChangeSpan, PriceChange } from '../math/change.ts'
import { decimalDifference, formatPrice, roundTo } from '../math/format.ts'
import type { Quote, QuotedDelivery, QuotedFormula } from '../service/reads/latest-prices.ts'

export const Disclosure = t.Object(
  {
    code: t.String(),
    instrument_type: t.Literal('calendar_month_average_swap'),
    contract_month: t.Optional(t.string('`YYYY-MM`', '2026-12')),
    description: t.String(),
    settlement_basis: t.String(),
  },
  {
    title: 'InstrumentDisclosure',
    description: 'Kind of price, if it is not a spot price.',
  },
)

const Change = t.object('PriceChange', {
  amount: t.Number({ examples: [-0.52] }),
  percent: t.orNull(t.Number({ examples: [-0.73] })),
  previous_price: t.Number({ examples: [71.75] }),
})

export const derivedFromField = t.Optional(
  t.string(
    'Code of the delivery periods whose mean over the market day the price is; absent for a recorded price.',
    'POWER_DA_DE_LU_EUR',
  ),
)

export const priceRowFields = {
  code: t.String({ examples: ['WTI_USD'] }),
  name: t.String({ examples: ['WTI Crude Oil'] }),
  price: t.number("Rounded to the code's decimals.", 71.23),
  formatted: t.String({ examples: ['$71.23'] }),
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  type: t.String({ examples: ['spot_price'] }),
  source: t.String({ examples: ['market_reporting'] }),
  data_source: t.String({ examples: ['market_reporting'] }),
  created_at: t.instant('When the price was observed.'),
  observed_on: t.Optional(
    t.date(
      'Day that the price is for, for series with at most one value per day. If the source gives no time, `created_at` is midnight of that day, before the price was known.',
    ),
  ),
  updated_at: t.instant('When this service recorded it.'),
  as_of: t.Optional(t.date('Day of the price: physical crude and list prices.')),
}

export const FormulaLeg = t.object('FormulaLeg', {
  code: t.String({ examples: ['WTI_USD'] }),
  price: t.numberOrNull('The newest, with every stored digit.', 71.23),
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['barrel'] }),
  observed_at: t.orNull(t.String({ format: 'date-time' }), 'When it was observed.'),
  recorded_at: t.orNull(t.String({ format: 'date-time' }), 'When it was recorded.'),
  status: t.oneOf(formulaStatuses),
})

export const MissingLeg = t.object('MissingLeg', {
  code: t.String({ examples: ['WTI_USD'] }),
  reason: t.oneOf(formulaStatuses),
})

/** Some fields of a price, for the shapes that have no others of it. */
export const priceFields = <Name extends keyof typeof priceRowFields>(...names: readonly Name[]) =>
  Object.fromEntries(names.map(name => [name, priceRowFields[name]])) as Pick<
    typeof priceRowFields,
    Name
  >

export const PriceRow = t.object('PriceRow', {
  ...priceRowFields,
  delivery_end: t.Optional(
    t.instant('End of the period of a delivery series; `created_at` is its start.'),
  ),
  next: t.Optional(
    t.orNull(
      t.Object({
        price: t.Number({ examples: [84.31] }),
        start: t.String({ format: 'date-time' }),
        end: t.String({ format: 'date-time' }),
      }),
      'The following period of a delivery series; null if it has no price yet.',
    ),
  ),
  day: t.Optional(
    t.Object(
      {
        date: t.String({ format: 'date' }),
        base: t.numberOrNull('Mean over the day, weighted by time.', 84.31),
        complete: t.Boolean(),
      },
      { description: 'The market day of the period of a delivery series.' },
    ),
  ),
  derived: t.Optional(
    t.boolean('True: computed by `formula`, or the mean of a day of `derived_from`.'),
  ),
  derived_from: derivedFromField,
  formula: t.Optional(t.String({ examples: ['BRENT_CRUDE_USD - WTI_USD'] })),
  status: t.Optional(
    t.oneOf(
      formulaStatuses,
      'For a series by formula: the worst status of its legs, in this order.',
    ),
  ),
  missing_legs: t.Optional(
    t.Array(MissingLeg, {
      description: 'For a series by formula: every leg that is not `ok`.',
    }),
  ),
  legs: t.Optional(
    t.Array(FormulaLeg, { description: 'For a series by formula: the codes in the formula.' }),
  ),
  data_status: t.Optional(
    t.oneOf(['current', 'delayed', 'stale'], 'Physical crude and delivery series only.'),
  ),
  stale: t.Optional(t.boolean('Physical crude and delivery series only.')),
  change_24h: t.orNull(t.Number()),
  change_24h_percent: t.orNull(t.Number()),
  changes: t.Object(
    {
      '24h': t.Optional(Change),
      '7d': t.Optional(Change),
      '30d': t.Optional(Change),
      '90d': t.Optional(Change),
    },
    {
      description:
        'Change against the newest observation at or before `created_at` minus the period; for 24 h a daily series uses its previous close. Absent if that is more than two weeks older, or three periods of a weekly or monthly series.',
    },
  ),
  requested_code: t.Optional(t.string('The requested alias or futures family, if any.')),
  instrument_disclosure: t.Optional(Disclosure),
  metadata: t.Object({
    source: t.String(),
    source_description: t.String(),
    license_class: t.Optional(
      t.Literal('view', {
        description: 'The value is for display only and may not be redistributed.',
      }),
    ),
    cadence: t.string(
      'How often it is published; `intraday_5m` for every series of delivery periods shorter than a day, whose length `delivery_end` gives.',
      'intraday_5m',
    ),
    last_recorded_at: t.String({ format: 'date-time' }),
  }),
})

/** Prices of several codes. */
export const PriceList = t.object('PriceList', {
  status: t.Literal('success'),
  data: t.Object({
    prices: t.Array(PriceRow),
    missing_codes: t.Optional(t.Array(t.String())),
    count: t.integer(),
  }),
})

export type PriceRow = (typeof PriceRow)['static']

/** `base`: the price that a change is from, where the change is not rounded. */
const changeRow = (change: PriceChange, value: number, base: number | undefined) => ({
  amount: base === undefined ? change.amount : decimalDifference(value, base),
  percent: change.percent ?? null,
  previous_price: base ?? change.previous,
})

export function disclosureRow(series: Series, day: string) {
  const disclosure = instrumentDisclosure(series.code, day)
  return (
    disclosure && {
      code: disclosure.code,
      instrument_type: disclosure.instrumentType,
      contract_month: disclosure.contractMonth,
      description: disclosure.description,
      settlement_basis: disclosure.settlementBasis,
    }
  )
}

export function formatted(series: Series, value: number): string {
  const type = priceType(series.category, series.unit)
  return formatPrice(value, series.decimals, series.currency, series.unit, type === 'fx_rate')
}

/** Whether rows have `as_of`: of physical crude and list prices the date is part of the meaning. */
export const carriesDay = (series: Series): boolean =>
  series.category === 'physical_crude' || series.category === 'list_prices'

/** Whether rows have `observed_on`: of a series with one value a day or fewer. */
export const speaksForDays = (series: Series): boolean =>
  !isIntraday(series.cadence) && series.cadence !== 'twice_daily'

const deliveredRow = ({ end, next, day }: QuotedDelivery, shown: (price: number) => number) => ({
  delivery_end: isoInstant(end),
  next: next
    ? { price: shown(next.price), start: isoInstant(next.start), end: isoInstant(next.end) }
    : null,
  day,
})

export const missingLegs = (legs: QuotedFormula['legs']) =>
  legs
    .filter(leg => leg.status !== 'ok')
    .map(leg => ({ code: leg.series.code, reason: leg.status }))

export const formulaRow = ({ text, status, legs }: QuotedFormula) => ({
  derived: true,
  formula: text,
  status,
  missing_legs: missingLegs(legs),
  legs: legs.map(({ series, observation, status: reason }) => ({
    code: series.code,
    price: observation?.value ?? null,
    currency: series.currency,
    unit: series.unit,
    observed_at: isoOrNull(observation?.observedAt),
    recorded_at: isoOrNull(observation?.recordedAt),
    status: reason,
  })),
})

/**
 * A quote on the wire. `code` is the code that answers, `requestedCode` the requested one where it
 * differs; `isFull`: the price and the prices of its changes have every stored digit.
 */
export function priceRow(
  quote: Quote,
  code: string,
  requestedCode?: string,
  isFull = false,
): PriceRow {
  const { series, observation, delivery } = quote
  const changes = Object.fromEntries(
    Object.entries(quote.changes).map(([span, change]) => [
      span,
      changeRow(change, observation.value, isFull ? quote.bases[span as ChangeSpan] : undefined),
    ]),
  )
  const physical = series.category === 'physical_crude'
  const price = roundTo(observation.value, series.decimals)
  const shown = (value: number) => (isFull ? value : roundTo(value, series.decimals))
  const disclosure = disclosureRow(series, isoDay(observation.observedAt))
  const source = sourceOf(series)
  return {
    code,
    name: series.name,
    price: shown(observation.value),
    formatted: formatted(series, price),
    currency: series.currency,
    unit: series.unit,
    type: priceType(series.category, series.unit),
    source: source.name,
    data_source: source.name,
    created_at: isoInstant(observation.observedAt),
    updated_at: isoInstant(observation.recordedAt),
    ...(speaksForDays(series) && { observed_on: isoDay(observation.observedAt) }),
    ...(carriesDay(series) && { as_of: isoDay(observation.observedAt) }),
    ...(delivery && deliveredRow(delivery, shown)),
    ...(quote.formula && formulaRow(quote.formula)),
    ...(quote.averageOf && { derived: true, derived_from: quote.averageOf.code }),
    ...((physical || delivery) && { data_status: quote.status, stale: quote.status === 'stale' }),
    change_24h: changes['24h']?.amount ?? null,
    change_24h_percent: changes['24h']?.percent ?? null,
    changes,
    ...(requestedCode !== undefined && { requested_code: requestedCode }),
    ...(disclosure && { instrument_disclosure: disclosure }),
    metadata: {
      source: source.name,
      source_description: source.description,
      ...(series.publisher?.licenseClass === 'view' && { license_class: 'view' as const }),
      cadence: series.cadence,
      last_recorded_at: isoInstant(observation.recordedAt),
    },
  }
}
