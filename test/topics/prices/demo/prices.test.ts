import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'
import {
  createPriceData,
  type StoredSeries,
  type WorldPoint,
} from '../../../../src/topics/prices/demo/prices.ts'
import { createWorld } from '../../../../src/topics/prices/demo/world.ts'
import { published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-21T19:30:00Z')!

const rows: [
  code: string,
  category: string,
  cadence: Cadence,
  level: number,
  volatility: number,
  unit: string,
  decimals: number,
  available?: false,
][] = [
  ['AGBAMI_USD', 'physical_crude', 'daily', 74.2, 0.33, 'barrel', 2],
  ['AMNA_USD', 'physical_crude', 'daily', 73.8, 0.33, 'barrel', 2, false],
  ['BRENT_CRUDE_USD', 'crude_oil', 'intraday_2_5m', 74.25, 0.31, 'barrel', 2],
  ['COPPER_USD', 'metals', 'intraday_5m', 10650, 0.2, 'metric_ton', 2],
  ['DIESEL_LIST_B7_DKK', 'list_prices', 'daily', 13.49, 0.14, 'litre', 2],
  ['DIESEL_USD', 'refined_products', 'twice_daily', 2.33, 0.34, 'gallon', 3],
  ['EUR_USD', 'fx', 'intraday_5m', 1.1575, 0.075, 'rate', 4],
  ['US_RIG_COUNT', 'drilling', 'weekly', 546, 0.08, 'rigs', 0],
]
const series: StoredSeries[] = rows.map(
  ([code, category, cadence, level, volatility, unit, decimals, available = true], i) => ({
    id: i + 1,
    code,
    category,
    cadence,
    level,
    volatility,
    unit,
    decimals,
    available,
    currency: 'USD',
  }),
)
const world = createWorld({ seed: 1, series })
const codeOf = new Map(series.map(series => [series.id, series.code]))

/** What a database would hold, and how it came there. */
class Recorder {
  readonly values = new Map<string, WorldPoint>()
  readonly writes: WorldPoint[][] = []
  inserted = 0

  write(points: readonly WorldPoint[]): void {
    this.writes.push([...points])
    for (const point of points) {
      const key = `${codeOf.get(point.seriesId)}/${point.observedAt}`
      const stored = this.values.get(key)
      if (stored) expect(point).toEqual(stored)
      else this.inserted += 1
      this.values.set(key, point)
    }
  }

  rows(): string[] {
    return [...this.values]
      .map(([key, point]) => `${key}=${point.value}@${point.recordedAt}`)
      .sort()
  }
}

function instance(together: readonly string[] = []) {
  const ingest = new Recorder()
  const data = createPriceData({
    world,
    series,
    together,
    write: points => ingest.write(points),
  })
  return { data, ingest, feed: published(data) }
}

const expected = (at: number): string[] =>
  series
    .flatMap(series =>
      world
        .history(series.code, at)
        .map(point => `${series.code}/${point.observedAt}=${point.value}@${point.recordedAt}`),
    )
    .sort()

describe('the history of prices', () => {
  test('is that of every available code and nothing else', () => {
    const { feed, ingest } = instance()
    feed.advance(start)
    expect(ingest.rows()).toEqual(expected(start))
  })

  test('begins with the leading codes, then has those quoted all day, then the rest', () => {
    const { feed, ingest } = instance()
    feed.advance(start)
    const codes = new Set(ingest.writes.flat().map(point => codeOf.get(point.seriesId)!))
    expect([...codes]).toEqual([
      'BRENT_CRUDE_USD',
      'EUR_USD',
      'DIESEL_USD',
      'COPPER_USD',
      'AGBAMI_USD',
      'DIESEL_LIST_B7_DKK',
      'US_RIG_COUNT',
    ])
  })

  test('of a code is written in one transaction, that of codes numbered together in the first', () => {
    const { feed, ingest } = instance(['US_RIG_COUNT', 'DIESEL_LIST_B7_DKK'])
    feed.advance(start)
    for (const [id, code] of codeOf) {
      const writes = ingest.writes.filter(points => points.some(point => point.seriesId === id))
      expect(writes.length, code).toBe(code === 'AMNA_USD' ? 0 : 1)
    }
    const first = new Set(ingest.writes[0]!.map(point => codeOf.get(point.seriesId)))
    expect([...first].sort()).toEqual(['DIESEL_LIST_B7_DKK', 'US_RIG_COUNT'])
    for (const points of ingest.writes) expect(points.length).toBeLessThanOrEqual(12_000)
  })

  test('price history generation reports increasing progress up to completion', () => {
    const shares = [...instance().data.generate(start)]
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(shares.at(-1)).toBe(1)
  })
})

describe('prices that are published', () => {
  test('are the same in however many spans time passes', () => {
    const once = instance()
    once.feed.advance(start)
    once.feed.advance(start + 5 * dayMs)
    const plain = once.ingest.rows()
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 * dayMs }), { maxLength: 8 }), stops => {
        const { feed, ingest } = instance()
        feed.advance(start)
        for (const stop of [...stops.toSorted((a, b) => a - b), 5 * dayMs])
          feed.advance(start + stop)
        expect(ingest.rows()).toEqual(plain)
      }),
      { numRuns: 12 },
    )
  })

  test('are what the world has published in the span, each code oldest first, once', () => {
    const { data, ingest } = instance()
    const count = data.publish(start, start + 3 * dayMs)
    const all = series.flatMap(series => world.observations(series.code, start, start + 3 * dayMs))
    expect(count).toBe(all.length)
    expect(ingest.inserted).toBe(all.length)
    for (const points of Map.groupBy(
      ingest.writes.slice(-1)[0]!,
      point => point.seriesId,
    ).values()) {
      const observed = points.map(point => point.observedAt)
      expect(observed).toEqual(observed.toSorted((a, b) => a - b))
    }
  })

  test('publishing demo prices for a quiet second generates no prices and writes nothing', () => {
    const { data, ingest } = instance()
    const saturday = parseInstant('2026-11-21T12:00:00Z')!
    expect(data.publish(saturday, saturday + 1000)).toBe(0)
    expect(ingest.writes).toEqual([])
  })

  test('of a year are closes for most of it and every price of its end', () => {
    const { feed, ingest } = instance()
    feed.advance(start)
    const before = ingest.inserted
    const end = start + 365 * dayMs
    const written = feed.advance(end)
    expect(ingest.inserted - before).toBe(written)
    const currentCodes = new Set(
      [...ingest.values.values()].map(point => `${codeOf.get(point.seriesId)}/${point.observedAt}`),
    )
    for (const point of world.observations('BRENT_CRUDE_USD', end - 30 * dayMs, end))
      expect(currentCodes.has(`BRENT_CRUDE_USD/${point.observedAt}`)).toBe(true)
    for (const point of world.history('AGBAMI_USD', end))
      expect(currentCodes.has(`AGBAMI_USD/${point.observedAt}`)).toBe(true)
    expect(written).toBeLessThan(60_000)
  })
})
