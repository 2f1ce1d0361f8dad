import placesText from '../../../../fixtures/demo/station-places.tsv' with { type: 'text' }
import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { tsvRows } from '../../../lib/text/tsv.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { draw, keyOf, normal } from '../../prices/demo/noise.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Station } from '../dataset/diesel-stations.ts'
import { dieselCode } from '../math/diesel.ts'
import type { StationStore } from '../store/stations.ts'

const names = [
  'Crossroads Travel Plaza',
  'Milepost Fuel',
  'Northgate Truck Stop',
  'Junction Diesel',
  'Longhaul Plaza',
  'Wayside Fuel Stop',
]
const roads = [
  'Frontage Road',
  'Depot Street',
  'Industrial Boulevard',
  'Old Mill Road',
  'Terminal Avenue',
  'Market Street',
]
const extras = [['def'], ['def', 'unleaded'], ['def', 'biodiesel_b20', 'unleaded'], ['unleaded']]

/** Prices are collected in the hours before and published once a day. */
const publishedMs = 11 * hourMs
const collectedMinutes = 300
/**
 * How far the price of a station is from the average of its state: a constant share, and one that
 * changes daily.
 */
const [ownShare, dayShare] = [0.032, 0.004]
/** Further back lies no weekly average that still counts. */
const averageMs = 28 * dayMs

interface Place
  extends Pick<
    Station,
    'reference' | 'name' | 'address' | 'state' | 'latitude' | 'longitude' | 'fuelTypes'
  > {
  /** The key of its random numbers. */
  key: number
}

/**
 * A few hundred stations around places of every state, with prices around the generated average of
 * the state.
 */
export function createStationData(deps: {
  seed: number
  world: World
  stations: Pick<StationStore, 'write'>
}): DemoData {
  const { seed, world, stations } = deps
  let all: readonly Place[] | undefined

  const publish = (publishedAt: number): number => {
    all ??= stationPlaces(seed)
    const averages = new Map(
      [...new Set(all.map(place => place.state))].map(state => [
        state,
        world.observations(dieselCode(state), publishedAt - averageMs, publishedAt).at(-1)?.value,
      ]),
    )
    const rows = all.flatMap(place => {
      const average = averages.get(place.state)
      return average === undefined ? [] : [stationOn(place, publishedAt, average)]
    })
    if (rows.length > 0) stations.write(rows, publishedAt)
    return rows.length
  }
  return {
    percent: 1,
    generate: now => writtenAtOnce(() => publish(lastPublishedBefore(now))),
    publish(from, to) {
      const publishedAt = lastPublishedBefore(to)
      return publishedAt >= from ? publish(publishedAt) : 0
    },
  }
}

/** Only the newest prices of a station are stored. */
const lastPublishedBefore = (at: number): number =>
  Math.ceil((at - publishedMs) / dayMs - 1) * dayMs + publishedMs

function stationPlaces(seed: number): Place[] {
  return tsvRows<'state' | 'town' | 'latitude' | 'longitude' | 'stations'>(placesText).flatMap(
    ({ state, town, latitude, longitude, stations }) =>
      Array.from({ length: Number(stations) }, (_, i) => {
        const key = keyOf(`${seed}/stations/${state}/${town}/${i}`)
        // The first are in town, the last at its edge, twenty miles out.
        const spread = 0.012 + 0.012 * i
        const [north, east] = [normal(key, 1), normal(key, 2)]
        return {
          key,
          reference: `fixture-${state}-${town.replaceAll(/[^A-Za-z]/g, '')}-${i + 1}`.toLowerCase(),
          name: `${town} ${names[draw(key, 3) % names.length]}`,
          address: `${100 + (draw(key, 4) % 9800)} ${roads[draw(key, 5) % roads.length]}, ${town}, ${state}`,
          state,
          latitude: toMillionths(Number(latitude) + spread * 0.45 * north),
          longitude: toMillionths(Number(longitude) + spread * 0.55 * east),
          fuelTypes: ['diesel', ...extras[draw(key, 6) % extras.length]!],
        }
      }),
  )
}

const toMillionths = (degrees: number): number => Math.round(degrees * 1e6) / 1e6

function stationOn({ key, ...place }: Place, publishedAt: number, average: number): Station {
  const day = publishedAt / dayMs
  const price =
    average * (1 + ownShare * normal(key, 7) + dayShare * normal(key, 100 + Math.floor(day)))
  return {
    ...place,
    // Pump prices end in nine tenths of a cent.
    price: (Math.floor(price * 100) * 10 + 9) / 1000,
    observedAt: publishedAt - (1 + (draw(key, 8) % collectedMinutes)) * minuteMs,
    source: generatedSource,
  }
}
