import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  decimalDifference,
  formatPrice,
  grouped,
  roundTo,
} from '../../../../src/topics/prices/math/format.ts'
import { runs } from '../../../support/full.ts'

/** Rounds the decimal text itself, digit by digit. */
function roundedText(value: number, decimals: number): number {
  const text = Math.abs(value).toFixed(20).replace('.', '')
  const cut = text.length - 20 + decimals
  const up = text[cut]! >= '5' ? 1n : 0n
  const digits = (BigInt(text.slice(0, cut)) + up).toString().padStart(decimals + 1, '0')
  const number = Number(
    `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`,
  )
  return value < 0 && number !== 0 ? -number : number
}

describe('roundTo: a rounded value', () => {
  test.each([
    [1.005, 2, 1.01],
    [-1.005, 2, -1.01],
    [2.5, 0, 3],
    [-0.001, 2, 0],
    [1.45, 1, 1.5],
    [0.285, 2, 0.29],
    [71.2349999, 2, 71.23],
    [1e15, 2, 1e15],
    [123456789012.345, 2, 123456789012.35],
    // Their products with a power of ten err by more than they are away from the tie.
    [21673753.628595, 5, 21673753.6286],
    [-418038477.43735, 4, -418038477.4374],
  ])('%d to %d places is %d', (value, decimals, expected) => {
    expect(roundTo(value, decimals)).toBe(expected)
  })

  test('is what rounding the shortest decimal text gives', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -10_000_000, max: 10_000_000 }),
        fc.integer({ min: 0, max: 4 }),
        (units, decimals) => {
          // Five decimals written out: the value a person sees, with every kind of tie.
          const value = Number(`${units}e-5`)
          const text = Math.abs(units).toString().padStart(6, '0')
          const cut = text.length - 5 + decimals
          const digits = (BigInt(text.slice(0, cut)) + (text[cut]! >= '5' ? 1n : 0n))
            .toString()
            .padStart(decimals + 1, '0')
          const expected = Number(
            `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals) || '0'}`,
          )
          expect(Math.abs(roundTo(value, decimals))).toBe(expected)
        },
      ),
      { numRuns: runs(5_000) },
    )
  })

  test('stays the number next to it for any double that is not on a tie', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.integer({ min: 0, max: 4 }),
        (value, decimals) => {
          const exact = roundedText(value, decimals)
          // On a tie of the shortest text the two may part: the text rounds up, the double lies
          // below.
          expect(Math.abs(roundTo(value, decimals) - exact)).toBeLessThanOrEqual(
            10 ** -decimals + 1e-12,
          )
          if (Math.abs(((Math.abs(value) * 10 ** decimals) % 1) - 0.5) > 1e-5)
            expect(roundTo(value, decimals)).toBe(exact)
        },
      ),
      { numRuns: runs(3_000) },
    )
  })
})

test.each([
  [999, 2, '999.00'],
  [999.999, 2, '1,000.00'],
  [1234567.891, 2, '1,234,567.89'],
  [0.5, 4, '0.5000'],
  [12345, 0, '12,345'],
])('%d is grouped as %s', (value, decimals, expected) => {
  expect(grouped(value, decimals)).toBe(expected)
})

test.each([
  [71.2, 2, 'USD', 'barrel', false, '$71.20'],
  [-1.05, 2, 'USD', 'barrel', false, '-$1.05'],
  [112.5, 2, 'GBP', 'pence_per_therm', false, '112.50p'],
  [15.49, 2, 'DKK', 'litre', false, 'DKK 15.49'],
  [1.0845, 4, 'USD', 'rate', true, '1.0845'],
  [585, 0, null, 'rigs', false, '585'],
  [80.6, 2, 'EUR', 'metric_ton_co2', false, '€80.60'],
] as const)('%d %d %s %s reads %s', (value, decimals, currency, unit, bare, expected) => {
  expect(formatPrice(value, decimals, currency, unit, bare)).toBe(expected)
})

test('the difference of two decimal numbers is the decimal one, of any size and sign', () => {
  expect(decimalDifference(71.23, 75.1)).toBe(-3.87)
  expect(decimalDifference(0.03, 0.01)).toBe(0.02)
  expect(decimalDifference(0.1, -0.2)).toBe(0.3)
  expect(Object.is(decimalDifference(0, 0), 0)).toBe(true)
  expect(decimalDifference(1e300, -1e300)).toBe(2e300)
  expect(decimalDifference(Number.MIN_VALUE, 0)).toBe(Number.MIN_VALUE)
  expect(decimalDifference(5e-12, 2e-12)).toBe(3e-12)
  expect(decimalDifference(999e-9, -996e-9)).toBe(1995e-9)
  const units = fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.maxSafeInteger().map(n => n % 1e12),
  )
  fc.assert(
    fc.property(units, units, fc.nat(18), (a, b, decimals) => {
      const decimal = (value: number) => Number(`${value}e-${decimals}`)
      expect(decimalDifference(decimal(a), decimal(b))).toBe(decimal(a - b) + 0)
    }),
    { numRuns: runs(2_000) },
  )
})
