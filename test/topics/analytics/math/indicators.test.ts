import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  ema,
  goldenCross,
  indicatorRun,
  leastSquares,
  pivots,
  pivotsOf,
  rsi,
  signalOf,
  sma,
  trendAnalysis,
  trendOf,
} from '../../../../src/topics/analytics/math/indicators.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { closesOf } from '../../../support/closes.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const prices = fc.array(fc.double({ min: -50, max: 500, noNaN: true }), {
  minLength: 16,
  maxLength: 120,
})

describe('textbook vectors', () => {
  test('RSI(14) is 70.53 at the fifteenth close', () => {
    const closes = [
      44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826,
      45.8931, 46.0328, 45.614, 46.282, 46.282,
    ]
    const values = rsi(closesOf(closes), 14)
    expect(values).toHaveLength(1)
    expect(values[0]!.value.toFixed(2)).toBe('70.53')
  })

  test('SMA(10) is 22.22, 22.21, 22.23 and EMA(10) 22.22, 22.21, 22.24 from the tenth close on', () => {
    const closes = closesOf([
      22.27, 22.19, 22.08, 22.17, 22.18, 22.13, 22.23, 22.43, 22.24, 22.29, 22.15, 22.39,
    ])
    expect(sma(closes, 10).map(v => v.value.toFixed(2))).toEqual(['22.22', '22.21', '22.23'])
    expect(ema(closes, 10).map(v => v.value.toFixed(2))).toEqual(['22.22', '22.21', '22.24'])
    expect(ema(closes, 10).map(v => v.day)).toEqual(['2024-01-10', '2024-01-11', '2024-01-12'])
  })
})

describe('RSI', () => {
  test('is 100 without losses, 0 without gains, 50 when nothing moved', () => {
    expect(rsi(closesOf([1, 2, 3, 4]), 3).at(-1)!.value).toBe(100)
    expect(rsi(closesOf([4, 3, 2, 1]), 3).at(-1)!.value).toBe(0)
    expect(rsi(closesOf([2, 2, 2, 2]), 3).at(-1)!.value).toBe(50)
  })

  test('the RSI of any prices is between 0 and 100 and equals 100 minus the RSI of the mirrored prices', () => {
    fc.assert(
      fc.property(prices, fc.integer({ min: 2, max: 15 }), (values, n) => {
        const mirrored = rsi(closesOf(values.map(v => -v)), n)
        for (const [i, { value }] of rsi(closesOf(values), n).entries()) {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(100)
          expect(value + mirrored[i]!.value).toBeCloseTo(100, 6)
        }
      }),
    )
  })

  test('smooths as Wilder does, worked by hand for n = 2', () => {
    // Changes +2, -1, +3, -2: averages 1 and .5; (1 + 3) / 2 = 2 and .25; 1 and (.25 + 2) / 2 =
    // 1.125.
    const values = rsi(closesOf([10, 12, 11, 14, 12]), 2).map(v => v.value)
    const expected = [
      100 - 100 / (1 + 1 / 0.5),
      100 - 100 / (1 + 2 / 0.25),
      100 - 100 / (1 + 1 / 1.125),
    ]
    expect(values).toHaveLength(3)
    for (const [i, value] of values.entries()) expect(value).toBeCloseTo(expected[i]!, 12)
  })
})

describe('a date has one value', () => {
  test('every date of an indicator window has one value, whichever period is requested', () => {
    const values = Array.from({ length: 900 }, (_, i) => 70 + Math.sin(i / 9) * 8 + Math.cos(i * 2))
    const closes = closesOf(values, '2022-01-01')
    for (const kind of ['sma', 'ema', 'rsi'] as const) {
      const all = new Map(
        { sma, ema, rsi }[kind](closes, 20).map(value => [value.day, value.value]),
      )
      for (const period of [5, 90, 365, 880]) {
        const result = indicatorRun(kind, closes, 20, period)
        if (!result.enough) throw new Error('enough closes')
        expect(result.value.values.map(value => value.day)).toEqual(
          closes.slice(-period).map(close => close.day),
        )
        for (const { day, value } of result.value.values)
          expect(value).toBeCloseTo(all.get(day)!, 9)
      }
    }
  })

  needs('../shared/data').test('RSI(9) of Henry Hub on 2025-08-27 is 47.86 over any period', () => {
    // Computed apart from this code in Python over the full history (7,196 closes).
    const closes = realCloses('natural-gas/daily.csv', '2025-08-27')
    for (const period of [30, 365, 1825]) {
      const result = indicatorRun('rsi', closes, 9, period)
      if (!result.enough) throw new Error('enough closes')
      expect(result.value.currentValue).toBeCloseTo(47.86115294316341, 9)
    }
  })

  needs('../shared/data').test(
    'EMA(20) of WTI over 1,825 days has as many values as SMA(20): 1,246',
    () => {
      const closes = realCloses('oil-prices/wti-daily.csv', '2026-08-18')
      const [averages, exponential] = (['sma', 'ema'] as const).map(kind => {
        const result = indicatorRun(kind, closes, 20, 1825)
        if (!result.enough) throw new Error('enough closes')
        return result.value.values
      })
      expect({ averages: averages!.length, exponential: exponential!.length }).toEqual({
        averages: 1246,
        exponential: 1246,
      })
      expect(exponential![0]).toEqual({
        day: '2021-08-20',
        value: expect.closeTo(67.95254126414461, 9),
      })
      expect(exponential!.at(-1)!.value).toBeCloseTo(83.24128402708605, 9)
    },
  )
})

describe('indicator runs', () => {
  const values = Array.from({ length: 90 }, (_, i) => 60 + ((i * 7) % 11))
  const closes = closesOf(values)

  test('SMA values in the window reach back before it, one for each date', () => {
    const result = indicatorRun('sma', closes, 20, 30)
    if (!result.enough) throw new Error('enough closes')
    expect(result.value.values.map(v => v.day)).toEqual(closes.slice(-30).map(c => c.day))
    for (const [i, { value }] of result.value.values.entries()) {
      const end = 60 + i + 1
      expect(value).toBeCloseTo(values.slice(end - 20, end).reduce((a, b) => a + b) / 20, 10)
    }
    expect(result.value.currentValue).toBe(result.value.values.at(-1)!.value)
    expect(result.value.currentPrice).toBe(values.at(-1)!)
  })

  test('need one close more than their window', () => {
    for (const kind of ['sma', 'ema', 'rsi'] as const) {
      expect(indicatorRun(kind, closes.slice(0, 20), 20, 30)).toEqual({
        enough: false,
        have: 20,
        need: 21,
      })
      const result = indicatorRun(kind, closes.slice(0, 21), 20, 30)
      expect(result).toMatchObject({ enough: true, value: { values: expect.any(Array) } })
    }
  })

  test('an EMA longer than the window is seeded at the start of the warm-up', () => {
    const result = indicatorRun('ema', closes, 30, 10)
    if (!result.enough) throw new Error('enough closes')
    let average = values.slice(0, 30).reduce((a, b) => a + b) / 30
    for (const value of values.slice(30)) average += (2 / 31) * (value - average)
    expect(result.value.currentValue).toBeCloseTo(average, 10)
    expect(result.value.values).toHaveLength(10)
  })

  test('averages lie between the lowest and the highest close, for any prices', () => {
    fc.assert(
      fc.property(prices, fc.integer({ min: 1, max: 15 }), (any, n) => {
        const [low, high] = [Math.min(...any), Math.max(...any)]
        for (const { value } of [...sma(closesOf(any), n), ...ema(closesOf(any), n)]) {
          expect(value).toBeGreaterThanOrEqual(low - 1e-9)
          expect(value).toBeLessThanOrEqual(high + 1e-9)
        }
      }),
    )
  })
})

describe('golden cross', () => {
  test('is false under 200 closes, however steep the rise', () => {
    const rising = Array.from({ length: 250 }, (_, i) => i)
    expect(goldenCross(closesOf(rising.slice(0, 199)))).toBe(false)
    expect(goldenCross(closesOf(rising.slice(0, 200)))).toBe(true)
    expect(goldenCross(closesOf(rising.map(v => -v)))).toBe(false)
    expect(goldenCross(closesOf(Array(250).fill(70)))).toBe(false)
  })
})

describe('pivots', () => {
  test('are the classic levels', () => {
    expect(pivots(110, 90, 100)).toEqual({
      pivotPoint: 100,
      support: [90, 80],
      resistance: [110, 120],
    })
    const result = pivotsOf(closesOf([80, 110, 95, 90, 100]), 4)
    expect(result).toEqual({ enough: false, have: 4, need: 5 })
    expect(pivotsOf(closesOf([80, 110, 95, 90, 105]), 30)).toMatchObject({
      enough: true,
      value: { pivotPoint: 295 / 3, currentPrice: 105 },
    })
  })
})

describe('trend', () => {
  test('measures the slope per calendar day, not per observation', () => {
    const weekly = [0, 7, 14, 21, 28].map(days => ({
      day: dayAfter('2024-01-01', days),
      value: 70 + days * 0.5,
    }))
    const result = trendOf(weekly, 30)
    if (!result.enough) throw new Error('enough closes')
    expect(result.value.slope).toBeCloseTo(0.5, 12)
    expect(result.value.strength).toBeCloseTo(100, 9)
    expect(result.value.direction).toBe('up')
    expect(result.value.changePercent!).toBeCloseTo(20, 12)
  })

  test('is sideways until the line moves more than 1% of the mean', () => {
    const line = (rise: number) =>
      closesOf(Array.from({ length: 11 }, (_, i) => 100 - rise / 2 + (rise * i) / 10))
    const directionOf = (rise: number) => {
      const result = trendOf(line(rise), 30)
      return result.enough ? result.value.direction : undefined
    }
    expect([0.99, 1.01, -0.99, -1.01].map(directionOf)).toEqual([
      'sideways',
      'up',
      'sideways',
      'down',
    ])
  })

  test('of equal prices is sideways with strength 0', () => {
    expect(trendOf(closesOf(Array(9).fill(0.1)), 30)).toEqual({
      enough: true,
      value: { direction: 'sideways', strength: 0, slope: 0, changePercent: 0 },
    })
  })

  test('from a negative close a rise is a rise', () => {
    const result = trendOf(closesOf([-40, -20, 0, 10, 20]), 30)
    if (!result.enough) throw new Error('enough closes')
    expect(result.value.changePercent).toBe(150)
  })

  test('from a first close of 0 has no percent change', () => {
    const result = trendOf(closesOf([0, 1, 2, 3, 4]), 30)
    if (!result.enough) throw new Error('enough closes')
    expect(result.value.changePercent).toBeUndefined()
  })

  test('least squares agrees with the normal equations, for any points', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -500, max: 500 }), { minLength: 3, maxLength: 40 }),
        ys => {
          const points = ys.map((y, i) => ({ x: i * 3, y }))
          const n = points.length
          const sum = (of: (p: { x: number; y: number }) => number) =>
            points.reduce((total, p) => total + of(p), 0)
          const slope =
            (n * sum(p => p.x * p.y) - sum(p => p.x) * sum(p => p.y)) /
            (n * sum(p => p.x ** 2) - sum(p => p.x) ** 2)
          const line = leastSquares(points)!
          expect(line.slope).toBeCloseTo(slope, 9)
          const intercept = (sum(p => p.y) - line.slope * sum(p => p.x)) / n
          const residual = sum(p => (p.y - intercept - line.slope * p.x) ** 2)
          const total = sum(p => (p.y - sum(q => q.y) / n) ** 2)
          expect(line.rSquared).toBeCloseTo(total === 0 ? 0 : 1 - residual / total, 9)
        },
      ),
    )
    expect(leastSquares([{ x: 1, y: 1 }])).toBeUndefined()
  })
})

test('a signal takes two of three votes', () => {
  expect(signalOf('up', 3, 60).value).toBe('buy')
  expect(signalOf('up', 3, 75).value).toBe('neutral')
  expect(signalOf('down', -3, 40).value).toBe('sell')
  expect(signalOf('down', -3, 20).value).toBe('neutral')
  expect(signalOf('sideways', 1, 25).value).toBe('buy')
  expect(signalOf('sideways', 0, 50)).toEqual({
    value: 'neutral',
    interpretation:
      'The trend is sideways, the price is at or above its average, momentum is bullish.',
  })
})

test('the analysis needs 21 closes in all and five in the window', () => {
  const closes = closesOf(Array.from({ length: 21 }, (_, i) => 70 + i))
  expect(trendAnalysis(closes.slice(1), 30)).toEqual({ enough: false, have: 20, need: 21 })
  expect(trendAnalysis(closes, 4)).toEqual({ enough: false, have: 4, need: 5 })
  expect(trendAnalysis(closes, 30)).toMatchObject({
    enough: true,
    value: { rsi: 100, sma20: 80.5, goldenCross: false },
  })
})

describe('real series', () => {
  // Computed apart from this code (Python, math.fsum) from the EIA spot files.
  const table = [
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2024-06-28',
      period: 30,
      slope: 0.26866824909243237,
      strength: 74.36393129127586,
      changePercent: 4.901215805471137,
      rsi: 59.18294633309464,
      sma20: 79.6775,
      ema20: 80.96214003249035,
      priceVsSma: 3.9565749427379115,
      goldenCross: true,
      support: [76.95333333333332, 71.07666666666665],
      resistance: [86.02333333333333, 89.21666666666668],
      direction: 'up',
    },
    {
      file: 'oil-prices/wti-daily.csv',
      last: '2020-04-30',
      period: 90,
      slope: -0.5668584245705894,
      strength: 74.7918524572983,
      changePercent: -61.58609668397923,
      rsi: 50.7461214596083,
      sma20: 16.361,
      ema20: 15.886756168640314,
      priceVsSma: 17.53560295825438,
      goldenCross: false,
      support: [-29.756666666666664, -78.74333333333333],
      resistance: [60.99333333333334, 102.75666666666666],
      direction: 'down',
    },
    {
      file: 'natural-gas/daily.csv',
      last: '2026-02-10',
      period: 30,
      slope: 0.00818993368474751,
      strength: 0.009863459511744213,
      changePercent: 9.655172413793123,
      rsi: 44.19410781537128,
      sma20: 8.0325,
      ema20: 6.711818613871551,
      priceVsSma: -60.4108309990663,
      goldenCross: true,
      support: [-6.186666666666667, -15.553333333333335],
      resistance: [21.633333333333333, 40.086666666666666],
      direction: 'up',
    },
  ]
  for (const {
    file,
    last,
    period,
    support,
    resistance,
    direction,
    goldenCross: crossed,
    ...numbers
  } of table) {
    needs('../shared/data').test(
      `${file}, ${period} days to ${last}: as computed independently, to 1e-9`,
      () => {
        const result = trendAnalysis(realCloses(file, last), period)
        if (!result.enough) throw new Error('enough closes')
        const { trend, pivots: levels, ...rest } = result.value
        const all: Record<string, unknown> = { ...trend, ...rest }
        for (const [name, number] of Object.entries(numbers))
          expect(Math.abs((all[name] as number) / number - 1)).toBeLessThan(1e-9)
        for (const [i, level] of [...support, ...resistance].entries()) {
          expect([...levels.support, ...levels.resistance][i]!).toBeCloseTo(level, 9)
        }
        expect(trend.direction).toBe(direction as typeof trend.direction)
        expect(rest.goldenCross).toBe(crossed)
      },
    )
  }
})
