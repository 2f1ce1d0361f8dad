import { expect, test } from 'bun:test'
import { forecastRanges } from '../../src/console/pages/market/ranges.ts'

const brent = { name: 'Brent', price: 64.1, stale: false, forecast_1m: { low: 60.02, high: 69 } }

test('the forecast line gives the probability of the ranges and leaves stale prices out', () => {
  const stale = { ...brent, name: 'WTI', stale: true }
  const short = { ...brent, name: 'Gas', forecast_1m: null }
  const write = (value: number, decimals: number) => value.toFixed(decimals)
  expect(forecastRanges([stale, brent, short], write)).toBe(
    'One-month forecast, 68% range: Brent 60.0 to 69.0.',
  )
  expect(forecastRanges([stale, short], write)).toBeUndefined()
})
