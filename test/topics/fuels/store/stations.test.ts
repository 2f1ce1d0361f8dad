import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Station } from '../../../../src/topics/fuels/dataset/diesel-stations.ts'
import { createStationStore } from '../../../../src/topics/fuels/store/stations.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const at = (
  reference: string,
  latitude: number,
  longitude: number,
  more: Partial<Station> = {},
): Station => ({
  reference,
  name: `Stop ${reference}`,
  address: '1 Road',
  state: 'TX',
  latitude,
  longitude,
  price: 3.459,
  fuelTypes: ['diesel', 'def'],
  observedAt: 1000,
  source: 'import',
  ...more,
})

/** Distance in miles as textbooks write it, apart from the code under test. */
function haversine(
  a: { latitude: number; longitude: number },
  b: { latitude: number; longitude: number },
): number {
  const radians = Math.PI / 180
  const [phi1, phi2] = [a.latitude * radians, b.latitude * radians]
  const [dPhi, dLambda] = [phi2 - phi1, (b.longitude - a.longitude) * radians]
  const h = Math.sin(dPhi / 2) ** 2 + Math.cos(phi1) * Math.cos(phi2) * Math.sin(dLambda / 2) ** 2
  return 2 * 3958.7613 * Math.asin(Math.min(1, Math.sqrt(h)))
}

describe('a station', () => {
  test('is known by its reference: the same again is unchanged, another price replaces it, and it can move', () => {
    const store = createStationStore(databaseInMemory())
    const houston = { latitude: 29.76, longitude: -95.37 }
    expect(store.write([at('a', 29.77, -95.37), at('b', 29.78, -95.37)], 1)).toEqual({
      inserted: 2,
      revised: 0,
      unchanged: 0,
    })
    expect(store.write([at('a', 29.77, -95.37)], 2)).toEqual({
      inserted: 0,
      revised: 0,
      unchanged: 1,
    })
    expect(store.write([at('a', 29.77, -95.37, { price: 3.5, observedAt: 2000 })], 3)).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: 0,
    })
    expect(
      store.near(houston, 5, 10).stations.map(station => [station.reference, station.price]),
    ).toEqual([
      ['a', 3.5],
      ['b', 3.459],
    ])
    store.write([at('a', 40, -100, { observedAt: 3000 })], 4)
    expect(store.near(houston, 5, 10).stations.map(station => station.reference)).toEqual(['b'])
    expect(store.near({ latitude: 40, longitude: -100 }, 1, 10).stations[0]).toMatchObject({
      ...at('a', 40, -100, { observedAt: 3000 }),
      miles: 0,
    })
  })
  test('keeps its newest price when an older one comes in', () => {
    const store = createStationStore(databaseInMemory())
    store.write([at('a', 30, -95, { price: 3.5, observedAt: 2000 })], 1)
    expect(store.write([at('a', 30, -95, { price: 3.1, observedAt: 1999 })], 2)).toEqual({
      inserted: 0,
      revised: 0,
      unchanged: 1,
    })
    expect(store.near({ latitude: 30, longitude: -95 }, 1, 1).stations[0]!.price).toBe(3.5)
  })
  test('comes with the others of its file or not at all', () => {
    const store = createStationStore(databaseInMemory())
    expect(() => store.write([at('a', 30, -95), at('b', 30, -95, { price: -1 })], 1)).toThrow()
    expect(store.near({ latitude: 30, longitude: -95 }, 30, 10)).toEqual({ stations: [], total: 0 })
  })
})

describe('stations around a place', () => {
  const millionths = (min: number, max: number) =>
    fc.integer({ min: min * 1e6, max: max * 1e6 }).map(millionth => millionth / 1e6)
  const places = fc.array(fc.tuple(millionths(-90, 90), millionths(-180, 180)), { maxLength: 40 })
  const check = (
    list: readonly (readonly [number, number])[],
    centre: { latitude: number; longitude: number },
    radius: number,
  ) => {
    const store = createStationStore(databaseInMemory())
    const stations = list.map(([latitude, longitude], i) => at(String(i), latitude, longitude))
    store.write(stations, 1)
    const naive = stations
      .map((station, id) => ({ id, miles: haversine(centre, station) }))
      .filter(station => station.miles <= radius)
      .sort((a, b) => a.miles - b.miles || a.id - b.id)
    const nearby = store.near(centre, radius, 50)
    expect(nearby.total).toBe(naive.length)
    expect(nearby.stations.map(station => station.miles)).toEqual(
      naive.slice(0, 50).map(station => expect.closeTo(station.miles, 6)),
    )
    expect(new Set(nearby.stations.map(station => Number(station.reference)))).toEqual(
      new Set(naive.slice(0, 50).map(station => station.id)),
    )
  }

  test('are those that a full scan finds, anywhere on Earth', () => {
    fc.assert(
      fc.property(
        places,
        millionths(-90, 90),
        millionths(-180, 180),
        fc.integer({ min: 1, max: 3000 }),
        (list, latitude, longitude, radius) => check(list, { latitude, longitude }, radius),
      ),
      { numRuns: runs(60) },
    )
  })
  test('are those near by too, where all of them are close', () => {
    const close = fc.array(fc.tuple(millionths(29.5, 30), millionths(-95.7, -95)), {
      minLength: 20,
      maxLength: 120,
    })
    fc.assert(
      fc.property(close, millionths(0.1, 30), (list, radius) =>
        check(list.slice(0, 50), { latitude: 29.76, longitude: -95.37 }, radius),
      ),
      { numRuns: runs(40) },
    )
  })
  test('are found over the meridian of 180 degrees and at the pole', () => {
    check([[51.9, 179.99], [51.9, -179.99], [51.9, 170]], { latitude: 51.9, longitude: 180 }, 5) // biome-ignore format: a table
    check([[89.99, 0], [89.99, 180], [88, 90]], { latitude: 90, longitude: 0 }, 2) // biome-ignore format: a table
  })
  test('come the nearest first, of equally near ones the one known first, and are cut', () => {
    const store = createStationStore(databaseInMemory())
    store.write(
      [at('far', 30.2, -95), at('first', 31, -95), at('second', 30.1, -95), at('near', 30.01, -95)],
      1,
    )
    // It comes to where the second is already.
    store.write([at('first', 30.1, -95, { observedAt: 2000 })], 2)
    const { stations, total } = store.near({ latitude: 30, longitude: -95 }, 30, 3)
    expect([stations.map(station => station.reference), total]).toEqual([
      ['near', 'first', 'second'],
      4,
    ])
  })
})
