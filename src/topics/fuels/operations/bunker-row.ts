import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { HistoryRow } from '../../prices/service/reads/history.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { arbitragePercent, type Difference, scrubberTonsADay } from '../math/bunker.ts'
import { type Grade, gradeNames, grades, marineCode, type Port } from '../math/marine.ts'
import { gradesOf } from './marine-row.ts'

export interface BunkerQuote {
  port: Port
  grade: Grade
  quote: Quote
}

const numberOrNull = (description: string) => t.numberOrNull(description, -3.5)
const currency = t.Literal('USD')
const unit = t.Literal('MT', { description: 'Metric ton.' })
const price = t.number('USD per metric ton, delivered.', 531.5)
const code = t.string(
  'A name of the series: `by_code` of the price endpoints takes it.',
  'VLSFO_SIN',
)
const shortCode = t.String({ examples: ['SIN'] })

export const PortShape = t.object('BunkerPort', {
  code: shortCode,
  name: t.String({ examples: ['Singapore'] }),
  country: t.String({ examples: ['SG'] }),
  timezone: t.String({ examples: ['Asia/Singapore'] }),
  volume_rank: t.integer('1 sells most.', 1),
})

const supplierCount = t.orNull(t.integer(), 'Null: not known.')
const availability = t.orNull(t.String(), 'Null: not known.')

export const EntryShape = t.object('BunkerEntry', {
  grade: t.String({ examples: ['VLSFO'] }),
  grade_name: t.String({ examples: [gradeNames.VLSFO] }),
  code,
  price,
  currency,
  unit,
  change_24h: numberOrNull('Against the previous close; null without one.'),
  change_pct_24h: numberOrNull('The same in percent.'),
  supplier_count: supplierCount,
  availability,
  last_updated: t.instant('When the price was observed.'),
})

export const metaFields = {
  request_id: t.String({ examples: ['6f9619ff-8b86-4d01-b42d-00c04fc964ff'] }),
  timestamp: t.instant('Time of the response.'),
  cache_ttl: t.integer('Seconds for which the response may be cached.', 300),
  data_source: t.String({ examples: ['market_reporting'] }),
  source_description: t.String({ examples: ['Compiled from market reporting'] }),
  currency,
  unit: t.Literal('metric_ton'),
  port_count: t.Optional(t.integer({ examples: [8] })),
}
export const MetaShape = t.object('BunkerMeta', metaFields)

export const DifferenceShape = t.object('BunkerDifference', {
  value: t.number('First minus second, USD per metric ton.', 22),
  percentage: t.numberOrNull('100 x value / second; null when the second is 0.', 4.32),
})

export const byGrade = gradesOf(
  DifferenceShape,
  'By grade; grades without a price at one of the ports are omitted.',
)

export const ListRow = t.object('BunkerPrice', {
  port: t.String({ examples: ['SINGAPORE'] }),
  port_code: shortCode,
  port_name: t.String({ examples: ['Singapore'] }),
  grade: t.String({ examples: ['VLSFO'] }),
  price,
  currency,
  unit,
  last_updated: t.instant('When the price was observed.'),
})

export const PricedPort = t.object('BunkerPortPrices', {
  port: PortShape,
  prices: t.Array(EntryShape),
})

export const PairSpread = t.object('BunkerPairSpread', {
  value: DifferenceShape.properties.value,
  percentage: DifferenceShape.properties.percentage,
  from_price: price,
  to_price: price,
  arbitrage_opportunity: t.boolean(
    `The prices are more than ${arbitragePercent}% apart, in either direction.`,
  ),
})

export const ScrubberSpread = t.Object(
  {
    value: t.Number({ examples: [94] }),
    percentage: DifferenceShape.properties.percentage,
    scrubber_benefit_daily: t.number(
      `USD a day at sea for a ship that burns ${scrubberTonsADay} t a day.`,
      2820,
    ),
  },
  { description: 'VLSFO minus HFO_380.' },
)

export const HistoryShape = t.object('BunkerHistoryRow', {
  timestamp: t.instant('When the price was observed; of a bucket the last of its prices.'),
  date: t.String({ format: 'date' }),
  code,
  price: t.number('The last price of the bucket.', 531.5),
  average_value: t.Number({ examples: [530.4] }),
  interval_type: t.String({ examples: ['day'] }),
  min_value: t.Number({ examples: [528.75] }),
  max_value: t.Number({ examples: [532] }),
  open_value: t.Number({ examples: [529.25] }),
  close_value: t.Number({ examples: [531.5] }),
  sample_count: t.integer({ examples: [1] }),
})

export const ExportRow = t.object('BunkerExportRow', {
  timestamp: t.instant('When the price was observed.'),
  port_code: shortCode,
  port_name: t.String({ examples: ['Singapore'] }),
  fuel_grade: t.String({ examples: ['VLSFO'] }),
  price_usd_mt: price,
  supplier_count: supplierCount,
  availability,
})

/** No source reports the suppliers of a port or their lead time. */
const unknown = { supplier_count: null, availability: null }

export const portRow = (port: Port) => answerRow(PortShape, port, { code: port.shortCode })

const priceOf = ({ series, observation }: Quote): number =>
  roundTo(observation.value, series.decimals)

/** `VLSFO_SIN`: the code without its currency, which is an alias of it. */
const nameOf = (grade: Grade, port: Port): string => marineCode(grade, port).replace(/_USD$/, '')

export const entryRow = ({ port, grade, quote }: BunkerQuote) => ({
  grade,
  grade_name: gradeNames[grade],
  code: nameOf(grade, port),
  price: priceOf(quote),
  currency: 'USD' as const,
  unit: 'MT' as const,
  change_24h: quote.changes['24h']?.amount ?? null,
  change_pct_24h: quote.changes['24h']?.percent ?? null,
  ...unknown,
  last_updated: isoInstant(quote.observation.observedAt),
})

export const pricedPort = ([port, quotes]: readonly [Port, readonly BunkerQuote[]]) => ({
  port: portRow(port),
  prices: quotes.map(entryRow),
})

export const listRow = ({ port, grade, quote }: BunkerQuote) => ({
  port: port.slug,
  port_code: port.shortCode,
  port_name: port.name,
  grade,
  price: priceOf(quote),
  currency: 'USD' as const,
  unit: 'MT' as const,
  last_updated: isoInstant(quote.observation.observedAt),
})

export const exportRow = ({ port, grade, quote }: BunkerQuote) => ({
  timestamp: isoInstant(quote.observation.observedAt),
  port_code: port.shortCode,
  port_name: port.name,
  fuel_grade: grade,
  price_usd_mt: priceOf(quote),
  ...unknown,
})

export const differenceRow = ({ value, percentage }: Difference) => ({
  value,
  percentage: percentage ?? null,
})

/** In the order of the grades; `nameOf` returns the name of a grade. */
export const differenceRows = (
  differences: ReadonlyMap<Grade, Difference>,
  nameOf: (grade: Grade) => string = grade => grade,
) =>
  Object.fromEntries(
    grades.flatMap(grade => {
      const gradeDifference = differences.get(grade)
      return gradeDifference ? [[nameOf(grade), differenceRow(gradeDifference)] as const] : []
    }),
  )

/** An observation is a bucket of one. */
export function historyRow(
  { port, grade, series }: { port: Port; grade: Grade; series: Series },
  row: HistoryRow,
  interval: string,
) {
  const round = (value: number) => roundTo(value, series.decimals)
  const price = round(row.value)
  const { bar } = row
  return {
    timestamp: isoInstant(row.observedAt),
    date: isoDay(bar?.startsAt ?? row.observedAt),
    code: nameOf(grade, port),
    price,
    average_value: bar ? roundTo(bar.sum / bar.count, series.decimals + 2) : price,
    interval_type: interval,
    min_value: bar ? round(bar.low) : price,
    max_value: bar ? round(bar.high) : price,
    open_value: bar ? round(bar.open) : price,
    close_value: price,
    sample_count: bar?.count ?? 1,
  }
}
