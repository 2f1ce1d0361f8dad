import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import type { Station } from '../../../../src/topics/fuels/dataset/diesel-stations.ts'
import { createStationData } from '../../../../src/topics/fuels/demo/stations.ts'
import { dieselCode } from '../../../../src/topics/fuels/math/diesel.ts'
import { createStationStore } from '../../../../src/topics/fuels/store/stations.ts'
import { usStates } from '../../../../src/topics/geography/math/us-states.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-20T15:00:00Z')!
const series = shippedCatalogue().series.map(series => ({
  ...series,
  available: series.unavailableReason === null,
}))
const world = createWorld({ seed: 1, series })

function copy(seed = 1) {
  const stations = createStationStore(databaseInMemory())
  return { stations, filler: published(createStationData({ seed, world, stations })) }
}
const everywhere = ({ stations }: ReturnType<typeof copy>): Station[] =>
  stations
    .near({ latitude: 40, longitude: -100 }, 5000, 1000)
    .stations.map(({ id: _, miles: __, ...station }) => station)
const byReference = (list: readonly Station[]) =>
  list.toSorted((a, b) => (a.reference < b.reference ? -1 : 1))

describe('stations of a demo instance', () => {
  test('exist in every state, some hundreds, and are marked', () => {
    const filled = copy()
    filled.filler.advance(start)
    const all = everywhere(filled)
    expect(all.length).toBeGreaterThan(300)
    expect(all.length).toBeLessThan(600)
    expect(new Set(all.map(station => station.state))).toEqual(
      new Set(usStates.map(state => state.code)),
    )
    expect(all.every(station => station.source === 'fixture' && station.fuelTypes.length > 1)).toBe(
      true,
    )
    // Five miles around the middle of Houston.
    expect(
      filled.stations.near({ latitude: 29.76, longitude: -95.37 }, 5, 50).total,
    ).toBeGreaterThan(4)
  })

  test.each([
    ['San Francisco', 37.7749, -122.4194],
    ['Los Angeles', 34.0522, -118.2437],
    ['New York', 40.7128, -74.006],
    ['Chicago', 41.8781, -87.6298],
    ['Miami', 25.7617, -80.1918],
    ['Boston', 42.3601, -71.0589],
    ['Denver', 39.7392, -104.9903],
    ['Seattle', 47.6062, -122.3321],
  ])('stand within five miles of %s, as usual examples ask', (_, latitude, longitude) => {
    const filled = copy()
    filled.filler.advance(start)
    expect(filled.stations.near({ latitude, longitude }, 5, 50).total).toBeGreaterThan(1)
  })

  test('demo station prices stay within a fifth of their state average, and the mean is within a few percent', () => {
    const filled = copy()
    filled.filler.advance(start)
    const all = everywhere(filled)
    const ratios = all.map(
      ({ state, price }) =>
        price / world.observations(dieselCode(state), start - 28 * dayMs, start).at(-1)!.value,
    )
    expect(Math.min(...ratios)).toBeGreaterThan(0.85)
    expect(Math.max(...ratios)).toBeLessThan(1.15)
    const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length
    expect(Math.abs(mean - 1)).toBeLessThan(0.01)
    expect(new Set(ratios.map(ratio => ratio.toFixed(2))).size).toBeGreaterThan(8)
  })

  test('change their prices once a day at 11:00 UTC, with prices seen in the five hours before', () => {
    const filled = copy()
    filled.filler.advance(start)
    const before = byReference(everywhere(filled))
    expect(filled.filler.advance(start + 19 * hourMs)).toBe(0)
    expect(filled.filler.advance(start + 20 * hourMs)).toBe(before.length)
    const after = byReference(everywhere(filled))
    const published = parseInstant('2026-11-21T11:00:00Z')!
    expect(
      after.every(
        ({ observedAt }) => observedAt < published && observedAt >= published - 5 * hourMs,
      ),
    ).toBe(true)
    expect(after.filter((station, i) => station.price !== before[i]!.price).length).toBeGreaterThan(
      before.length / 4,
    )
  })

  test('are the same however the clock came there, and others under another seed', () => {
    const [far, stepped, second] = [copy(), copy(), copy(2)]
    const end = start + 40 * dayMs
    for (let at = start; at <= end; at += 3 * dayMs) stepped.filler.advance(at)
    stepped.filler.advance(end)
    far.filler.advance(end)
    second.filler.advance(end)
    expect(byReference(everywhere(stepped))).toEqual(byReference(everywhere(far)))
    expect(everywhere(second).map(station => station.latitude)).not.toEqual(
      everywhere(far).map(station => station.latitude),
    )
  })
})
