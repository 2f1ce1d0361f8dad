import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { dayMs, hourMs, minuteMs } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { draw, keyOf, normal } from '../../prices/demo/noise.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Station } from '../dataset/diesel-stations.ts'
import { dieselCode } from '../math/diesel.ts'
import type { StationStore } from '../store/stations.ts'

/** State, place, latitude, longitude and how many stations stand around it. */
const places = `
AK Anchorage 61.2181 -149.9003 3
AL Birmingham 33.5186 -86.8104 6
AR Little Rock 34.7465 -92.2896 6
AZ Phoenix 33.4484 -112.0740 9
CA Los Angeles 34.0522 -118.2437 16
CA San Francisco 37.7749 -122.4194 9
CA Oakland 37.8044 -122.2712 7
CA San Jose 37.3382 -121.8863 6
CA San Diego 32.7157 -117.1611 7
CA Fresno 36.7378 -119.7871 5
CA Sacramento 38.5816 -121.4944 8
CA Bakersfield 35.3733 -119.0187 8
CO Denver 39.7392 -104.9903 9
CT Hartford 41.7658 -72.6734 4
DC Washington 38.9072 -77.0369 3
DE Wilmington 39.7391 -75.5398 3
FL Miami 25.7617 -80.1918 7
FL Tampa 27.9506 -82.4572 6
FL Jacksonville 30.3322 -81.6557 8
FL Orlando 28.5383 -81.3792 8
GA Atlanta 33.7490 -84.3880 12
HI Honolulu 21.3069 -157.8583 3
IA Des Moines 41.5868 -93.6250 7
ID Boise 43.6150 -116.2023 5
IL Chicago 41.8781 -87.6298 14
IN Indianapolis 39.7684 -86.1581 10
KS Wichita 37.6872 -97.3301 6
KY Louisville 38.2527 -85.7585 7
LA New Orleans 29.9511 -90.0715 7
MA Boston 42.3601 -71.0589 6
MA Worcester 42.2626 -71.8023 5
MD Baltimore 39.2904 -76.6122 6
ME Portland 43.6591 -70.2568 4
MI Detroit 42.3314 -83.0458 9
MN Minneapolis 44.9778 -93.2650 8
MO Kansas City 39.0997 -94.5786 7
MO St. Louis 38.6270 -90.1994 9
MS Jackson 32.2988 -90.1848 5
MT Billings 45.7833 -108.5007 5
NC Charlotte 35.2271 -80.8431 8
ND Bismarck 46.8083 -100.7837 5
NE Omaha 41.2565 -95.9345 7
NH Manchester 42.9956 -71.4548 3
NJ Newark 40.7357 -74.1724 9
NM Albuquerque 35.0844 -106.6504 6
NV Las Vegas 36.1699 -115.1398 6
NV Reno 39.5296 -119.8138 5
NY New York 40.7128 -74.0060 8
NY Albany 42.6526 -73.7562 5
NY Buffalo 42.8864 -78.8784 6
OH Cleveland 41.4993 -81.6944 6
OH Columbus 39.9612 -82.9988 10
OK Oklahoma City 35.4676 -97.5164 8
OR Portland 45.5152 -122.6784 7
PA Philadelphia 39.9526 -75.1652 8
PA Pittsburgh 40.4406 -79.9959 6
PA Harrisburg 40.2732 -76.8867 9
RI Providence 41.8240 -71.4128 3
SC Columbia 34.0007 -81.0348 6
SD Sioux Falls 43.5446 -96.7311 5
TN Memphis 35.1495 -90.0490 7
TN Nashville 36.1627 -86.7816 9
TX Austin 30.2672 -97.7431 6
TX San Antonio 29.4241 -98.4936 7
TX Houston 29.7604 -95.3698 18
TX Dallas 32.7767 -96.7970 15
TX El Paso 31.7619 -106.4850 6
TX Midland 31.9973 -102.0779 7
UT Salt Lake City 40.7608 -111.8910 7
VA Richmond 37.5407 -77.4360 7
VT Burlington 44.4759 -73.2121 3
WA Spokane 47.6588 -117.4260 4
WA Seattle 47.6062 -122.3321 8
WI Milwaukee 43.0389 -87.9065 7
WV Charleston 38.3498 -81.6326 5
WY Cheyenne 41.1400 -104.8202 5`

const placeLine = /^([A-Z]{2}) (.+) (-?[\d.]+) (-?[\d.]+) (\d+)$/
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
  return places
    .trim()
    .split('\n')
    .flatMap(line => {
      const [, state, town, latitude, longitude, count] = placeLine.exec(line)!
      return Array.from({ length: Number(count) }, (_, i) => {
        const key = keyOf(`${seed}/stations/${state}/${town}/${i}`)
        // The first are in town, the last at its edge, twenty miles out.
        const spread = 0.012 + 0.012 * i
        const [north, east] = [normal(key, 1), normal(key, 2)]
        return {
          key,
          reference:
            `fixture-${state}-${town!.replaceAll(/[^A-Za-z]/g, '')}-${i + 1}`.toLowerCase(),
          name: `${town} ${names[draw(key, 3) % names.length]}`,
          address: `${100 + (draw(key, 4) % 9800)} ${roads[draw(key, 5) % roads.length]}, ${town}, ${state}`,
          state: state!,
          latitude: toMillionths(Number(latitude) + spread * 0.45 * north),
          longitude: toMillionths(Number(longitude) + spread * 0.55 * east),
          fuelTypes: ['diesel', ...extras[draw(key, 6) % extras.length]!],
        }
      })
    })
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
