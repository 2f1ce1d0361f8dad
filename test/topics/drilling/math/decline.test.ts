import { describe, expect, test } from 'bun:test'
import { type Decline, outputAfter } from '../../../../src/topics/drilling/math/decline.ts'

/** Output a day, `days` after the beginning. */
function rateAfter({ initialRate, initialDecline, exponent }: Decline, days: number): number {
  if (exponent === 0) return initialRate * Math.exp(-initialDecline * days)
  return initialRate * (1 + exponent * initialDecline * days) ** (-1 / exponent)
}

const cases: [string, Decline][] = [
  ['exponential', { initialRate: 800, initialDecline: 0.006, exponent: 0 }],
  ['hyperbolic', { initialRate: 800, initialDecline: 0.006, exponent: 0.6 }],
  ['harmonic', { initialRate: 800, initialDecline: 0.006, exponent: 1 }],
  ['beyond harmonic, as in shale', { initialRate: 800, initialDecline: 0.006, exponent: 1.25 }],
]

describe('a decline', () => {
  for (const [name, decline] of cases) {
    test(`${name}: the output is the sum of the rates`, () => {
      for (const days of [1, 30, 400]) {
        // Simpson's rule, a tenth of a day each.
        const steps = days * 10
        let sum = rateAfter(decline, 0) + rateAfter(decline, days)
        for (let i = 1; i < steps; i++) sum += (i % 2 === 0 ? 2 : 4) * rateAfter(decline, i / 10)
        expect(outputAfter(decline, days)).toBeCloseTo(sum / 30, 4)
      }
      expect(outputAfter(decline, 0)).toBeCloseTo(0, 12)
    })
    test(`${name}: begins at its rate and falls by its nominal decline`, () => {
      expect(rateAfter(decline, 0)).toBe(800)
      const slope = (rateAfter(decline, 1e-4) - rateAfter(decline, 0)) / 1e-4
      expect(-slope / 800).toBeCloseTo(0.006, 6)
    })
  }
  test('lasts the longer the greater its exponent', () => {
    const lateRates = cases.map(([, decline]) => rateAfter(decline, 3650))
    expect(lateRates.toSorted((a, b) => a - b)).toEqual(lateRates)
    expect(lateRates[0]!).toBeLessThan(lateRates[3]! / 1000)
  })
})
