import { describe, expect, test } from 'bun:test'
import { readsNow } from '../../../../src/database/dataset-reads.ts'
import { createManualClock, type ManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, isoDay, parseDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { createPositionData } from '../../../../src/topics/analytics/demo/positions.ts'
import { cotMarkets } from '../../../../src/topics/analytics/math/positions.ts'
import {
  createPositionStore,
  type PositionStore,
} from '../../../../src/topics/analytics/store/positions.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { published } from '../../../support/world/published.ts'

const start = parseInstant('2026-11-20T15:00:00Z')!
const first = '2020-01-01'

/** A close on every day since 2020, that `price` makes of the days since then. */
function closesAt(now: () => number, price: (n: number) => number) {
  const all = Array.from(
    { length: 9 * 366 },
    (_, n): Close => ({ day: dayAfter(first, n), value: price(n) }),
  )
  return (): readonly Close[] =>
    all.slice(0, (parseDay(isoDay(now()))! - parseDay(first)!) / dayMs + 1)
}
const wave = (n: number) => 70 * Math.exp(0.3 * Math.sin(n / 120))

function copy(
  more: Partial<Parameters<typeof createPositionData>[0]> = {},
  cot: PositionStore = createPositionStore(readsNow(databaseInMemory())),
) {
  const clock: ManualClock = createManualClock(start)
  const closes = closesAt(clock.now, wave)
  return {
    clock,
    cot,
    filler: published(createPositionData({ seed: 1, positions: cot, closesOf: closes, ...more })),
  }
}
const allOf = (cot: PositionStore) => cot.page(undefined, 10_000, 0)

describe('the reports of a demo instance', () => {
  test('are of five markets, five years of Tuesdays back from the last that came out', () => {
    const { filler, cot } = copy()
    filler.advance(start)
    expect(cot.markets()).toEqual(cotMarkets.map(market => market.market).sort())
    for (const { market } of cotMarkets) {
      const dates = cot.dates(market)
      expect(dates.at(-1), market).toBe('2026-11-10')
      expect(dates.length, market).toBeGreaterThan(5 * 52)
      for (let i = 1; i < dates.length; i++)
        expect(
          Math.abs(parseDay(dates[i]!)! - parseDay(dates[i - 1]!)! - 7 * dayMs),
        ).toBeLessThanOrEqual(dayMs)
    }
  })

  test('are marked as fixture data and hold no more than the open interest', () => {
    const { filler, cot } = copy()
    filler.advance(start)
    for (const report of allOf(cot)) {
      expect(report.source).toBe('fixture')
      expect(Math.min(report.managedMoneyLong, report.managedMoneyShort)).toBeGreaterThan(0)
      expect(Math.max(report.managedMoneyLong, report.managedMoneyShort)).toBeLessThan(
        report.openInterest / 2,
      )
      expect(
        [report.managedMoneyLong, report.managedMoneyShort, report.openInterest].every(
          Number.isInteger,
        ),
      ).toBe(true)
    }
  })

  test('follow prices: net positions are larger after a rise than after a fall', () => {
    const { filler, cot } = copy()
    filler.advance(start)
    const priceOn = (day: string) => wave((parseDay(day)! - parseDay(first)!) / dayMs)
    const rose = cot.page('WTI', 1000, 0).map(row => ({
      net: row.managedMoneyLong - row.managedMoneyShort,
      up: priceOn(row.reportedOn) > priceOn(dayAfter(row.reportedOn, -90)),
    }))
    const mean = (up: boolean) => {
      const some = rose.filter(week => week.up === up)
      return some.reduce((sum, week) => sum + week.net, 0) / some.length
    }
    expect(mean(true)).toBeGreaterThan(1.2 * mean(false))
  })

  test('come out on Friday at 15:30 in New York, later in weeks with a holiday', () => {
    const { clock, filler, cot } = copy()
    filler.advance(start)
    for (const [at, newest] of [
      ['2026-11-20T20:29:59Z', '2026-11-10'],
      ['2026-11-20T20:30:00Z', '2026-11-17'],
      ['2026-11-27T20:30:00Z', '2026-11-17'],
      ['2026-11-30T20:29:59Z', '2026-11-17'],
      ['2026-11-30T20:30:00Z', '2026-11-24'],
      ['2026-12-04T20:30:00Z', '2026-12-01'],
    ] as const) {
      clock.set(parseInstant(at)!)
      filler.advance(clock.now())
      expect(cot.newestOn(), at).toBe(newest)
    }
  })

  test('are the same however the clock came there, and written once', () => {
    const [far, stepped] = [copy(), copy()]
    stepped.filler.advance(start)
    for (let at = start; at <= start + 70 * dayMs; at += 3.5 * dayMs) {
      stepped.clock.set(at)
      stepped.filler.advance(at)
    }
    far.clock.set(stepped.clock.now())
    far.filler.advance(far.clock.now())
    // The far copy begins later: its first report has none before it.
    const since = (copied: PositionStore) =>
      allOf(copied).filter(row => row.reportedOn > '2022-03-01')
    expect(since(stepped.cot)).toEqual(since(far.cot))
    const before = allOf(far.cot)
    const again = copy({}, far.cot)
    again.clock.set(far.clock.now())
    again.filler.advance(far.clock.now())
    expect(allOf(far.cot)).toEqual(before)
  })

  test('the reports of two demo instances differ when their seeds do', () => {
    const [first, second] = [copy(), copy({ seed: 2 })]
    first.filler.advance(start)
    second.filler.advance(start)
    expect(allOf(first.cot)).not.toEqual(allOf(second.cot))
  })

  test('the demo data generator leaves imported position reports unchanged', () => {
    const { filler, cot } = copy()
    const own = {
      market: 'WTI',
      reportedOn: '2026-11-10',
      managedMoneyLong: 3,
      managedMoneyShort: 1,
      openInterest: 9,
      source: 'CFTC',
    }
    cot.write([[own]], 1)
    filler.advance(start)
    expect(cot.page('WTI', 1, 0)).toEqual([expect.objectContaining(own)])
    expect(cot.dates('WTI').length).toBeGreaterThan(5 * 52)
  })
})
