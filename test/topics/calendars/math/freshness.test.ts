import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import {
  dataStatus,
  freshUntil,
  maxAgeHours,
} from '../../../../src/topics/calendars/math/freshness.ts'
import type { Listing } from '../../../../src/topics/calendars/math/schedule.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { shippedTermsOf } from '../../../../src/topics/catalogue/math/delivery-codes.ts'
import { depthOf } from '../../../../src/topics/prices/demo/history-depth.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'

const at = (text: string): number => parseInstant(text)!

const forties: Listing = { code: 'FORTIES_USD', category: 'physical_crude', cadence: 'daily' }
const mars: Listing = { code: 'MARS_USD', category: 'physical_crude', cadence: 'daily' }
const danish: Listing = { code: 'DIESEL_LIST_B7_DKK', category: 'list_prices', cadence: 'daily' }
const rigs: Listing = { code: 'US_RIG_COUNT', category: 'drilling', cadence: 'weekly' }

test.each([
  [
    'a Friday is current until Tuesday and stale after Wednesday',
    forties,
    '2026-11-20T16:30:00Z',
    '2026-11-24T16:30:00Z',
    '2026-11-25T16:30:00Z',
  ],
  [
    'Thanksgiving does not age an American grade',
    mars,
    '2026-11-25T19:30:00Z',
    '2026-11-30T19:30:00Z',
    '2026-12-01T19:30:00Z',
  ],
  [
    'nor does it keep a British one young',
    forties,
    '2026-11-25T16:30:00Z',
    '2026-11-27T16:30:00Z',
    '2026-11-30T16:30:00Z',
  ],
  [
    'a list price is due every calendar day',
    danish,
    '2026-11-20T00:00:00Z',
    '2026-11-22T00:00:00Z',
    '2026-11-23T00:00:00Z',
  ],
  [
    'a weekly count waits for the next but one business day',
    rigs,
    '2026-11-20T12:00:00Z',
    '2026-11-30T12:00:00Z',
    '2026-12-11T12:00:00Z',
  ],
] as [string, Listing, string, string, string][])(
  '%s',
  (_, listing, observed, current, delayed) => {
    const observedAt = at(observed)
    const until = freshUntil(listing, observedAt)
    expect({
      currentUntil: isoInstant(until.currentUntil),
      delayedUntil: isoInstant(until.delayedUntil),
    }).toEqual({ currentUntil: current, delayedUntil: delayed })
    expect(dataStatus(listing, observedAt, at(current))).toBe('current')
    expect(dataStatus(listing, observedAt, at(current) + 1)).toBe('delayed')
    expect(dataStatus(listing, observedAt, at(delayed))).toBe('delayed')
    expect(dataStatus(listing, observedAt, at(delayed) + 1)).toBe('stale')
    expect(maxAgeHours(listing, observedAt)).toBe((at(delayed) - observedAt) / hourMs)
  },
)

test('an observation is current before it is delayed, and delayed before it is stale', () => {
  const listings = shippedCatalogue().series
  fc.assert(
    fc.property(
      fc.constantFrom(...listings),
      fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }),
      (listing, observedAt) => {
        const { currentUntil, delayedUntil } = freshUntil(listing, observedAt)
        expect(currentUntil - observedAt).toBeGreaterThan(dayMs)
        expect(delayedUntil).toBeGreaterThanOrEqual(currentUntil)
        for (const now of [observedAt - 1, observedAt + dayMs, observedAt + dayMs + 1])
          expect(dataStatus(listing, observedAt, now)).toBe('current')
        expect(dataStatus(listing, observedAt, currentUntil + 1)).not.toBe('current')
      },
    ),
  )
})

test('in the demo world nothing is stale or delayed at any start', () => {
  const series = shippedCatalogue().series.map(listing => ({
    ...listing,
    available: listing.unavailableReason === null,
  }))
  // Delivery periods lie ahead: test/topics/prices/demo/power.test.ts has their freshness.
  const available = series.filter(
    ({ available, code }) => available && shippedTermsOf(code)?.time !== 'delivery',
  )
  expect(available.length).toBeGreaterThan(500)
  const world = createWorld({ seed: 7, series })
  const moments = fc.sample(fc.integer({ min: Date.UTC(2018, 0, 1), max: Date.UTC(2038, 0, 1) }), {
    numRuns: 14,
    seed: 23,
  })
  const hard = [
    '2026-12-25T23:59:59Z',
    '2026-12-28T09:00:00Z',
    '2027-01-01T00:00:01Z',
    '2024-04-01T18:00:00Z',
    '2026-11-30T00:10:00Z',
    '2025-04-21T16:45:00Z',
  ]
  for (const now of [...moments, ...hard.map(at)]) {
    const late = available.filter(listing => {
      const newest = world
        .observations(listing.code, now - 45 * dayMs, now, depthOf(listing, now))
        .at(-1)
      return newest === undefined || dataStatus(listing, newest.observedAt, now) !== 'current'
    })
    expect(
      late.map(listing => listing.code),
      isoInstant(now),
    ).toEqual([])
  }
}, 30_000)
