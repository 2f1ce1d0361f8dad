import { describe, expect, test } from 'bun:test'
import { priceContext } from '../../../../src/topics/analytics/math/context.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const last = '2026-11-20'
const daily = (values: readonly number[]): Close[] =>
  values.map((value, i) => ({ day: dayAfter(last, i - values.length + 1), value }))

describe('a price in its 52 weeks', () => {
  test('a price is ranked among the daily closes of the 364 days that end with it', () => {
    // The first close lies 364 days back and is outside.
    const result = priceContext([
      { day: dayAfter(last, -364), value: 1 },
      { day: dayAfter(last, -363), value: 50 },
      ...daily([90, 60, 80, 70]),
    ])
    // 50, 90, 60, 80, 70: three of five do not exceed 70.
    expect(result).toEqual({
      enough: true,
      value: { price: 70, percentile: 60, high: 90, low: 50, average: 70, dataPoints: 5 },
    })
  })

  test('is 100 at the high and counts closes that equal it', () => {
    expect(priceContext(daily([1, 2, 3, 3, 3]))).toMatchObject({
      value: { percentile: 100, high: 3 },
    })
    expect(priceContext(daily([3, 1, 4, 5, 1]))).toMatchObject({
      value: { percentile: 40, low: 1 },
    })
  })

  test('the 52-week context of a price needs five closes', () => {
    expect(priceContext(daily([1, 2, 3, 4]))).toEqual({ enough: false, have: 4, need: 5 })
    expect(priceContext([])).toEqual({ enough: false, have: 0, need: 5 })
  })

  needs('../shared/data').test('of Brent on the last day of 2022 is what a sort gives', () => {
    const closes = realCloses('oil-prices/brent-daily.csv', '2022-12-30')
    const year = closes.filter(({ day }) => day > '2021-12-31').map(close => close.value)
    const sorted = [...year].sort((a, b) => a - b)
    const result = priceContext(closes)
    if (!result.enough) throw new Error('enough closes')
    expect(result.value.dataPoints).toBe(year.length)
    expect({ low: result.value.low, high: result.value.high }).toEqual({
      low: sorted[0]!,
      high: sorted.at(-1)!,
    })
    expect(result.value.percentile).toBeCloseTo(
      (100 * (sorted.lastIndexOf(year.at(-1)!) + 1)) / year.length,
      9,
    )
    expect(result.value.average).toBeCloseTo(year.reduce((a, b) => a + b, 0) / year.length, 9)
  })
})
