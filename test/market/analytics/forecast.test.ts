import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { forecast, logSlope, project } from '../../../src/market/analytics/forecast.ts'
import { type Close, dayAfter } from '../../../src/market/prices/window.ts'
import { haveRealData, needsRealData, realCloses } from '../../support/real-data.ts'

const closesOf = (values: readonly number[]): Close[] =>
  values.map((value, i) => ({ day: dayAfter('2024-01-01', i), value }))
const wave = closesOf(Array.from({ length: 120 }, (_, i) => 70 + Math.sin(i / 5) * 4 + i / 40))

test('a projection is last x exp(drift x h) with bands of one and two sigma sqrt(h)', () => {
  const { value, changePercent, sigma1, sigma2 } = project(80, 0.001, 0.02, 7)
  expect(value).toBeCloseTo(80 * Math.E ** 0.007, 10)
  expect(changePercent!).toBeCloseTo(100 * (Math.E ** 0.007 - 1), 10)
  expect(sigma1.low).toBeCloseTo(80 * Math.E ** (0.007 - 0.02 * Math.sqrt(7)), 10)
  expect(sigma1.high).toBeCloseTo(80 * Math.E ** (0.007 + 0.02 * Math.sqrt(7)), 10)
  expect(sigma2.low).toBeCloseTo(80 * Math.E ** (0.007 - 0.04 * Math.sqrt(7)), 10)
  expect(sigma2.high).toBeCloseTo(80 * Math.E ** (0.007 + 0.04 * Math.sqrt(7)), 10)
})

test('bands hold the value, the wider hold the narrower and they widen with the horizon, for any price, drift and sigma', () => {
  const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
  fc.assert(
    fc.property(number(-100, 500), number(-0.02, 0.02), number(0, 0.2), (last, drift, sigma) => {
      const widths = [1, 7, 30].map(h => {
        const { value, sigma1, sigma2 } = project(last, drift, sigma, h)
        expect(sigma1.low <= value && value <= sigma1.high).toBe(true)
        expect(sigma2.low <= sigma1.low && sigma1.high <= sigma2.high).toBe(true)
        return value === 0 || sigma === 0
          ? 0
          : Math.log(sigma1.high / sigma1.low) * Math.sign(value)
      })
      expect(Math.abs(widths[0]!)).toBeLessThanOrEqual(Math.abs(widths[2]!))
    }),
  )
})

test('the log slope of an exponential is its rate per calendar day, across gaps', () => {
  const days = [0, 1, 2, 5, 6, 9, 12]
  expect(
    logSlope(days.map(d => ({ day: dayAfter('2024-01-01', d), value: 40 * Math.exp(0.003 * d) })))!,
  ).toBeCloseTo(0.003, 12)
})

describe('methods', () => {
  test('sma does not drift, combined drifts half as far as ema', () => {
    const [sma, ema, combined] = (['sma', 'ema', 'combined'] as const).map(method => {
      const result = forecast(wave, method, 90)
      if (!result.enough) throw new Error('enough closes')
      return result.value
    })
    expect(sma!.drift).toBe(0)
    for (const { value, changePercent } of sma!.projections)
      expect([value, changePercent]).toEqual([wave.at(-1)!.value, 0])
    expect(ema!.drift).not.toBe(0)
    expect(combined!.drift).toBeCloseTo(ema!.drift / 2, 15)
    expect(ema!.projections.map(p => p.horizonDays)).toEqual([1, 7, 30])
    expect(ema!.volatility).toBeCloseTo(ema!.sigma * Math.sqrt(252) * 100, 9)
  })

  test('too few closes are counted: five in the lookback, 21 in all', () => {
    expect(forecast(wave.slice(0, 20), 'ema', 90)).toEqual({ enough: false, have: 20, need: 21 })
    expect(forecast(wave.slice(0, 4), 'ema', 90)).toEqual({ enough: false, have: 4, need: 5 })
    expect(forecast(wave.slice(0, 21), 'ema', 90).enough).toBe(true)
  })

  test('prices without returns are too little data, not NaN', () => {
    expect(forecast(closesOf(Array(40).fill(-1)), 'combined', 90).enough).toBe(false)
  })
})

describe('real series', () => {
  // Computed apart from this code (Python, math.fsum) from the EIA spot files.
  const table = [
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2024-06-28',
      period: 90,
      sigma: 0.013660544414401565,
      drift: -0.0008105095842222392,
      values: [82.7628926903714, 82.36138904284762, 80.84025339726436],
      low1In30: 75.01237829473176,
      high2In7: 88.53531873108503,
      combinedIn30: 81.8290791155284,
    },
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2020-04-30',
      period: 90,
      sigma: 0.1334525677111725,
      drift: -0.01572011542798937,
      values: [18.930065856665838, 17.226187441221807, 11.999537372593986],
      low1In30: 5.777195052362891,
      high2In7: 34.90378805507367,
      combinedIn30: 15.190493858824418,
    },
    {
      file: 'oil-prices/brent-daily.csv',
      last: '2008-07-11',
      period: 365,
      sigma: 0.019155294202601862,
      drift: 0.0017818204582703311,
      values: [143.93624018264973, 145.48330645507653, 151.5693412567543],
      low1In30: 136.47280322464877,
      high2In7: 161.0027808607807,
      combinedIn30: 147.57195855504006,
    },
  ]
  for (const { file, last, period, ...expected } of table) {
    test.skipIf(!haveRealData)(
      `${file}, ${period} days to ${last}: as computed independently, to 1e-9${needsRealData}`,
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
})
