import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  annualVolatility,
  percentile,
  percentileBand,
  rsiBand,
  statisticsOf,
  stdDev,
  volatilityBand,
  zScoreBand,
} from '../../../../src/topics/analytics/math/statistics.ts'
import { closesOf } from '../../../support/closes.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses, realRows } from '../../../support/real-data.ts'

const naiveDeviation = (values: readonly number[]): number => {
  let sum = 0
  for (const v of values) sum += v
  let squares = 0
  for (const v of values) squares += (v - sum / values.length) ** 2
  return Math.sqrt(squares / (values.length - 1))
}

describe('statistics', () => {
  test('of a hand-worked window: sample deviation, z-score, percentile, median', () => {
    const result = statisticsOf(closesOf([2, 4, 4, 4, 5, 5, 7, 9]), 30)
    if (!result.enough) throw new Error('eight closes are enough')
    expect(result.value).toMatchObject({
      mean: 5,
      median: 4.5,
      min: 2,
      max: 9,
      percentile: 100,
      dataPoints: 8,
    })
    expect(result.value.stdDev).toBeCloseTo(Math.sqrt(32 / 7), 12)
    expect(result.value.zScore).toBeCloseTo(4 / Math.sqrt(32 / 7), 12)
  })

  test('equal prices have deviation 0 and no z-score, also where rounding leaves a residue in the mean', () => {
    for (const price of [0.1, 0.7, 71.23, -36.98]) {
      const result = statisticsOf(closesOf(Array(6).fill(price)), 30)
      expect(result).toMatchObject({ enough: true, value: { stdDev: 0, percentile: 100 } })
      if (result.enough) expect(result.value.zScore).toBeUndefined()
    }
  })

  test('never give NaN or an infinity, for any prices in steps of a millionth', () => {
    const price = fc.integer({ min: -1e12, max: 1e12 }).map(steps => steps / 1e6)
    fc.assert(
      fc.property(fc.array(price, { minLength: 5, maxLength: 60 }), values => {
        const result = statisticsOf(closesOf(values), 400)
        if (!result.enough) throw new Error('enough closes')
        for (const number of Object.values(result.value))
          expect(number === undefined || Number.isFinite(number)).toBe(true)
        expect(result.value.percentile).toBeGreaterThan(0)
        expect(result.value.percentile).toBeLessThanOrEqual(100)
        expect(result.value.stdDev).toBeCloseTo(naiveDeviation(values), 3)
      }),
    )
  })

  test('too few closes are counted, not computed', () => {
    expect(statisticsOf(closesOf([1, 2, 3]), 30)).toEqual({ enough: false, have: 3, need: 5 })
  })

  test('deviation and volatility need two values', () => {
    expect(stdDev([])).toBeUndefined()
    expect(stdDev([3])).toBeUndefined()
    expect(annualVolatility(closesOf([1, 2]))).toBeUndefined()
    expect(annualVolatility(closesOf([1, -1, 1, -1, 1]))).toBeUndefined()
  })

  test('volatility of a doubling and halving price: sd(±ln 2) x sqrt(252) x 100', () => {
    const deviation = Math.sqrt((4 * Math.log(2) ** 2) / 3)
    expect(annualVolatility(closesOf([1, 2, 1, 2, 1]))!).toBeCloseTo(
      deviation * Math.sqrt(252) * 100,
      9,
    )
  })

  needs('../shared/data').test(
    'weekly diesel of the year to 2025-06-23: 10.52 percent a year, by weekly returns x sqrt(52)',
    () => {
      const diesel = realRows('eia-retail-fuel/weekly_gas_prices.csv')
        .filter(([, fuel, grade]) => fuel === 'diesel' && grade === 'all')
        .map(([day, , , , price]) => ({ day: day!, value: Number(price) }))
      const statistics = statisticsOf(diesel, 365)
      if (!statistics.enough) throw new Error('enough closes')
      expect(statistics.value.volatility).toBeCloseTo(10.51909103959572, 9)
      expect(statistics.value.observationsPerYear).toBe(52)
    },
  )

  test('percentile counts the values that do not exceed', () => {
    expect(percentile([1, 2, 2, 3], 2)).toBe(75)
    expect(percentile([1, 2, 2, 3], 0)).toBe(0)
    expect(percentile([5], 5)).toBe(100)
  })
})

describe('bands', () => {
  test('each z-score belongs to its band, and an edge to the calmer one', () => {
    const table: [number, string][] = [
      [-2.01, 'extremely oversold'],
      [-2, 'below average'],
      [-1.01, 'below average'],
      [-1, 'normal'],
      [1, 'normal'],
      [1.01, 'above average'],
      [2, 'above average'],
      [2.01, 'extremely overbought'],
    ]
    for (const [z, band] of table) expect(zScoreBand(z)).toBe(band)
  })

  test('each RSI belongs to its band', () => {
    const table: [number, string][] = [
      [0, 'oversold'],
      [29.99, 'oversold'],
      [30, 'bearish'],
      [49.99, 'bearish'],
      [50, 'bullish'],
      [70, 'bullish'],
      [70.01, 'overbought'],
      [100, 'overbought'],
    ]
    for (const [rsi, band] of table) expect(rsiBand(rsi)).toBe(band)
  })

  test('percentile and volatility name every value', () => {
    expect([5, 20, 50, 80, 99].map(percentileBand)).toEqual([
      'near the low of the period',
      'in the lower quarter of the period',
      'in the middle of the period',
      'in the upper quarter of the period',
      'near the high of the period',
    ])
    expect([10, 20, 40, 90].map(volatilityBand)).toEqual(['low', 'moderate', 'high', 'extreme'])
  })
})

describe('real series', () => {
  // Computed apart from this code (Python, math.fsum) from the EIA spot files.
  const table = [
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2024-06-28',
      period: 30,
      expected: {
        dataPoints: 21,
        mean: 79.64333333333333,
        median: 79.56,
        stdDev: 2.8768200036382767,
        zScore: 1.1077045705454396,
        percentile: 90.47619047619048,
        volatility: 24.30284298063746,
      },
    },
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2020-04-30',
      period: 90,
      expected: {
        dataPoints: 62,
        mean: 31.457741935483874,
        median: 27.66,
        stdDev: 17.062025365461604,
        zScore: -0.7166641517387674,
        percentile: 20.967741935483872,
        volatility: 211.84938359206242,
      },
    },
    {
      file: 'oil-prices/brent-daily.csv',
      last: '2008-07-11',
      period: 365,
      expected: {
        dataPoints: 251,
        mean: 97.37027888446215,
        median: 92.57,
        stdDev: 19.66239530479215,
        zScore: 2.355243112432552,
        percentile: 99.60159362549801,
        volatility: 30.408086850217096,
      },
    },
    {
      file: 'natural-gas/daily.csv',
      last: '2026-02-10',
      period: 30,
      expected: {
        dataPoints: 21,
        mean: 7.788095238095239,
        median: 4.4,
        stdDev: 7.5586166849812,
        zScore: -0.6096479594277374,
        percentile: 28.571428571428573,
        volatility: 679.0965590550588,
      },
    },
  ]
  for (const { file, last, period, expected } of table) {
    needs('../shared/data').test(
      `${file}, ${period} days to ${last}: as computed independently, to 1e-9`,
      () => {
        const result = statisticsOf(realCloses(file, last), period)
        if (!result.enough) throw new Error('enough closes')
        for (const [name, number] of Object.entries(expected)) {
          expect(
            Math.abs((result.value[name as keyof typeof expected] as number) / number - 1),
          ).toBeLessThan(1e-9)
        }
      },
    )
  }
})
