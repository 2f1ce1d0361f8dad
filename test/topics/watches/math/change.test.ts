import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  comparable,
  findings,
  moved,
  nextRunAfter,
  type WatchReading,
} from '../../../../src/topics/watches/math/change.ts'

const at = (price: number | null, stale = false, seriesId = 1): WatchReading => ({
  price,
  seriesId,
  stale,
})

test('the next run is the first of its interval after now, however late the last one was', () => {
  const moments = fc.record({
    due: fc.integer({ min: 0, max: 2e12 }),
    interval: fc.integer({ min: 1000, max: 3e9 }),
    late: fc.integer({ min: 0, max: 1e11 }),
  })
  fc.assert(
    fc.property(moments, ({ due, interval, late }) => {
      const next = nextRunAfter(due, interval, due + late)
      expect((next - due) % interval).toBe(0)
      expect(next).toBeGreaterThan(due + late)
      expect(next - interval).toBeLessThanOrEqual(due + late)
    }),
  )
})

describe('what a run says of a code', () => {
  const nothing = undefined
  test.each([
    ['a price', at(100), nothing, null, ['evaluated']],
    ['a price without a threshold, however far it moved', at(200), at(100), null, ['evaluated']],
    ['a move below the threshold', at(101.99), at(100), 2, ['evaluated']],
    ['a move as far as the threshold', at(102), at(100), 2, ['evaluated', 'threshold_crossed']],
    ['a fall past the threshold', at(97), at(100), 2, ['evaluated', 'threshold_crossed']],
    [
      'a price below zero that rose past the threshold',
      at(-10),
      at(-40),
      2,
      ['evaluated', 'threshold_crossed'],
    ],
    ['a price that was zero, from which no percentage counts', at(5), at(0), 2, ['evaluated']],
    ['the first price of a code that had none', at(100), at(null), 2, ['evaluated']],
    [
      'a family that rolled to another contract',
      at(200, false, 2),
      at(100, false, 1),
      2,
      ['evaluated'],
    ],
    ['a price that became stale', at(100, true), at(100), 2, ['evaluated', 'stale']],
    ['a price that was stale before', at(100, true), at(100, true), 2, ['evaluated']],
    ['a code without a price', at(null, true), at(null), 2, ['evaluated', 'stale']],
    ['a price that is back', at(100), at(100, true), 2, ['evaluated']],
  ] as const)('%s', (_, reading, before, threshold, types) => {
    expect(findings(reading, before, threshold)).toEqual([...types])
  })
})

test('a roll leaves nothing to compare with, and neither does a missing price', () => {
  expect(comparable(at(100), at(99))).toBe(99)
  expect(comparable(at(100, false, 2), at(99))).toBeNull()
  expect(comparable(at(null), at(99))).toBeNull()
  expect(comparable(at(100), undefined)).toBeNull()
})

test('a move is in the decimals of its series and in percent to two places', () => {
  expect(moved(74.25, 73.9, 2)).toEqual({ change: 0.35, percent: 0.47 })
  expect(moved(3.251, 3.35, 3)).toEqual({ change: -0.099, percent: -2.96 })
  // As doubles, their difference is a little above -2.295.
  expect(moved(423.754, 426.049, 2).change).toBe(-2.3)
  expect(moved(5, 0, 2)).toEqual({ change: 5, percent: null })
  expect(moved(null, 5, 2)).toEqual({ change: null, percent: null })
})
