import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { priceChange } from '../../../../src/topics/prices/math/change.ts'
import { runs } from '../../../support/full.ts'

test('the amount of a change is the decimal difference of two prices, rounded half away from zero', () => {
  // As doubles, 423.754 - 426.049 is a little above -2.295.
  expect(priceChange(426.049, 423.754, 2).amount).toBe(-2.3)
  expect(priceChange(423.754, 426.049, 2).amount).toBe(2.3)
  const thousandths = fc.integer({ min: -10_000_000, max: 10_000_000 })
  fc.assert(
    fc.property(thousandths, thousandths, (from, to) => {
      const hundredths = Math.floor((Math.abs(to - from) + 5) / 10)
      const amount = (Math.sign(to - from) * hundredths) / 100
      expect(priceChange(from / 1000, to / 1000, 2).amount).toBe(amount === 0 ? 0 : amount)
    }),
    { numRuns: runs(2_000) },
  )
})
