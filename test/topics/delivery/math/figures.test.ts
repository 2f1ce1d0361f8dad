import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isoInstant, parseDay, parseInstant } from '../../../../src/lib/time/instant.ts'
import { cheapestTime } from '../../../../src/topics/delivery/math/cheapest.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import {
  coarserPeriods,
  dayFigures,
  meanPrice,
  type PricedPeriod,
  peakRule,
} from '../../../../src/topics/delivery/math/figures.ts'
import { freshnessOf } from '../../../../src/topics/delivery/math/freshness.ts'
import type { DeliveryTerms, Resolution } from '../../../../src/topics/delivery/math/terms.ts'

const hourMs = 3_600_000

const termsOf = (
  zone: string,
  resolution: Resolution,
  more: Partial<DeliveryTerms> = {},
): DeliveryTerms => ({
  zone,
  dayStarts: 0,
  resolutions: [{ from: '1900-01-01', resolution }],
  horizon: 'P2D',
  gateCloses: undefined,
  publishesAt: undefined,
  peak: { from: 480, to: 1200, weekdays: [1, 2, 3, 4, 5], holidays: false },
  ...more,
})
const never = () => false
const priced = (
  terms: DeliveryTerms,
  date: string,
  price: (i: number) => number | null,
): PricedPeriod[] =>
  periodsOf(terms, dayOfDate(terms, date)).map((period, i) => ({ ...period, price: price(i) }))

describe('the figures of a day', () => {
  test('a day of one price has that price as its means, with the same digits', () => {
    const berlin = termsOf('Europe/Berlin', 'PT15M')
    fc.assert(
      fc.property(fc.double({ min: -500, max: 500, noNaN: true }), price => {
        const periods = priced(berlin, '2026-11-27', () => price)
        const day = dayFigures(periods, peakRule(berlin, never))
        expect({ ...day, min: day.min!.price }).toMatchObject({
          base: price,
          peak: price,
          offPeak: price,
          min: price,
        })
        const [hour] = coarserPeriods(periods, 'PT1H', periods[0]!.start)
        expect(hour!.price).toBe(price)
      }),
      { examples: [[0.284561]] },
    )
  })
  test('peak is from 08:00 to 20:00 local time on weekdays, also on the day of a clock change', () => {
    const berlin = termsOf('Europe/Berlin', 'PT1H')
    const friday = dayFigures(
      priced(berlin, '2026-11-27', i => i),
      peakRule(berlin, never),
    )
    expect(friday).toMatchObject({ base: 11.5, peak: 13.5, offPeak: 9.5, negativePeriods: 0 })
    expect(friday.min!.price).toBe(0)
    expect(isoInstant(friday.max!.start)).toBe('2026-11-27T22:00:00Z')
    const sunday = dayFigures(
      priced(berlin, '2026-03-29', i => i),
      peakRule(berlin, never),
    )
    expect(sunday).toMatchObject({ peak: null, base: 11, offPeak: 11, count: 23 })
    const everyDay = { ...berlin, peak: { ...berlin.peak, weekdays: [7] } }
    // 08:00 is the eighth hour of a day that left one out.
    expect(
      dayFigures(
        priced(berlin, '2026-03-29', i => i),
        peakRule(everyDay, never),
      ).peak,
    ).toBe(12.5)
  })

  test('closed days of the calendar have no peak where the market says so', () => {
    const terms = termsOf('Europe/Berlin', 'PT1H', {
      peak: { from: 480, to: 1200, weekdays: [1, 2, 3, 4, 5], holidays: true },
    })
    const christmas = (day: number) => day === parseDay('2026-12-25')
    expect(
      dayFigures(
        priced(terms, '2026-12-25', () => 5),
        peakRule(terms, christmas),
      ),
    ).toMatchObject({ base: 5, peak: null, offPeak: 5 })
  })

  test('periods without a price are left out of the means and make the day incomplete', () => {
    const terms = termsOf('Europe/Berlin', 'PT15M')
    const prices = priced(terms, '2026-11-27', i => (i === 3 ? null : i < 4 ? -2 : 1))
    expect(dayFigures(prices, peakRule(terms, never))).toMatchObject({
      count: 95,
      complete: false,
      negativePeriods: 3,
      min: { price: -2, start: prices[0]!.start },
      max: { price: 1, start: prices[4]!.start },
    })
    expect(dayFigures([], peakRule(terms, never))).toMatchObject({
      base: null,
      min: null,
      complete: false,
    })
  })

  test('a shorter last period weighs less', () => {
    const terms = termsOf('Australia/Lord_Howe', 'PT1H')
    const prices = priced(terms, '2026-10-04', i => (i === 23 ? 47 : 0))
    expect(dayFigures(prices, peakRule(terms, never)).base).toBeCloseTo(1, 12)
  })

  test('longer periods are means over their parts and unknown where one is missing', () => {
    const terms = termsOf('Europe/Berlin', 'PT15M')
    const day = dayOfDate(terms, '2026-10-25')
    const prices = priced(terms, '2026-10-25', i => (i === 9 ? null : i))
    const hours = coarserPeriods(prices, 'PT1H', day.from)
    expect(hours).toHaveLength(25)
    expect(hours.slice(0, 4).map(({ price }) => price)).toEqual([1.5, 5.5, null, 13.5])
    expect(coarserPeriods(prices, 'P1D', day.from)).toEqual([
      { start: day.from, end: day.to, price: null },
    ])
  })
})

describe('the cheapest time', () => {
  const terms = termsOf('Europe/Berlin', 'PT15M')
  const prices = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 96, maxLength: 96 })
  const anyHours = fc.integer({ min: 1, max: 96 })

  test('in one piece it is the earliest window that none is cheaper than', () => {
    fc.assert(
      fc.property(prices, anyHours, fc.boolean(), (values, quarters, dearest) => {
        const periods = priced(terms, '2026-11-27', i => values[i]!)
        const found = cheapestTime(periods, {
          lengthMs: (quarters * hourMs) / 4,
          contiguous: true,
          dearest,
        })!
        const sums = values
          .slice(0, 96 - quarters + 1)
          .map((_, i) => values.slice(i, i + quarters).reduce((a, b) => a + b, 0))
        const best = dearest ? Math.max(...sums) : Math.min(...sums)
        expect(found.periods[0]!.start).toBe(periods[sums.indexOf(best)]!.start)
        expect(found.periods).toHaveLength(quarters)
        expect(found.average).toBeCloseTo(best / quarters, 9)
      }),
    )
  })

  test('in pieces it is the cheapest periods, the earlier of equals, in the order of time', () => {
    fc.assert(
      fc.property(prices, anyHours, (values, quarters) => {
        const periods = priced(terms, '2026-11-27', i => values[i]!)
        const found = cheapestTime(periods, {
          lengthMs: (quarters * hourMs) / 4,
          contiguous: false,
          dearest: false,
        })!
        const ranked = values.map((value, i) => [value, i] as const)
        ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1])
        const chosen = ranked.slice(0, quarters).map(([, i]) => periods[i]!.start)
        expect(found.periods.map(({ start }) => start)).toEqual(chosen.sort((a, b) => a - b))
      }),
    )
  })

  test('no window contains a period without a price', () => {
    const periods = priced(terms, '2026-11-27', i => (i % 4 === 3 ? null : i))
    const query = { lengthMs: hourMs, dearest: false }
    expect(cheapestTime(periods, { ...query, contiguous: true })).toBeUndefined()
    expect(meanPrice(cheapestTime(periods, { ...query, contiguous: false })!.periods)).toBe(1.75)
    expect(cheapestTime(periods, { ...query, lengthMs: 24 * hourMs, contiguous: false })).toBe(
      undefined,
    )
  })
})

describe('freshness by publication', () => {
  const auction = termsOf('Europe/Berlin', 'PT15M', { publishesAt: 765 })
  const untilOf = (terms: DeliveryTerms, newest: string) => {
    const { currentUntil, delayedUntil } = freshnessOf(terms, parseInstant(newest)!)
    return [currentUntil, delayedUntil].map(isoInstant)
  }
  test('a whole day is current until an hour after the publication of the next, and delayed for a day', () => {
    expect(untilOf(auction, '2026-11-28T22:45:00Z')).toEqual([
      '2026-11-28T12:45:00Z',
      '2026-11-29T12:45:00Z',
    ])
  })
  test('a day in part was due with its own publication', () => {
    expect(untilOf(auction, '2026-11-28T22:30:00Z')).toEqual([
      '2026-11-27T12:45:00Z',
      '2026-11-28T12:45:00Z',
    ])
  })
  test('without publications values may be two periods behind', () => {
    expect(untilOf(termsOf('Australia/Brisbane', 'PT5M'), '2026-11-28T10:00:00Z')).toEqual([
      '2026-11-28T10:14:59.999Z',
      '2026-11-29T10:14:59.999Z',
    ])
  })
})
