import { expect, test } from 'bun:test'
import { rangeOf } from '../../src/console/parts/charts/range.ts'

test('the axis of a chart reaches to a level near its values, and not to one far away', () => {
  const [low, high] = rangeOf(55, 86, [{ value: 90 }, { value: 1000 }])
  expect(high).toBeGreaterThan(90)
  expect(high).toBeLessThan(100)
  expect(low).toBeLessThan(55)
  expect(rangeOf(55, 86, [{ value: 40 }])[0]).toBeLessThan(40)
})

test('the axis of a chart has a height where all values are equal, and where there are none', () => {
  expect(rangeOf(0, 0)).toEqual([-1, 1])
  expect(rangeOf(50, 50)).toEqual([49, 51])
  expect(rangeOf(null, null)).toEqual([0, 1])
})
