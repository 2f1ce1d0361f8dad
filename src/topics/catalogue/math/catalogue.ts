/** How often a series is published. */
export type Cadence =
  | 'intraday_2_5m'
  | 'intraday_5m'
  | 'twice_daily'
  | 'daily'
  | 'weekly'
  | 'monthly'

export const cadences: readonly Cadence[] = [
  'intraday_2_5m',
  'intraday_5m',
  'twice_daily',
  'daily',
  'weekly',
  'monthly',
]

/** The cadence with the most values of some; undefined if there are none. */
export const finestOf = (some: readonly Cadence[]): Cadence | undefined =>
  cadences.find(cadence => some.includes(cadence))

/** Several prices in an hour: long windows of these are answered as bars. */
export const isIntraday = (cadence: Cadence): boolean =>
  cadence === 'intraday_2_5m' || cadence === 'intraday_5m'

export type PriceType =
  | 'spot_price'
  | 'futures_price'
  | 'list_price'
  | 'retail_price'
  | 'fx_rate'
  | 'index'
  | 'storage_level'
  | 'utilization'
  | 'rig_count'
  | 'count'

export const priceTypes: readonly PriceType[] = [
  'spot_price',
  'futures_price',
  'list_price',
  'retail_price',
  'fx_rate',
  'index',
  'storage_level',
  'utilization',
  'rig_count',
  'count',
]

const typeByCategory: Record<string, PriceType> = {
  fx: 'fx_rate',
  futures: 'futures_price',
  list_prices: 'list_price',
  retail_fuels: 'retail_price',
  indices: 'index',
  storage: 'storage_level',
  drilling: 'count',
  supply_demand: 'count',
}

/** The kind of number that a series has, from its category and unit. */
export function priceType(category: string, unit: string): PriceType {
  if (unit === 'percent') return 'utilization'
  if (category === 'drilling' && unit === 'rigs') return 'rig_count'
  return typeByCategory[category] ?? 'spot_price'
}

const initialisms = new Set(['fx', 'lng', 'ngl'])

/** `refined_products` as people write it: `Refined Products`; `fx` becomes `FX`. */
export const categoryName = (category: string): string =>
  category
    .split('_')
    .map(word =>
      initialisms.has(word) ? word.toUpperCase() : word[0]!.toUpperCase() + word.slice(1),
    )
    .join(' ')

export interface InstrumentDisclosure {
  code: string
  instrumentType: 'calendar_month_average_swap'
  contractMonth: string
  description: string
  settlementBasis: string
}

const monthAverageSwaps: Record<string, { description: string; settlementBasis: string }> = {
  SINGAPORE_JET_KEROSENE_USD: {
    description:
      'Calendar-month-average swap on Singapore jet kerosene: the price of the running month, not of a cargo on the day.',
    settlementBasis:
      'Arithmetic mean of the daily Singapore jet kerosene assessments of the contract month',
  },
  SINGAPORE_MOGAS_92_USD: {
    description:
      'Calendar-month-average swap on Singapore 92 RON gasoline: the price of the running month, not of a cargo on the day.',
    settlementBasis:
      'Arithmetic mean of the daily Singapore 92 RON gasoline assessments of the contract month',
  },
}

/**
 * The disclosure for a series that is a swap and not a spot price; the contract month is the month
 * of `day`.
 */
export function instrumentDisclosure(code: string, day: string): InstrumentDisclosure | undefined {
  const swap = monthAverageSwaps[code]
  return (
    swap && {
      code,
      instrumentType: 'calendar_month_average_swap',
      contractMonth: day.slice(0, 7),
      ...swap,
    }
  )
}

/**
 * The source of records that no one published: they were generated for evaluation and development.
 */
export const generatedSource = 'fixture'

const agencies: Record<string, string> = { market_reporting: 'Compiled from market reporting' }

/** One sentence on where the numbers of a source come from. */
export const sourceDescription = (source: string, fixture: boolean): string =>
  fixture
    ? 'Fixture data: generated for evaluation and development, not a market price'
    : (agencies[source] ?? `Published by ${source}`)

/** The owner of the data, and the attribution that they require. */
export interface Attribution {
  name: string
  /** The sentence that is shown with the numbers. */
  text: string
  /** `view`: they may be checked, and not passed on. */
  licenseClass: 'open' | 'view'
}

/** The source of a series' values, and how often and how late they are published. */
export interface FedBy {
  publisher: Attribution
  cadence?: Cadence
  releaseLagDays?: number
}

/** The fields that determine the source of a series. */
interface Sourced {
  source: string
  fixture: boolean
  publisher?: Attribution
}

/** Where the numbers of a series come from: the publisher that they were read from, else its source. */
export const sourceOf = (series: Sourced): { name: string; description: string } =>
  series.publisher
    ? { name: series.publisher.name, description: series.publisher.text }
    : { name: series.source, description: sourceDescription(series.source, series.fixture) }

/** The same of several, each name and each sentence once. */
export function sourcesOf(all: readonly Sourced[]): { name: string; description: string } {
  const sources = all.map(sourceOf)
  const joined = (texts: readonly string[]) => [...new Set(texts)].join('; ')
  return {
    name: joined(sources.map(source => source.name)),
    description: joined(sources.map(source => source.description)),
  }
}
