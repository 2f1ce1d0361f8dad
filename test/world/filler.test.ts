import { expect, test } from 'bun:test'
import { createManualClock } from '../../src/lib/clock.ts'
import { hourMs } from '../../src/lib/instant.ts'
import { type Filler, withFillers } from '../../src/world/filler.ts'
import { createPriceFeed, type StoredSeries } from '../../src/world/prices/feed.ts'
import { leadingCodes } from '../../src/world/prices/history-depth.ts'
import { createWorld } from '../../src/world/prices/world.ts'

const start = Date.parse('2026-11-20T15:00:00Z')
const codes = [...leadingCodes, 'COPPER_USD', 'PROPANE_USD', 'COAL_USD']
const series: StoredSeries[] = codes.map((code, i) => ({
  id: i + 1,
  code,
  category: 'refined_products',
  cadence: 'daily',
  level: 2,
  volatility: 0.3,
  unit: 'gallon',
  decimals: 3,
  currency: 'USD',
  available: true,
}))

/**
 * A feed of prices with two families: one that takes three steps for its history, and one that has
 * none.
 */
function copy() {
  const clock = createManualClock(start)
  const state = new Map<string, string>()
  const said: string[] = []
  const prices = createPriceFeed({
    series,
    clock,
    world: createWorld({ seed: 1, series }),
    ingest: { write: () => void said.push('prices') },
    settings: { get: name => state.get(name), set: (name, value) => void state.set(name, value) },
    // Every look at the watch is a millisecond later: each step writes one transaction.
    stopwatch: { now: () => 0, monotonic: () => said.length },
  })
  let left = 3
  const long: Required<Filler> = {
    step() {
      if (left === 0) return false
      left -= 1
      said.push(`long after ${Math.min(prices.filled().size, leadingCodes.length)}`)
      return left > 0
    },
    advance: now => void said.push(`long at ${(now - start) / hourMs}`),
  }
  const short: Filler = { advance: now => void said.push(`short at ${(now - start) / hourMs}`) }
  return { feed: withFillers(prices, [long, short]), said }
}

test('families come after the codes that everybody tries first, and all of them before the copy is complete', () => {
  const { feed, said } = copy()
  let steps = 0
  while (feed.step(1)) steps += 1
  expect(steps).toBeGreaterThan(0)
  expect(feed.filled().size).toBe(codes.length)
  expect(said.filter(one => one.startsWith('long'))).toEqual(
    Array.from({ length: 3 }, () => `long after ${leadingCodes.length}`),
  )
  expect(feed.step(1)).toBe(false)
})

test('families move on with the prices, and stand still with them', () => {
  const { feed, said } = copy()
  while (feed.step(1));
  said.length = 0
  feed.paused = true
  feed.advance(start + hourMs)
  expect([said, feed.paused]).toEqual([[], true])
  feed.paused = false
  feed.advance(start + 2 * hourMs)
  expect(said.filter(one => one !== 'prices')).toEqual(['long at 2', 'short at 2'])
})
