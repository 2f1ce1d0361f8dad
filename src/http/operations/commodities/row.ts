import { isoInstant } from '../../../lib/time/instant.ts'
import { cadences, categoryName, priceType } from '../../../topics/catalogue/math/catalogue.ts'
import { boundsOf } from '../../../topics/catalogue/math/terms.ts'
import { unitDescription } from '../../../topics/catalogue/math/unit-names.ts'
import type { Catalogue } from '../../../topics/catalogue/service/catalogue.ts'
import type { Series } from '../../../topics/catalogue/store/series.ts'
import type { Freshness } from '../../../topics/condition/service/freshness.ts'
import { resolutions, weekdayNames } from '../../../topics/delivery/math/terms.ts'
import { roundTo } from '../../../topics/prices/math/format.ts'
import { answerRow } from '../../answer/row.ts'
import { t } from '../../answer/schema.ts'
import { invalidParameter, Problem } from '../../problem/problem.ts'
import { type Marks, markFixtures, type Reply } from '../answer.ts'

const deliveryTime = t.Optional(
  t.Literal('delivery', {
    description: 'Values are of delivery periods. Absent: of moments.',
  }),
)

export const commodityFields = {
  code: t.String({ examples: ['WTI_USD'] }),
  name: t.String({ examples: ['WTI Crude Oil'] }),
  category: t.String({ examples: ['crude_oil'] }),
  category_name: t.String({ examples: ['Crude Oil'] }),
  currency: t.orNull(t.String({ examples: ['USD'] }), 'Null where the number is not money.'),
  unit: t.String({ examples: ['barrel'] }),
  unit_description: t.String({ examples: ['Per barrel (42 US gallons)'] }),
  decimals: t.integer('Places that prices are rounded to.', 2),
  type: t.String({ examples: ['spot_price'] }),
  description: t.String({ examples: ['Light sweet crude at Cushing, Oklahoma'] }),
  cadence: t.oneOf(cadences, 'How often the code is published.'),
  source: t.String({ examples: ['market_reporting'] }),
  data_source: t.String({ examples: ['market_reporting'] }),
  has_data: t.boolean('Whether the code has data in the price endpoints.'),
  available: t.boolean('The same as `has_data`.'),
  active: t.boolean('Whether the code has a source that still publishes it.'),
  unavailable_reason: t.Optional(
    t.oneOf(
      ['no_source', 'no_observations', 'discontinued', 'restricted'],
      'Why `has_data` is false.',
    ),
  ),
  free_tier: t.boolean('Whether the keyless demo includes the code.'),
  aliases: t.Array(t.String({ examples: ['WTI'] }), {
    description: 'Other names that every endpoint accepts for the code.',
  }),
  multiplier: t.integer('10 to the power of `decimals`.', 100),
  validation: t.Object(
    { min: t.Number({ examples: [0] }), max: t.Number({ examples: [1424.6] }) },
    { description: 'Bounds of the values that an import accepts.' },
  ),
  price_change_threshold: t.number(
    'Change between two observations, in percent, from which a value is flagged.',
    10,
  ),
  first_observation: t.orNull(t.String({ format: 'date' }), 'Day of the oldest observation.'),
  last_observation: t.orNull(t.String({ format: 'date-time' }), 'Time of the newest observation.'),
  time: deliveryTime,
  derived_from: t.Optional(
    t.string(
      'Code of delivery periods: on market days without a recorded value, the value is their mean.',
      'POWER_DA_DE_LU_EUR',
    ),
  ),
}

const timeOfDay = (description: string, example: string) =>
  t.Optional(t.string(description, example))

/** The terms of a series whose values are of delivery periods; other series have none of them. */
export const deliveryShape = {
  time: deliveryTime,
  resolution: t.Optional(t.oneOf(resolutions, 'Length of a delivery period.')),
  resolutions: t.Optional(
    t.objects('The resolution from each market day on.', {
      from: t.String({ format: 'date' }),
      resolution: t.oneOf(resolutions),
    }),
  ),
  zone: t.Optional(t.string('Time zone of the market day.', 'Europe/Berlin')),
  day_starts: timeOfDay('Local time at which the market day begins.', '00:00'),
  horizon: t.Optional(
    t.string('How far after now a period may begin, as an ISO 8601 duration.', 'P2D'),
  ),
  gate_closes: timeOfDay('When the auction closes, in `zone` on the day before delivery.', '12:00'),
  publishes_at: timeOfDay(
    'When prices are published, in `zone` on the day before delivery.',
    '12:45',
  ),
  peak_hours: t.Optional(t.string('Peak hours in `zone`.', '08:00-20:00')),
  peak_days: t.Optional(t.Array(t.oneOf(weekdayNames), { description: 'Days with peak hours.' })),
  peak_holidays: t.Optional(t.boolean('True: closed days of the calendar have no peak.')),
}

export const Commodity = t.Object(commodityFields, {
  title: 'Commodity',
  description: 'One code of the catalogue.',
})
export type Commodity = (typeof Commodity)['static']

const priceChangeThresholdPercent = 10

export interface CommodityDeps {
  catalogue: Catalogue
  freshness: Freshness
}

/** A code of the catalogue on the wire. `free`: ids of the series that the demo has. */
export function commodityRow(
  series: Series,
  { catalogue, freshness }: CommodityDeps,
  free: ReadonlySet<number>,
): Commodity {
  const reach = freshness.reach(series)
  const hasData = catalogue.hasData(series) && reach !== undefined
  const bounds = boundsOf(series)
  return answerRow(Commodity, series, {
    category_name: categoryName(series.category),
    unit_description: unitDescription(series.unit),
    type: priceType(series.category, series.unit),
    data_source: series.source,
    has_data: hasData,
    available: hasData,
    active: series.unavailableReason === null,
    ...(!hasData && {
      unavailable_reason: catalogue.unavailableReason(series) ?? 'no_observations',
    }),
    free_tier: free.has(series.id),
    multiplier: 10 ** series.decimals,
    validation: { min: bounds.min, max: roundTo(bounds.max, 6) },
    price_change_threshold: priceChangeThresholdPercent,
    first_observation: reach?.firstOn ?? null,
    last_observation: reach ? isoInstant(reach.lastAt) : null,
    ...(series.delivery && { time: 'delivery' as const }),
    ...(series.averageOf !== undefined && { derived_from: series.averageOf }),
  })
}

/**
 * The series of the codes in a list, in its order; a code that the catalogue does not have is
 * passed over.
 */
export const seriesOf = (catalogue: Catalogue, codes: readonly string[]): Series[] =>
  codes.flatMap(code => catalogue.named(code) ?? []).filter(isForAnyone)

/** View-only series are for callers with a key. */
export const isForAnyone = (series: Series): boolean => series.publisher?.licenseClass !== 'view'

/**
 * The series of the code or alias in a path, for a futures family its own; 404 with suggestions for
 * anything else.
 */
export function commodityOf(
  catalogue: Catalogue,
  text: string,
  now: number,
): { series: Series; requestedCode: string | undefined } {
  const requestedCode = text.trim().toUpperCase()
  const series = catalogue.named(requestedCode) ?? catalogue.resolve(requestedCode, now)?.series
  if (series)
    return { series, requestedCode: requestedCode === series.code ? undefined : requestedCode }
  const code = requestedCode.slice(0, 100)
  const suggestions = catalogue.suggest(code).map(series => series.code)
  const meant = suggestions.length > 0 ? ` Did you mean ${suggestions.join(', ')}?` : ''
  throw new Problem(
    'COMMODITY_NOT_FOUND',
    `Unknown commodity code: ${code}.${meant} GET /v1/commodities lists every code.`,
    {
      commodity_code: code,
      suggestions,
    },
  )
}

/** A category of the catalogue in any letter case; undefined when none is requested. */
export function categoryOf(catalogue: Catalogue, text: string | undefined): string | undefined {
  const category = text?.trim().toLowerCase()
  if (!category) return undefined
  const categories = [...new Set(catalogue.list().map(series => series.category))].sort()
  if (!categories.includes(category)) throw invalidParameter('category', text, categories)
  return category
}

/** `markFixtures` for a list of series. */
export function markSeries(reply: Reply, marks: Marks, all: readonly Series[]): void {
  const fixture = all.find(series => series.fixture)
  if (fixture) markFixtures(reply, marks, [{ series: fixture }])
}
