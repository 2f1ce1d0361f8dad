import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  accuracyOf,
  accuracyPercent,
  firstAt,
  inPercent,
  meanBetween,
} from '../../../../src/topics/fundamentals/math/forecast-accuracy.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'

describe('accuracy', () => {
  test('agrees with a computation by hand', () => {
    // errors: +2, -3, +4; of the actual values: 2%, 6%, 10%
    const accuracy = accuracyOf([
      { forecast: 102, actual: 100 },
      { forecast: 47, actual: 50 },
      { forecast: 44, actual: 40 },
    ])!
    expect(accuracy.mape).toBeCloseTo(6, 12)
    expect(accuracy.mae).toBeCloseTo(3, 12)
    expect(accuracy.rmse).toBeCloseTo(Math.sqrt(29 / 3), 12)
    expect(accuracy.meanError).toBeCloseTo(1, 12)
    // (2 - 6 + 10) / 3
    expect(accuracy.meanErrorPercent).toBeCloseTo(2, 12)
    expect(accuracy.sampleSize).toBe(3)
  })

  test('of prices under zero measures errors by their size', () => {
    expect(accuracyOf([{ forecast: -30, actual: -40 }])).toEqual({
      mape: 25,
      mae: 10,
      rmse: 10,
      meanError: 10,
      meanErrorPercent: 25,
      sampleSize: 1,
    })
  })

  test('has no percent where everything that came was 0, and nothing without forecasts', () => {
    expect(accuracyOf([{ forecast: 1, actual: 0 }])).toMatchObject({
      mape: undefined,
      meanErrorPercent: undefined,
      mae: 1,
      sampleSize: 1,
    })
    expect(accuracyOf([])).toBeUndefined()
  })

  test('of one forecast is 100 less its error in percent, never under 0', () => {
    expect(accuracyPercent({ forecast: 95, actual: 100 })).toBe(95)
    expect(accuracyPercent({ forecast: 300, actual: 100 })).toBe(0)
    expect(accuracyPercent({ forecast: 1, actual: 0 })).toBeUndefined()
  })

  test('in percent does not depend on the unit, and its mae is the mape', () => {
    const value = fc.double({ min: 1, max: 1000, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(fc.record({ forecast: value, actual: value }), { minLength: 1 }),
        value,
        (scored, unit) => {
          const scaled = scored.map(score => ({
            forecast: score.forecast * unit,
            actual: score.actual * unit,
          }))
          const [here, there] = [accuracyOf(inPercent(scored))!, accuracyOf(inPercent(scaled))!]
          expect(here.rmse).toBeCloseTo(there.rmse, 6)
          expect(here.mae).toBeCloseTo(accuracyOf(scored)!.mape!, 6)
        },
      ),
    )
  })
})

describe('the mean of the closes between two days', () => {
  const closes: Close[] = [1, 2, 3, 4, 5].map((value, n) => ({
    day: dayAfter('2026-10-29', n),
    value,
  }))
  for (const [from, to, mean] of [
    ['2026-10-29', '2026-11-02', 3],
    ['2026-10-30', '2026-10-31', 2.5],
    ['2026-11-01', '2026-11-30', 4.5],
    ['2026-11-03', '2026-11-30', undefined],
    ['2026-09-01', '2026-10-28', undefined],
  ] as const) {
    test(`${from} to ${to} is ${mean}`, () => expect(meanBetween(closes, from, to)).toBe(mean))
  }

  test('begins where the closes before a day end', () => {
    expect([
      firstAt(closes, '2026-10-01'),
      firstAt(closes, '2026-10-31'),
      firstAt(closes, '2027-01-01'),
    ]).toEqual([0, 2, 5])
  })
})
