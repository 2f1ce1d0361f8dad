import { t } from '../../../http/answer/schema.ts'
import { body, decimal, nullableAs, optional } from '../../../http/input/body-schema.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { generatedSource, sourceDescription, sourceOf } from '../../catalogue/math/catalogue.ts'
import { formatPrice, roundTo } from '../../prices/math/format.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import { againstAverage, dieselCode, metersAMile, nationalDieselCode } from '../math/diesel.ts'
import type { StationNearby, StationStore } from '../store/stations.ts'

export interface DieselDeps extends Pick<Context, 'latestPrices' | 'catalogue' | 'marks' | 'now'> {
  stations: Pick<StationStore, 'near'>
}

const radiusMeters = { min: 1, max: 50_000, default: 8047 }
const stationsMax = 50
const decimals = 3

const Place = t.Object({
  lat: t.Number({ examples: [29.76] }),
  lng: t.Number({ examples: [-95.37] }),
})

const Nearby = t.object('DieselStations', {
  regional_average: t.orNull(
    t.Object({
      price: t.Number({ examples: [3.441] }),
      currency: t.Literal('USD'),
      unit: t.Literal('gallon'),
      region: t.String({ examples: ['TX'] }),
      granularity: t.oneOf(['state', 'national']),
      source: t.String({ examples: ['market_reporting'] }),
    }),
    'For the state of the nearest station, otherwise the country; null if neither is available.',
  ),
  stations: t.Array(
    t.object('DieselStation', {
      name: t.String({ examples: ['Gulf Truck Stop'] }),
      address: t.String({ examples: ['1200 Katy Freeway, Houston'] }),
      location: Place,
      diesel_price: t.Number({ examples: [3.419] }),
      formatted_price: t.String({ examples: ['$3.419'] }),
      currency: t.Literal('USD'),
      unit: t.Literal('gallon'),
      price_delta: t.numberOrNull('Price minus the regional average; null without one.', -0.022),
      price_vs_average: t.stringOrNull('The same for people.', '0.6% below average'),
      fuel_types: t.Array(t.String({ examples: ['diesel'] })),
      last_updated: t.instant('When the price was seen.'),
      state: t.String({ examples: ['TX'] }),
      distance_meters: t.integer({ examples: [2260] }),
    }),
    { maxItems: stationsMax },
  ),
  search_area: t.Object({
    center: Place,
    radius_meters: t.Number({ examples: [radiusMeters.default] }),
    radius_miles: t.Number({ examples: [5] }),
  }),
  metadata: t.Object({
    total_stations: t.integer(
      `Number of stations in the area; the ${stationsMax} nearest are returned.`,
    ),
    source: t.string('Source of the prices; `none` without stations.', 'import'),
    source_description: t.String(),
    cached: t.boolean('Always false: stations are stored, not fetched.'),
    api_cost: t.number('Always 0.'),
    timestamp: t.String({ format: 'date-time' }),
    cache_age_hours: t.orNull(t.Number(), 'Always null, as nothing is cached.'),
  }),
})

const StationsBody = body({
  lat: decimal(-90, 90, { examples: [29.76] }),
  lng: decimal(-180, 180, { examples: [-95.37] }),
  radius: optional(
    nullableAs(
      decimal(radiusMeters.min, radiusMeters.max, { examples: [radiusMeters.default] }),
      radiusMeters.default,
      { description: `Meters, ${radiusMeters.default} when absent: five miles.` },
    ),
  ),
})

/** Stations around a place, the nearest first. */
export function dieselStationsOperations({
  latestPrices,
  catalogue,
  stations,
  marks,
  now,
}: DieselDeps) {
  const quoteOf = (code: string) => {
    const series = catalogue.resolve(code, now())?.series
    return series && latestPrices.quote(series)
  }
  const averageNear = (
    nearest: StationNearby | undefined,
  ): { region: string; quote: Quote } | undefined => {
    const stateQuote = nearest && quoteOf(dieselCode(nearest.state))
    if (nearest && stateQuote) return { region: nearest.state, quote: stateQuote }
    const quote = quoteOf(nationalDieselCode)
    return quote && { region: 'US', quote }
  }
  return [
    operation('POST /v1/diesel-prices/stations', {
      operationId: 'findDieselStations',
      summary: 'Find diesel stations near a location',
      description: `Returns the stations within a radius of up to ${radiusMeters.max.toLocaleString('en')} meters, measured along the great circle, nearest first, at most ${stationsMax}. Each compares its price with the average of the region. The list is empty if no stations are loaded.`,
      access: { meter: true, header: true, feature: 'calculated_metrics', action: 'read' },
      body: StationsBody.schema,
      answers: Nearby,
      handle: ({ body: input, reply }) => {
        const area = StationsBody.read(input)
        const { lat: latitude, lng: longitude, radius: meters = radiusMeters.default } = area
        const { stations: nearest, total } = stations.near(
          { latitude, longitude },
          meters / metersAMile,
          stationsMax,
        )
        const average = averageNear(nearest[0])
        const price =
          average && roundTo(average.quote.observation.value, average.quote.series.decimals)
        const sources = [...new Set(nearest.map(station => station.source))]
        const isFixture = sources.includes(generatedSource)
        reply.headers['x-cache'] = 'MISS'
        markFixtures(reply, marks, [
          ...(average ? [average.quote] : []),
          { series: { fixture: isFixture } },
        ])
        return {
          regional_average:
            average && price !== undefined
              ? averageRow(average.region, average.quote, price)
              : null,
          stations: nearest.map(station => stationRow(station, price)),
          search_area: {
            center: { lat: latitude, lng: longitude },
            radius_meters: meters,
            radius_miles: roundTo(meters / metersAMile, 2),
          },
          metadata: {
            total_stations: total,
            source: sources.join(', ') || 'none',
            source_description: sourceSentence(sources),
            cached: false,
            api_cost: 0,
            timestamp: isoInstant(now()),
            cache_age_hours: null,
          },
        }
      },
    }),
  ]
}

const averageRow = (region: string, { series }: Quote, price: number) => ({
  price,
  currency: 'USD' as const,
  unit: 'gallon' as const,
  region,
  granularity: region === 'US' ? ('national' as const) : ('state' as const),
  source: sourceOf(series).name,
})

function stationRow(station: StationNearby, average: number | undefined) {
  const price = roundTo(station.price, decimals)
  const against = average === undefined ? undefined : againstAverage(price, average)
  return {
    name: station.name,
    address: station.address,
    location: { lat: station.latitude, lng: station.longitude },
    diesel_price: price,
    formatted_price: formatPrice(price, decimals, 'USD', 'gallon', false),
    currency: 'USD' as const,
    unit: 'gallon' as const,
    price_delta: against?.delta ?? null,
    price_vs_average: against?.text ?? null,
    fuel_types: [...station.fuelTypes],
    last_updated: isoInstant(station.observedAt),
    state: station.state,
    distance_meters: Math.round(station.miles * metersAMile),
  }
}

/** Where the prices come from, in a sentence. */
function sourceSentence(sources: readonly string[]): string {
  if (sources.length === 0) return 'No station is loaded for this area'
  return sources.map(source => sourceDescription(source, source === generatedSource)).join('; ')
}
