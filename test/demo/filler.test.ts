import { expect, test } from 'bun:test'
import { type Filler, withFamilies } from '../../src/demo/filler.ts'
import { createManualClock } from '../../src/lib/time/clock.ts'
import { hourMs } from '../../src/lib/time/instant.ts'
import { createPriceFeed } from '../../src/topics/prices/demo/feed.ts'
import { leadingCodes } from '../../src/topics/prices/demo/history-depth.ts'
import type { StoredSeries } from '../../src/topics/prices/demo/publication.ts'
import { createWorld } from '../../src/topics/prices/demo/world.ts'

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
  const lines: string[] = []
  const prices = createPriceFeed({
    series,
    clock,
    world: createWorld({ seed: 1, series }),
    ingest: { write: () => void lines.push('prices') },
    settings: { get: name => state.get(name), set: (name, value) => void state.set(name, value) },
    // Every look at the watch is a millisecond later: each step writes one transaction.
    stopwatch: { now: () => 0, monotonic: () => lines.length },
  })
  let left = 3
  const long: Required<Filler> = {
    step() {
      if (left === 0) return false
      left -= 1
      lines.push(`long after ${Math.min(prices.filled().size, leadingCodes.length)}`)
      return left > 0
    },
    advance: now => void lines.push(`long at ${(now - start) / hourMs}`),
  }
  const short: Filler = { advance: now => void lines.push(`short at ${(now - start) / hourMs}`) }
  const feed = withFamilies(prices, {
    fillers: { long, short },
    registers: ['short' as 'long' | 'short'],
    first: () => void lines.push('first'),
    firstStep() {
      lines.push('first')
      return false
    },
    image: () => void lines.push('image'),
    quoteAll: () => void lines.push('quote'),
    quote: () => undefined,
    hasNewest: () => false,
    isUnwritten: () => false,
    isMissing: () => false,
    atOnce: work => work(),
    withoutSyncing: work => work(),
    reachOf: () => 'stretch',
    lay: ({ route }, fill) => {
      if (route === '/v1/long') fill('long')
    },
    supply(seriesId) {
      lines.push(`supply ${seriesId}`)
      return true
    },
    forget: seriesId => void lines.push(`forget ${seriesId}`),
    whenWhole: () => void lines.push('whole'),
    now: clock.now,
  })
  return { feed, said: lines }
}

test('families come after the newest of every code and before their histories', () => {
  const { feed, said } = copy()
  let steps = 0
  while (feed.step(1)) steps += 1
  expect(steps).toBeGreaterThan(0)
  expect(feed.filled().size).toBe(codes.length)
  expect(said.filter(line => line.startsWith('long'))).toEqual([
    'long after 0',
    'long after 0',
    'long after 0',
    'long at 0',
  ])
  expect(said.indexOf('prices')).toBeLessThan(said.indexOf('long after 0'))
  expect(feed.step(1)).toBe(false)
  expect(feed.isWhole()).toBe(true)
  expect(said.filter(line => line === 'whole')).toEqual(['whole'])
})

test('a request gets the whole of the families it needs, up to its moment, and no others', () => {
  const { feed, said } = copy()
  feed.lay({ route: '/v1/other', method: 'GET', url: '' })
  expect(said.filter(line => line.startsWith('long'))).toEqual([])
  expect(said).toContain('first')
  feed.lay({ route: '/v1/long', method: 'GET', url: '' })
  expect(said.filter(line => line.startsWith('long'))).toEqual([
    'long after 0',
    'long after 0',
    'long after 0',
    'long at 0',
  ])
  expect(feed.isWhole()).toBe(false)
})

test('paused, the feed fills all the same', () => {
  const { feed, said } = copy()
  feed.paused = true
  while (feed.step(1));
  expect(feed.filled().size).toBe(codes.length)
  expect(said.filter(line => line.startsWith('long'))).toHaveLength(3)
})

test('what was read while something was written is forgotten, and read anew', () => {
  const lines: string[] = []
  const clock = createManualClock(start)
  const state = new Map<string, string>()
  const prices = createPriceFeed({
    series,
    clock,
    world: createWorld({ seed: 1, series }),
    ingest: { write: () => feed.supply(3, 0) },
    settings: { get: name => state.get(name), set: (name, value) => void state.set(name, value) },
  })
  const feed = withFamilies(prices, {
    fillers: {},
    registers: [],
    first: () => {},
    firstStep: () => false,
    image: () => {},
    quoteAll: () => {},
    quote: () => {},
    hasNewest: () => false,
    isUnwritten: () => false,
    isMissing: () => false,
    atOnce: work => work(),
    withoutSyncing: work => work(),
    reachOf: () => 'stretch',
    lay: () => {},
    supply: () => false,
    forget: seriesId => void lines.push(`forget ${seriesId}`),
    whenWhole: () => void lines.push('whole'),
    now: clock.now,
  })
  feed.begin()
  expect(lines).toEqual(['forget 3'])
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
  expect(said.filter(line => line !== 'prices')).toEqual(['long at 2', 'short at 2'])
})
