import type { TSchema } from 'elysia'
import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import { formatted } from '../../prices/operations/row.ts'
import type { HistoryRow } from '../../prices/service/reads/history.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { gradeNames, type Port } from '../math/marine.ts'
import type { MarineSeries } from './marine-reads.ts'

const change = t.numberOrNull('Against the previous close; null without one.', -3.5)

const rowFields = {
  code: t.String({ examples: ['VLSFO_SIN_USD'] }),
  name: t.String({ examples: ['Very Low Sulphur Fuel Oil Singapore'] }),
  port: t.stringOrNull(
    'Slug of the port; null for the average of the ports, as the other fields of the port.',
    'SINGAPORE',
  ),
  port_code: t.stringOrNull('UN/LOCODE.', 'SGSIN'),
  port_name: t.orNull(t.String({ examples: ['Singapore'] })),
  country: t.orNull(t.String({ examples: ['SG'] })),
  region: t.orNull(t.String({ examples: ['Asia'] })),
  fuel_type: t.String({ examples: ['VLSFO'] }),
  grade: t.string('The same as `fuel_type`.', 'VLSFO'),
  grade_name: t.String({ examples: [gradeNames.VLSFO] }),
  price: t.Number({ examples: [531.5] }),
  formatted: t.String({ examples: ['$531.50'] }),
  currency: t.Literal('USD'),
  unit: t.Literal('MT', { description: 'Metric ton.' }),
  type: t.Literal('spot_price'),
  source: t.String({ examples: ['market_reporting'] }),
  created_at: t.instant('When the price was observed.'),
  updated_at: t.instant('When this service recorded it.'),
}

/** The range of past prices and the length of their intervals. */
export const periodFields = {
  from: t.String({ format: 'date-time' }),
  to: t.String({ format: 'date-time' }),
  interval: t.String({ examples: ['day'] }),
}

/** A value for each grade that has one. */
export const gradesOf = <T extends TSchema>(value: T, description: string) => {
  const field = t.Optional(value)
  return t.Object({ VLSFO: field, HFO_380: field, HFO_180: field, MGO_05S: field }, { description })
}

const filterShape = t.Object({
  port_code: t.orNull(t.String({ examples: ['SGSIN'] })),
  fuel_type: t.orNull(t.String({ examples: ['VLSFO'] })),
  region: t.orNull(t.String({ examples: ['Asia'] })),
})
const metadata = t.Object({
  source_description: t.String({ examples: ['Compiled from market reporting'] }),
})

export const MarinePrices = t.object('MarinePrices', {
  prices: t.Array(
    t.object('MarinePrice', { ...rowFields, change_24h: change, change_24h_percent: change }),
  ),
  count: t.integer({ examples: [32] }),
  filters: filterShape,
  updated_at: t.instant('When the newest of the prices was recorded.'),
  metadata,
})

export const MarineHistory = t.object('MarineHistory', {
  status: t.Literal('success'),
  data: t.Object({
    prices: t.Array(
      t.object('MarineHistoryRow', {
        ...rowFields,
        bucket_start: t.Optional(t.instant('Start of the UTC bucket; absent on raw rows.')),
        open: t.Optional(t.Number({ examples: [529.25] })),
        high: t.Optional(t.Number({ examples: [532] })),
        low: t.Optional(t.Number({ examples: [528.75] })),
        average: t.Optional(t.Number({ examples: [530.4] })),
        sample_count: t.Optional(t.integer({ examples: [1] })),
      }),
    ),
    period: t.Object(periodFields),
    filters: filterShape,
    metadata,
  }),
  meta: PageMetaShape,
})

const portFields = {
  code: t.string('UN/LOCODE.', 'SGSIN'),
  short_code: t.String({ examples: ['SIN'] }),
  slug: t.String({ examples: ['SINGAPORE'] }),
  name: t.String({ examples: ['Singapore'] }),
  country: t.String({ examples: ['SG'] }),
  region: t.oneOf(['Asia', 'Europe', 'Americas', 'Middle East']),
  major_port: t.Boolean(),
  coordinates: t.Object({
    latitude: t.Number({ examples: [1.26] }),
    longitude: t.Number({ examples: [103.84] }),
  }),
  fuel_services: t.Array(t.String({ examples: ['VLSFO'] })),
  trading_hours: t.String({ examples: ['24/7'] }),
  timezone: t.String({ examples: ['Asia/Singapore'] }),
  volume_rank: t.integer('1 sells most.', 1),
}

const PortRow = t.object('MarinePort', portFields)

export const Ports = t.object('MarinePorts', {
  ports: t.Array(PortRow),
  count: t.integer({ examples: [8] }),
  filters: t.Object({
    region: t.orNull(t.String({ examples: ['Asia'] })),
    country: t.orNull(t.String({ examples: ['SG'] })),
    major_ports_only: t.Boolean(),
  }),
})

const Latest = t.object('MarinePortPrice', {
  price: t.Number({ examples: [531.5] }),
  currency: t.Literal('USD'),
  unit: t.Literal('MT'),
  updated_at: t.instant('When it was recorded.'),
})

export const PortPrices = t.object('MarinePortPrices', {
  ports: t.Array(
    t.Object({
      ...portFields,
      latest: gradesOf(Latest, 'By grade; without the grades that have no price.'),
    }),
  ),
  count: t.integer({ examples: [8] }),
})

/** The fields of a row in addition to its price. */
const described = ({ series, grade, port }: MarineSeries, source: string) => ({
  code: series.code,
  name: series.name,
  port: port?.slug ?? null,
  port_code: port?.code ?? null,
  port_name: port?.name ?? null,
  country: port?.country ?? null,
  region: port?.region ?? null,
  fuel_type: grade,
  grade,
  grade_name: gradeNames[grade],
  currency: 'USD' as const,
  unit: 'MT' as const,
  type: 'spot_price' as const,
  source,
})

const priced = (series: Series, value: number) => {
  const price = roundTo(value, series.decimals)
  return { price, formatted: formatted(series, price) }
}

export const marineRow = (marineSeries: MarineSeries, { series, observation, changes }: Quote) => ({
  ...described(marineSeries, sourceOf(series).name),
  ...priced(marineSeries.series, observation.value),
  created_at: isoInstant(observation.observedAt),
  updated_at: isoInstant(observation.recordedAt),
  change_24h: changes['24h']?.amount ?? null,
  change_24h_percent: changes['24h']?.percent ?? null,
})

export function marineHistoryRow(marineSeries: MarineSeries, row: HistoryRow, source: string) {
  const { series } = marineSeries
  const { bar } = row
  const round = (value: number) => roundTo(value, series.decimals)
  return {
    ...described(marineSeries, source),
    ...priced(series, row.value),
    created_at: isoInstant(row.observedAt),
    updated_at: isoInstant(row.recordedAt),
    ...(bar && {
      bucket_start: isoInstant(bar.startsAt),
      open: round(bar.open),
      high: round(bar.high),
      low: round(bar.low),
      // Two more decimals than a price: the mean of rounded prices is not rounded as a price.
      average: roundTo(bar.sum / bar.count, series.decimals + 2),
      sample_count: bar.count,
    }),
  }
}

export const portRow = (port: Port) =>
  answerRow(PortRow, port, {
    major_port: port.major,
    coordinates: { latitude: port.latitude, longitude: port.longitude },
    fuel_services: [...port.fuels],
    timezone: port.timezone,
  })

export const portPrice = (series: Series, { observation }: Quote) => ({
  price: roundTo(observation.value, series.decimals),
  currency: 'USD' as const,
  unit: 'MT' as const,
  updated_at: isoInstant(observation.recordedAt),
})
