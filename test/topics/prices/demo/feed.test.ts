import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Clock, createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs, minuteMs, parseInstant } from '../../../../src/lib/time/instant.ts'
import type { Cadence } from '../../../../src/topics/catalogue/math/catalogue.ts'
import { createPriceFeed } from '../../../../src/topics/prices/demo/feed.ts'
import { forgetBeginning } from '../../../../src/topics/prices/demo/progress.ts'
import type { StoredSeries, WorldPoint } from '../../../../src/topics/prices/demo/publication.ts'
import { createWorld, type Observation } from '../../../../src/topics/prices/demo/world.ts'
import { changeBases } from '../../../../src/topics/prices/math/change.ts'

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
  /** Fails each write from this one on. */
  failsFrom = Number.POSITIVE_INFINITY

  write(points: readonly WorldPoint[]): void {
    if (this.writes.length >= this.failsFrom) throw new Error('the disk is full')
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

/** Each look at the watch is a millisecond later than the last. */
function ticking(): Clock {
  let now = 0
  return { now: () => now, monotonic: () => ++now }
}

function copy(
  at = start,
  state = new Map<string, string>(),
  ingest = new Recorder(),
  together: readonly string[] = [],
) {
  const clock = createManualClock(at)
  const settings = {
    get: (name: string) => state.get(name),
    set: (name: string, value: string) => void state.set(name, value),
  }
  const feed = createPriceFeed({
    world,
    series,
    ingest,
    settings,
    clock,
    together,
    stopwatch: ticking(),
  })
  const fill = () => {
    while (feed.step(1));
  }
  return { feed, ingest, state, clock, fill }
}

const expected = (at: number): string[] =>
  series
    .flatMap(series =>
      world
        .history(series.code, at)
        .map(point => `${series.code}/${point.observedAt}=${point.value}@${point.recordedAt}`),
    )
    .sort()

describe('filling', () => {
  test('the copy ends with the history of every available code and nothing else', () => {
    const { feed, ingest, fill } = copy()
    fill()
    expect(ingest.rows()).toEqual(expected(start))
    expect([...feed.filled()].sort()).toEqual(
      series.filter(series => series.available).map(series => series.code),
    )
    expect(feed.total).toBe(feed.filled().size)
    expect(feed.step(1)).toBe(false)
  })

  test('the leading codes come first, then those quoted all day, then the rest', () => {
    const { feed, fill } = copy()
    fill()
    expect([...feed.filled()]).toEqual([
      'BRENT_CRUDE_USD',
      'EUR_USD',
      'DIESEL_USD',
      'COPPER_USD',
      'AGBAMI_USD',
      'DIESEL_LIST_B7_DKK',
      'US_RIG_COUNT',
    ])
  })

  test('a code that is asked for begins alone, its history when that is read, and the end is the same', () => {
    const { feed, ingest, fill } = copy()
    feed.beginWith(['COPPER_USD', 'NO_SUCH_CODE'])
    const codes = () => new Set(ingest.writes.flat().map(point => codeOf.get(point.seriesId)))
    expect([...codes()]).toEqual(['COPPER_USD'])
    const newest = ingest.rows()
    feed.beginWith(['COPPER_USD'])
    feed.supply(4, start - dayMs)
    expect(ingest.rows()).toEqual(newest)
    feed.supply(4, 0)
    expect([...feed.filled()]).toEqual(['COPPER_USD'])
    expect([...codes()]).toEqual(['COPPER_USD'])
    expect(ingest.rows()).toEqual(expected(start).filter(row => row.startsWith('COPPER_USD')))
    fill()
    expect(ingest.rows()).toEqual(expected(start))
  })

  test('quotes are what the whole copy has before each of their moments, few rows, and the end is the same', () => {
    const { feed, ingest, fill } = copy()
    feed.beginQuotes()
    const quotes = ingest.rows()
    expect(quotes.length).toBeLessThanOrEqual(6 * feed.total)
    let compared = 0
    for (const { id, code, cadence, available } of series) {
      if (!available) continue
      const whole = world.history(code, start)
      const written = ingest.writes.flat().filter(point => point.seriesId === id)
      const newestBefore = (points: readonly Observation[], before: number) =>
        points.findLast(({ observedAt }) => observedAt < before)
      const newest = newestBefore(whole, Number.MAX_SAFE_INTEGER)!
      expect(written[0]).toMatchObject(whole[0]!)
      const moments = [
        Number.MAX_SAFE_INTEGER,
        ...changeBases(cadence, newest.observedAt).map(([, before]) => before),
      ]
      for (const before of moments) {
        if (!feed.hasNewest(id, before)) continue
        compared += 1
        expect(newestBefore(written, before)).toMatchObject(newestBefore(whole, before)!)
      }
      // What nobody is quoted against must be asked for.
      expect(feed.hasNewest(id, newest.observedAt - 3 * dayMs)).toBe(false)
    }
    expect(compared).toBeGreaterThan(4 * feed.total)
    feed.beginQuotes()
    expect(ingest.rows()).toEqual(quotes)
    fill()
    expect(ingest.rows()).toEqual(expected(start))
  })

  test.each([
    ['an hour', hourMs],
    ['three days', 3 * dayMs],
    ['a month', 30 * dayMs],
  ])('with an image of %s ago, quotes are those of a copy that has everything', (_, age) => {
    const imaged = copy(start - age)
    imaged.feed.begin()
    const { state, ingest } = imaged
    forgetBeginning({
      get: name => state.get(name),
      set: (name, value) => void state.set(name, value),
      remove: name => void state.delete(name),
    })
    const inImage = ingest.inserted
    const { feed } = copy(start, state, ingest)
    feed.beginQuotes()
    expect(ingest.inserted - inImage).toBeLessThan(40 * feed.total)
    for (const { id, code, cadence, available } of series) {
      if (!available) continue
      const whole = world.history(code, start)
      const stored = [...ingest.values.values()]
        .filter(point => point.seriesId === id)
        .sort((a, b) => a.observedAt - b.observedAt)
      const { observedAt } = whole.at(-1)!
      const moments = changeBases(cadence, observedAt).map(([, before]) => before)
      for (const before of [Number.MAX_SAFE_INTEGER, ...moments]) {
        const newest = whole.findLast(point => point.observedAt < before)!
        const own = stored.findLast(point => point.observedAt < before)
        expect(own, `${code} before ${before}`).toMatchObject(newest)
      }
    }
  })

  test('one code is quoted alone, as in a list of all', () => {
    const { feed, ingest } = copy()
    const all = copy()
    all.feed.beginQuotes()
    feed.quote(4)
    const quotes = all.ingest.rows().filter(row => row.startsWith('COPPER_USD'))
    expect(quotes.length).toBeGreaterThan(2)
    expect(ingest.rows()).toEqual(quotes)
    expect(feed.hasNewest(4, Number.MAX_SAFE_INTEGER)).toBe(true)
    expect(feed.hasNewest(1, Number.MAX_SAFE_INTEGER)).toBe(false)
    feed.quote(4)
    expect(ingest.rows()).toEqual(quotes)
    feed.quote(2)
    expect(ingest.rows()).toEqual(quotes)
  })

  test('a code that is quoted has all of its newest stretch when that is read', () => {
    const { feed, ingest } = copy()
    feed.beginQuotes()
    feed.supply(4, start - dayMs)
    const alone = copy()
    alone.feed.beginWith(['COPPER_USD'])
    const copper = (rows: string[]) => rows.filter(row => row.startsWith('COPPER_USD'))
    expect(copper(ingest.rows())).toEqual(expect.arrayContaining(alone.ingest.rows()))
    expect(copper(ingest.rows()).length).toBe(alone.ingest.rows().length)
  })

  test('many codes begin with all others, those that are numbered together with each other', () => {
    const all = new Set(series.filter(series => series.available).map(series => series.id))
    const begun = ({ writes }: Recorder) => new Set(writes.flat().map(point => point.seriesId))
    const many = copy()
    many.feed.beginWith(Array.from({ length: 101 }, () => 'EUR_USD'))
    expect(begun(many.ingest)).toEqual(all)
    const numbered = copy(start, new Map(), new Recorder(), ['US_RIG_COUNT', 'COPPER_USD'])
    numbered.feed.supply(8, start)
    expect(begun(numbered.ingest)).toEqual(new Set([4, 8]))
    expect([...numbered.feed.filled()].sort()).toEqual(['COPPER_USD', 'US_RIG_COUNT'])
  })

  test('the beginning is made in steps, and goes on after a restart', () => {
    const { feed, ingest, state } = copy()
    expect(feed.beginStep(1)).toBe(true)
    expect(feed.beginStep(1)).toBe(true)
    const again = copy(start, state, ingest)
    while (again.feed.beginStep(1));
    const whole = copy()
    whole.feed.begin()
    expect(ingest.rows()).toEqual(whole.ingest.rows())
    expect(again.feed.beginStep(1)).toBe(false)
  })

  test('a history comes in one transaction or not at all', () => {
    const { feed, ingest, fill } = copy()
    feed.begin()
    const begun = ingest.writes.length
    fill()
    for (const [id, code] of codeOf) {
      const writes = ingest.writes
        .slice(begun)
        .filter(points => points.some(point => point.seriesId === id))
      expect(writes.length, code).toBe(feed.filled().has(code) ? 1 : 0)
    }
    for (const points of ingest.writes) expect(points.length).toBeLessThanOrEqual(12_000)
    const interrupted = copy(start, new Map(), new Recorder())
    interrupted.feed.begin()
    interrupted.ingest.failsFrom = ingest.writes.findIndex(
      (points, i) =>
        i >= begun && points.some(point => codeOf.get(point.seriesId) === 'DIESEL_LIST_B7_DKK'),
    )
    expect(interrupted.fill).toThrow('the disk is full')
    expect(interrupted.feed.filled().has('DIESEL_LIST_B7_DKK')).toBe(false)
    expect(interrupted.feed.filled().has('BRENT_CRUDE_USD')).toBe(true)
  })

  test('a step ends soon after its budget, and always gets on', () => {
    const { feed } = copy()
    feed.begin()
    expect(feed.step(0)).toBe(true)
    const first = feed.filled().size
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(feed.total)
    feed.step(0)
    expect(feed.filled().size).toBeGreaterThan(first)
  })

  test('a copy that is set back to nothing begins again', () => {
    const { state, fill } = copy()
    fill()
    state.clear()
    const { feed } = copy(start, state)
    expect(feed.filled().size).toBe(0)
    feed.begin()
    expect(feed.step(0)).toBe(true)
    expect([...feed.filled()][0]).toBe('BRENT_CRUDE_USD')
    expect(feed.filled().size).toBeLessThan(feed.total)
  })

  test('a copy that was interrupted anywhere ends like one that was not', () => {
    const whole = copy()
    whole.fill()
    whole.feed.advance(start + 3 * hourMs)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 5 }), deaths => {
        const state = new Map([['fixture.started_at', String(start)]])
        const ingest = new Recorder()
        for (const death of deaths) {
          const { fill } = copy(start + minuteMs, state, ingest)
          ingest.failsFrom = ingest.writes.length + death
          try {
            fill()
          } catch {}
        }
        ingest.failsFrom = Number.POSITIVE_INFINITY
        const last = copy(start + hourMs, state, ingest)
        last.fill()
        last.feed.advance(start + 3 * hourMs)
        expect(ingest.rows()).toEqual(whole.ingest.rows())
      }),
      { numRuns: 12 },
    )
  })
})

describe('what is there before it is filled', () => {
  const knownOf = (ingest: Recorder, code: string) =>
    [...ingest.values.values()]
      .filter(point => codeOf.get(point.seriesId) === code)
      .map(point => point.observedAt)
      .sort((a, b) => a - b)

  test('the first and the newest observations of every code, without a gap', () => {
    const { feed, ingest } = copy()
    feed.begin()
    expect(feed.filled().size).toBe(0)
    for (const one of series.filter(series => series.available)) {
      const history = world.history(one.code, start).map(point => point.observedAt)
      const before = knownOf(ingest, one.code)
      const newest = history.filter(at => at >= start - 100 * dayMs)
      expect(before[0], one.code).toBe(history[0]!)
      expect(before.slice(-newest.length), one.code).toEqual(newest)
      expect(before.length, one.code).toBeLessThan(history.length)
    }
    const written = ingest.writes.length
    feed.begin()
    expect(ingest.writes.length).toBe(written)
  })

  test('what is asked for further back comes at once, of that code alone', () => {
    const { feed, ingest } = copy()
    const agbami = series.find(series => series.code === 'AGBAMI_USD')!
    feed.supply(agbami.id, start - 30 * dayMs)
    expect([...feed.filled()]).toEqual([])
    feed.supply(agbami.id, start - 300 * dayMs)
    expect([...feed.filled()]).toEqual(['AGBAMI_USD'])
    expect(knownOf(ingest, 'AGBAMI_USD')).toEqual(
      world.history('AGBAMI_USD', start).map(point => point.observedAt),
    )
  })

  test('codes whose records are numbered together begin whole, before all others', () => {
    const { ingest, feed } = copy(start, new Map(), new Recorder(), [
      'US_RIG_COUNT',
      'DIESEL_LIST_B7_DKK',
    ])
    feed.begin()
    expect([...feed.filled()].sort()).toEqual(['DIESEL_LIST_B7_DKK', 'US_RIG_COUNT'])
    const first = new Set(ingest.writes[0]!.map(point => codeOf.get(point.seriesId)))
    expect([...first].sort()).toEqual(['DIESEL_LIST_B7_DKK', 'US_RIG_COUNT'])
  })

  test('in which order codes are asked for makes no difference to what the copy ends with', () => {
    const plain = copy()
    plain.fill()
    plain.feed.advance(start + 2 * dayMs)
    const codes = series.filter(series => series.available).map(series => series.code)
    fc.assert(
      fc.property(fc.shuffledSubarray(codes), fc.nat({ max: codes.length }), (asked, moveAfter) => {
        const { feed, ingest, fill } = copy()
        for (const [i, code] of asked.entries()) {
          if (i === moveAfter) feed.advance(start + dayMs)
          feed.fill(code)
        }
        fill()
        feed.advance(start + 2 * dayMs)
        expect(ingest.rows()).toEqual(plain.ingest.rows())
      }),
      { numRuns: 12 },
    )
  })
})

describe('moving forward', () => {
  test('nothing is written before there is anything', () => {
    const { feed, ingest } = copy()
    expect(feed.advance(start + dayMs)).toBe(0)
    expect(ingest.writes).toHaveLength(0)
  })

  test('in how many passes time goes by makes no difference', () => {
    const once = copy()
    once.fill()
    once.feed.advance(start + 5 * dayMs)
    const plain = once.ingest.rows()
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 * dayMs }), { maxLength: 8 }), stops => {
        const { feed, ingest, fill } = copy()
        fill()
        for (const stop of [...stops.toSorted((a, b) => a - b), 5 * dayMs])
          feed.advance(start + stop)
        expect(ingest.rows()).toEqual(plain)
      }),
      { numRuns: 12 },
    )
  })

  test('a pass writes what was published since the last one, each code oldest first, once', () => {
    const { feed, ingest, fill } = copy()
    fill()
    const before = ingest.inserted
    const count = feed.advance(start + 3 * dayMs)
    const all = series.flatMap(series => world.observations(series.code, start, start + 3 * dayMs))
    expect(count).toBe(all.length)
    expect(ingest.inserted - before).toBe(all.length)
    for (const points of Map.groupBy(
      ingest.writes.slice(-1)[0]!,
      point => point.seriesId,
    ).values()) {
      const observed = points.map(point => point.observedAt)
      expect(observed).toEqual(observed.toSorted((a, b) => a - b))
    }
    expect(feed.advance(start + 3 * dayMs)).toBe(0)
  })

  test('a pass that fails loses nothing', () => {
    const { feed, ingest, fill } = copy()
    fill()
    ingest.failsFrom = ingest.writes.length
    expect(() => feed.advance(start + 2 * dayMs)).toThrow('the disk is full')
    ingest.failsFrom = Number.POSITIVE_INFINITY
    feed.advance(start + 2 * dayMs)
    const other = copy()
    other.fill()
    other.feed.advance(start + 2 * dayMs)
    expect(ingest.rows()).toEqual(other.ingest.rows())
  })

  test('codes filled after time has moved have what was published meanwhile', () => {
    const other = copy()
    other.fill()
    other.feed.advance(start + 2 * dayMs)
    const begun = copy()
    begun.feed.begin()
    begun.feed.advance(start + 2 * dayMs)
    begun.fill()
    expect(begun.ingest.rows()).toEqual(other.ingest.rows())
    // Half begun, nothing is published; it is made up for at the next pass.
    const { feed, ingest, fill } = copy()
    feed.step(0)
    expect(feed.advance(start + dayMs)).toBe(0)
    fill()
    feed.advance(start + 2 * dayMs)
    expect(ingest.rows()).toEqual(other.ingest.rows())
  })

  test('a quiet second writes nothing, not even its own progress', () => {
    const { feed, state, fill } = copy(parseInstant('2026-11-21T12:00:00Z')!)
    fill()
    const previous = new Map(state)
    expect(feed.advance(parseInstant('2026-11-21T12:00:01Z')!)).toBe(0)
    expect(state).toEqual(previous)
  })

  test('a clock that goes back adds nothing', () => {
    const { feed, ingest, fill } = copy()
    fill()
    feed.advance(start + dayMs)
    const rows = ingest.rows()
    expect(feed.advance(start - 30 * dayMs)).toBe(0)
    expect(feed.advance(start + dayMs)).toBe(0)
    expect(ingest.rows()).toEqual(rows)
  })

  test('paused, data ages, also after a restart; afterwards it catches up', () => {
    const { feed, ingest, state, fill } = copy()
    fill()
    feed.paused = true
    const again = copy(start, state, ingest)
    expect(again.feed.paused).toBe(true)
    expect(again.feed.advance(start + 3 * dayMs)).toBe(0)
    again.feed.paused = false
    again.feed.advance(start + 4 * dayMs)
    const other = copy()
    other.fill()
    other.feed.advance(start + 4 * dayMs)
    expect(ingest.rows()).toEqual(other.ingest.rows())
  })

  test('a clock moved by a year brings closes for most of it and every price of its end', () => {
    const { feed, ingest, fill } = copy()
    fill()
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
