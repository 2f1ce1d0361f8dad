import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Close,
  closesIn,
  closesPerYear,
  commonDays,
  dayAfter,
  dayNumber,
  logReturns,
  warmUpFor,
  windowOf,
} from '../../../../src/topics/prices/math/window.ts'

const from = (day: string, values: readonly number[]): Close[] =>
  values.map((value, i) => ({ day: dayAfter(day, i), value }))

const anyCloses = fc
  .uniqueArray(fc.integer({ min: 15_000, max: 15_400 }), { maxLength: 80 })
  .map(days =>
    days
      .sort((a, b) => a - b)
      .map((day, i) => ({ day: dayAfter('1970-01-01', day), value: i + 1 })),
  )

describe('closesIn and windowOf', () => {
  test('holds the dates after last - period up to and including last', () => {
    const closes = ['2024-05-29', '2024-05-30', '2024-06-14', '2024-06-28'].map(day => ({
      day,
      value: 1,
    }))
    expect(closesIn(closes, 30).map(c => c.day)).toEqual(['2024-05-30', '2024-06-14', '2024-06-28'])
    expect(closesIn(closes, 31)).toHaveLength(4)
    expect(closesIn(closes, 1).map(c => c.day)).toEqual(['2024-06-28'])
    expect(closesIn([], 30)).toEqual([])
  })

  test('is exactly the closes with last - period < d <= last, for any closes and period', () => {
    fc.assert(
      fc.property(anyCloses, fc.integer({ min: 1, max: 400 }), (closes, period) => {
        const last = closes.length ? dayNumber(closes.at(-1)!.day) : 0
        expect(closesIn(closes, period)).toEqual(
          closes.filter(c => dayNumber(c.day) > last - period && dayNumber(c.day) <= last),
        )
      }),
    )
  })

  test('a window with fewer than five closes reports how many closes exist and how many it needs', () => {
    expect(windowOf(from('2024-01-01', [1, 2, 3, 4]), 30)).toEqual({
      enough: false,
      have: 4,
      need: 5,
    })
    expect(windowOf(from('2024-01-01', [1, 2, 3, 4, 5]), 4)).toEqual({
      enough: false,
      have: 4,
      need: 5,
    })
    expect(windowOf(from('2024-01-01', [1, 2, 3, 4, 5]), 30).enough).toBe(true)
    expect(windowOf([], 30)).toEqual({ enough: false, have: 0, need: 5 })
  })

  test('the warm-up is the newest max(250, 20 x window) closes or all there are, and needs window + 1', () => {
    const closes = from('2010-01-01', Array(3000).fill(1))
    for (const [window, length] of [
      [2, 250],
      [14, 280],
      [100, 2000],
      [500, 3000],
    ] as const) {
      const run = warmUpFor(closes, window)
      if (!run.enough) throw new Error('enough closes')
      expect(run.value).toHaveLength(length)
      expect(run.value.at(-1)).toEqual(closes.at(-1)!)
    }
    expect(warmUpFor(closes.slice(0, 14), 14)).toEqual({ enough: false, have: 14, need: 15 })
    expect(warmUpFor(closes.slice(0, 15), 14).enough).toBe(true)
  })
})

describe('closesPerYear', () => {
  const spaced = (days: number, count = 9) =>
    Array.from({ length: count }, (_, i) => ({ day: dayAfter('2024-01-01', i * days) }))
  test.each([
    [1, 252],
    [4, 252],
    [5, 52],
    [7, 52],
    [10, 52],
    [11, 12],
    [31, 12],
    [45, 12],
    [46, 4],
    [91, 4],
    [120, 4],
    [121, 1],
    [365, 1],
  ])('closes %p days apart: %p', (days, count) => {
    expect(closesPerYear(spaced(days))).toBe(count)
  })

  test('goes by the median gap: weekends and one long holiday do not change it', () => {
    const weekdays = spaced(1, 30).filter((_, i) => i % 7 < 5)
    expect(closesPerYear([{ day: '2023-06-01' }, ...weekdays])).toBe(252)
  })

  test('is 252 where there is no spacing', () => {
    expect([closesPerYear([]), closesPerYear(spaced(1, 1))]).toEqual([252, 252])
  })
})

describe('logReturns', () => {
  test('are ln(close / previous close), dated by the later close', () => {
    expect(logReturns(from('2024-01-01', [100, 110, 99]))).toEqual([
      { day: '2024-01-02', value: Math.log(1.1) },
      { day: '2024-01-03', value: Math.log(0.9) },
    ])
  })

  test('a non-positive price drops the two returns it touches and no other', () => {
    for (const bad of [0, -36.98]) {
      expect(logReturns(from('2020-04-17', [20, 18.31, bad, 8.91, 13.64])).map(r => r.day)).toEqual(
        ['2020-04-18', '2020-04-21'],
      )
    }
    expect(logReturns(from('2020-04-17', [5, -1, -1, 5])).length).toBe(0)
  })
})

describe('commonDays', () => {
  test('are the dates of the intersection, for any series', () => {
    fc.assert(
      fc.property(fc.array(anyCloses, { minLength: 1, maxLength: 4 }), series => {
        const naive = series[0]!
          .map(c => c.day)
          .filter(day => series.every(closes => closes.some(c => c.day === day)))
        const common = commonDays(series)
        expect(common.map(c => c.day)).toEqual(naive)
        for (const { day, values } of common)
          expect(values).toEqual(series.map(closes => closes.find(c => c.day === day)!.value))
      }),
      { numRuns: 60 },
    )
  })

  test('with a period are those of the window that ends at the newest of them, for any closes and period', () => {
    fc.assert(
      fc.property(
        fc.array(anyCloses, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 400 }),
        (series, period) => {
          expect(commonDays(series, period)).toEqual(closesIn(commonDays(series), period))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('an empty list of series has no common days', () => expect(commonDays([])).toEqual([]))
})

test('a day that no calendar has is refused by name', () => {
  expect(() => dayNumber('2026-02-30')).toThrow('"2026-02-30"')
})
