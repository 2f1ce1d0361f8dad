import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  difference,
  gradeDifferences,
  gradeSpread,
  isArbitrage,
  scrubberBenefitDaily,
} from '../../../../src/topics/fuels/math/bunker.ts'
import type { Grade } from '../../../../src/topics/fuels/math/marine.ts'

const port = (prices: Partial<Record<Grade, number>>) =>
  new Map(Object.entries(prices) as [Grade, number][])

describe('the difference of two prices', () => {
  test.each([
    [531, 509, 22, 4.32],
    [509, 531, -22, -4.14],
    [500, 500, 0, 0],
    [0.1, 0.3, -0.2, -66.67],
    // As doubles, their difference is a little above -2.295.
    [423.754, 426.049, -2.3, -0.54],
    [10, 0, 10, undefined],
  ])('%p against %p is %p, %p %%', (first, second, value, percentage) => {
    expect(difference(first, second)).toEqual({ value, percentage: percentage as number })
  })
  test('is turned round when the prices are', () => {
    const cents = fc.integer({ min: 1, max: 500_000 }).map(cent => cent / 100)
    fc.assert(
      fc.property(
        cents,
        cents,
        (a, b) => Math.abs(difference(a, b).value + difference(b, a).value) < 1e-9,
      ),
    )
  })
  test('is one for every grade that both ports have, and for no other', () => {
    const differences = gradeDifferences(
      port({ VLSFO: 531, HFO_380: 437, HFO_180: 462 }),
      port({ VLSFO: 509, MGO_05S: 690, HFO_180: 440 }),
    )
    expect([...differences]).toEqual([
      ['VLSFO', { value: 22, percentage: 4.32 }],
      ['HFO_180', { value: 22, percentage: 5 }],
    ])
  })
})

test.each([
  // 5% is not more than 5%.
  [525, 500, false],
  [525.05, 500, true],
  [474.95, 500, true],
  [475, 500, false],
  [500, 0, false],
])('%p against %p is an arbitrage: %p', (first, second, is) => {
  expect(isArbitrage(difference(first, second))).toBe(is)
})

test('a scrubber saves what thirty tons of the two fuels differ by', () => {
  expect(scrubberBenefitDaily(difference(531.5, 437.25))).toBe(2827.5)
  expect(scrubberBenefitDaily(difference(437.25, 531.5))).toBe(-2827.5)
})

test('a spread of grades is first minus second at the ports that have both, and their mean', () => {
  const ports = new Map([
    ['SIN', port({ VLSFO: 531, MGO_05S: 721 })],
    ['RTM', port({ VLSFO: 509, MGO_05S: 690.2 })],
    ['HOU', port({ VLSFO: 517 })],
  ])
  const { values, average } = gradeSpread(ports, ['VLSFO', 'MGO_05S'])
  expect([...values]).toEqual([
    ['SIN', -190],
    ['RTM', -181.2],
  ])
  expect(average).toBe(-185.6)
  expect(gradeSpread(ports, ['HFO_380', 'HFO_180'])).toEqual({
    values: new Map(),
    average: undefined,
  })
})
