import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Point, summaryOf, thinned } from '../../../../src/topics/prices/math/summary.ts'

const pointsOf = (values: readonly number[]): Point[] =>
  values.map((value, index) => ({ at: String(index).padStart(5, '0'), value }))

test('a summary names the ends, the extremes and the mean', () => {
  expect(summaryOf(pointsOf([4, 1, 9, 6]))).toEqual({
    first: { at: '00000', value: 4 },
    last: { at: '00003', value: 6 },
    high: { at: '00002', value: 9 },
    low: { at: '00001', value: 1 },
    mean: 5,
    change: 2,
    changePercent: 50,
    count: 4,
  })
  expect(summaryOf([])).toBeUndefined()
})

test('a change from below zero has its own sign, one from zero no percent', () => {
  expect(summaryOf(pointsOf([-37.63, 10.01]))?.changePercent).toBeCloseTo(126.6, 1)
  expect(summaryOf(pointsOf([0, 5]))?.changePercent).toBeNull()
})

test('the mean of values that are written with an exponent keeps their digits', () => {
  const { mean, change } = summaryOf(pointsOf([1.5e-7, 2.5e-7]))!
  expect({ mean, change }).toEqual({ mean: 2e-7, change: 1e-7 })
})

test('thinning keeps the order, the ends and the extremes, and never more than asked for', () => {
  const values = fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 1, maxLength: 400 })
  fc.assert(
    fc.property(values, fc.integer({ min: 4, max: 100 }), (list, pointsMax) => {
      const points = pointsOf(list)
      const thin = thinned(points, pointsMax)
      expect(thin.length).toBeLessThanOrEqual(pointsMax)
      expect(thin.map(point => point.at)).toEqual(thin.map(point => point.at).toSorted())
      expect(thin[0]).toBe(points[0])
      expect(thin.at(-1)).toBe(points.at(-1))
      const [whole, part] = [summaryOf(points)!, summaryOf(thin)!]
      expect({ high: part.high.value, low: part.low.value }).toEqual({
        high: whole.high.value,
        low: whole.low.value,
      })
    }),
  )
})
