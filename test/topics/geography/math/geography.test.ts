import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  boxAround,
  isInside,
  milesBetween,
  type Place,
  spansOf,
} from '../../../../src/topics/geography/math/geography.ts'
import { runs } from '../../../support/full.ts'

const place = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})
const at = (latitude: number, longitude: number): Place => ({ latitude, longitude })

/** The angle between two vectors: another way to the same distance. */
function milesByVectors(a: Place, b: Place): number {
  const vector = ({ latitude, longitude }: Place) => {
    const [lat, lon] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180]
    return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)] as const
  }
  const [p, q] = [vector(a), vector(b)]
  const cross = Math.hypot(
    p[1] * q[2] - p[2] * q[1],
    p[2] * q[0] - p[0] * q[2],
    p[0] * q[1] - p[1] * q[0],
  )
  return 3958.7613 * Math.atan2(cross, p[0] * q[0] + p[1] * q[1] + p[2] * q[2])
}

describe('the distance of two places', () => {
  for (const [from, to, miles] of [
    // A degree of a meridian is 1/360 of the circumference: 2 pi x 3958.7613 / 360.
    [at(31, -102), at(32, -102), 69.0934],
    [at(0, 179.5), at(0, -179.5), 69.0934],
    // Half way round: pi x 3958.7613.
    [at(90, 0), at(-90, 77), 12436.815],
    [at(89, 0), at(89, 180), 138.1868],
    [at(31.9, -102.1), at(31.9, -102.1), 0],
  ] as const) {
    test(`of ${JSON.stringify(from)} and ${JSON.stringify(to)} is ${miles} miles`, () => {
      expect(milesBetween(from, to)).toBeCloseTo(miles, 3)
    })
  }

  test('is the angle between their vectors', () => {
    fc.assert(
      fc.property(place, place, (a, b) =>
        expect(milesBetween(a, b)).toBeCloseTo(milesByVectors(a, b), 3),
      ),
    )
  })
})

describe('the box around a circle', () => {
  test('has every place of it, at the poles and across the meridian of 180 degrees too', () => {
    const circle = fc.record({
      centre: place,
      radiusMiles: fc.double({ min: 0.1, max: 8000, noNaN: true }),
    })
    const bearing = fc.double({ min: 0, max: 2 * Math.PI, noNaN: true })
    fc.assert(
      fc.property(
        circle,
        bearing,
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ centre, radiusMiles }, angle, part) => {
          const inside = destination(centre, radiusMiles * part, angle)
          fc.pre(milesBetween(centre, inside) <= radiusMiles)
          expect(isInside(boxAround({ ...centre, radiusMiles }), inside)).toBe(true)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  for (const [name, circle, spans] of [
    ['inside one hemisphere is one span', { ...at(31.9, -102), radiusMiles: 10 }, 1],
    ['across 180 degrees from the east is two', { ...at(52, 179.95), radiusMiles: 10 }, 2],
    ['across 180 degrees from the west is two', { ...at(52, -179.95), radiusMiles: 10 }, 2],
    ['with the pole inside is all meridians', { ...at(89.95, 12), radiusMiles: 10 }, 1],
  ] as const) {
    test(name, () => expect(spansOf(boxAround(circle))).toHaveLength(spans))
  }

  test('is as small as possible', () => {
    const { south, north, west, east } = boxAround({ ...at(60, 10), radiusMiles: 69.0934 })
    expect({ south, north }).toEqual({ south: expect.closeTo(59, 4), north: expect.closeTo(61, 4) })
    // asin(sin 1 / cos 60) degrees.
    expect([10 - west, east - 10]).toEqual([expect.closeTo(2.00031, 4), expect.closeTo(2.00031, 4)])
  })

  test('with a pole inside reaches to the pole', () => {
    expect(boxAround({ ...at(-89.95, 12), radiusMiles: 10 })).toMatchObject({
      south: -90,
      west: -180,
      east: 180,
    })
  })
})

/** Where one arrives who goes so far on a great circle. */
function destination({ latitude, longitude }: Place, miles: number, bearing: number): Place {
  const [lat, lon, angle] = [
    (latitude * Math.PI) / 180,
    (longitude * Math.PI) / 180,
    miles / 3958.7613,
  ]
  const sine = Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(bearing)
  const reached = Math.asin(Math.max(-1, Math.min(1, sine)))
  const east = Math.atan2(
    Math.sin(bearing) * Math.sin(angle) * Math.cos(lat),
    Math.cos(angle) - Math.sin(lat) * sine,
  )
  const degrees = ((lon + east) * 180) / Math.PI
  return at((reached * 180) / Math.PI, ((((degrees + 180) % 360) + 360) % 360) - 180)
}
