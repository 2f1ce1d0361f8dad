import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  calibrationOf,
  closesAhead,
  forecast,
  logSlope,
  project,
} from '../../../../src/topics/analytics/math/forecast.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { closesOf } from '../../../support/closes.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const wave = closesOf(Array.from({ length: 120 }, (_, i) => 70 + Math.sin(i / 5) * 4 + i / 40))

test('a projection has bands of one and two sigma sqrt(n) around its value', () => {
  const { value, changePercent, sigma1, sigma2 } = project(80, 84, 0.02, { days: 10, closes: 7 })
  expect({ value, changePercent }).toEqual({ value: 84, changePercent: 5 })
  expect(sigma1.low).toBeCloseTo(84 * Math.E ** (-0.02 * Math.sqrt(7)), 10)
  expect(sigma1.high).toBeCloseTo(84 * Math.E ** (0.02 * Math.sqrt(7)), 10)
  expect(sigma2.low).toBeCloseTo(84 * Math.E ** (-0.04 * Math.sqrt(7)), 10)
  expect(sigma2.high).toBeCloseTo(84 * Math.E ** (0.04 * Math.sqrt(7)), 10)
})

test('bands hold the value, the wider hold the narrower and they widen with the horizon, for any forecast', () => {
  const values = fc.array(fc.double({ min: 1, max: 500, noNaN: true }), {
    minLength: 21,
    maxLength: 60,
  })
  fc.assert(
    fc.property(values, prices => {
      const result = forecast(closesOf(prices), 'ema', 90)
      if (!result.enough) throw new Error('enough closes')
      const widths = result.value.projections.map(({ value, sigma1, sigma2 }) => {
        expect(sigma1.low <= value && value <= sigma1.high).toBe(true)
        expect(sigma2.low <= sigma1.low && sigma1.high <= sigma2.high).toBe(true)
        return Math.log(sigma1.high / sigma1.low)
      })
      expect(widths[0]!).toBeLessThanOrEqual(widths[2]!)
    }),
  )
})

test('the log slope of an exponential is its rate from close to close', () => {
  const values = [0, 1, 2, 3, 4].map(n => 40 * Math.exp(0.003 * n))
  expect(logSlope(values)!).toBeCloseTo(0.003, 12)
})

test('a horizon of days is as many closes as the spacing of the closes gives', () => {
  expect([252, 52, 12].map(a => closesAhead(365, a))).toEqual([252, 52, 12])
  expect(closesAhead(30, 252)).toBeCloseTo(20.712, 3)
})

describe('methods', () => {
  test('sma expects the mean of the last 20 closes, combined the mean of both values', () => {
    const [sma, ema, combined] = (['sma', 'ema', 'combined'] as const).map(method => {
      const result = forecast(wave, method, 90)
      if (!result.enough) throw new Error('enough closes')
      return result.value
    })
    const average = wave.slice(-20).reduce((sum, close) => sum + close.value, 0) / 20
    for (const [i, { value }] of sma!.projections.entries()) {
      expect(value).toBeCloseTo(average, 10)
      expect(combined!.projections[i]!.value).toBeCloseTo(
        (average + ema!.projections[i]!.value) / 2,
        10,
      )
    }
    expect(ema!.drift).not.toBe(0)
    expect(ema!.projections.map(p => p.horizonDays)).toEqual([1, 7, 30])
    expect(ema!.volatility).toBeCloseTo(ema!.sigma * Math.sqrt(252) * 100, 9)
  })

  test('too few closes are counted: five in the lookback, 21 in all', () => {
    expect(forecast(wave.slice(0, 20), 'ema', 90)).toEqual({ enough: false, have: 20, need: 21 })
    expect(forecast(wave.slice(0, 4), 'ema', 90)).toEqual({ enough: false, have: 4, need: 5 })
    expect(forecast(wave.slice(0, 21), 'ema', 90).enough).toBe(true)
  })

  test('a lookback with a price of zero or less has no forecast and reports the reason', () => {
    for (const bad of [0, -36.98]) {
      const prices = [...wave.slice(0, 100), { day: dayAfter('2024-01-01', 100), value: bad }]
      const result = forecast([...prices, ...closesAfter(100, 5)], 'combined', 90)
      expect(result).toMatchObject({ enough: false, reason: expect.stringContaining('negative') })
    }
    // A bad price that lies before the lookback is not one of its business.
    expect(forecast(closesOf([-1, ...Array(150).fill(80)]), 'sma', 90).enough).toBe(true)
  })
})

const closesAfter = (day: number, count: number): Close[] =>
  Array.from({ length: count }, (_, i) => ({
    day: dayAfter('2024-01-01', day + 1 + i),
    value: 70 + i,
  }))

describe('real series', () => {
  // Computed apart from this code (Python, math.fsum) from the EIA spot files.
  const table = [
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2024-06-28',
      period: 90,
      sigma: 0.013660544414401565,
      drift: -0.0011675575085934467,
      values: [82.76325809639559, 82.36393450999527, 80.85096160445451],
      low1In30: 75.97750045137337,
      high2In7: 87.46247124917818,
      combinedIn30: 80.26423080222725,
    },
    {
      file: 'oil-prices/brent-daily.csv',
      last: '2008-07-11',
      period: 365,
      sigma: 0.019155294202601862,
      drift: 0.0024601745432051426,
      values: [143.924252377407, 145.39851106983423, 151.19109227990333],
      low1In30: 138.56884431817795,
      high2In7: 158.17461394435938,
      combinedIn30: 143.69129613995165,
    },
  ]
  for (const { file, last, period, ...expected } of table) {
    needs('../shared/data').test(
      `${file}, ${period} days to ${last}: as computed independently, to 1e-9`,
      () => {
        const closes = realCloses(file, last)
        const [ema, combined] = [
          forecast(closes, 'ema', period),
          forecast(closes, 'combined', period),
        ]
        if (!ema.enough || !combined.enough) throw new Error('enough closes')
        const [, in7, in30] = ema.value.projections
        const result = [
          ema.value.sigma,
          ema.value.drift,
          ...ema.value.projections.map(p => p.value),
          in30!.sigma1.low,
          in7!.sigma2.high,
          combined.value.projections[2]!.value,
        ]
        const numbers = [
          expected.sigma,
          expected.drift,
          ...expected.values,
          expected.low1In30,
          expected.high2In7,
          expected.combinedIn30,
        ]
        for (const [i, number] of numbers.entries())
          expect(Math.abs(result[i]! / number - 1)).toBeLessThan(1e-9)
      },
    )
  }

  needs('../shared/data').test(
    'WTI has no forecast from the 90 days to 2020-04-20, when it settled at -36.98, nor from the 90 days to 2020-04-30',
    () => {
      for (const last of ['2020-04-20', '2020-04-30'])
        expect(forecast(realCloses('oil-prices/wti-daily.csv', last), 'ema', 90)).toMatchObject({
          enough: false,
          reason: expect.stringContaining('zero or negative'),
        })
    },
  )

  needs('../shared/data').test(
    'the intervals of WTI held as often as counted independently, near what is stated',
    () => {
      // Counted apart from this code in Python over the five years to 2026-08-18.
      const closes = realCloses('oil-prices/wti-daily.csv', '2026-08-18')
      const coverage = {
        sma: 0.6674836601307189,
        ema: 0.6102941176470589,
        combined: 0.678921568627451,
      }
      for (const method of ['sma', 'ema', 'combined'] as const) {
        const calibration = calibrationOf(closes, method, 90)!
        expect(calibration.intervals).toBe(1224)
        expect(calibration.sigma1Held).toBeCloseTo(coverage[method], 12)
        expect(calibration.sigma2Held).toBeGreaterThan(0.9)
      }
    },
  )

  test('a share of fewer than 60 past intervals is not given', () => {
    expect(calibrationOf(wave.slice(0, 100), 'ema', 90)).toBeUndefined()
    expect(calibrationOf([], 'ema', 90)).toBeUndefined()
    expect(calibrationOf(wave, 'ema', 90)!.intervals).toBe(70)
  })
})
