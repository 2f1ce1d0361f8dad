import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type AlertCondition,
  type AnalyticsCondition,
  alertMoment,
  conditionOperator,
  conditionText,
  conditionValue,
  evaluate,
  isCooling,
  priceBounds,
} from '../../../../src/topics/alerts/math/condition.ts'
import type { PriceCondition } from '../../../../src/topics/alerts/math/price-operators.ts'
import { rsi, trendOf } from '../../../../src/topics/analytics/math/indicators.ts'
import { annualVolatility, statisticsOf } from '../../../../src/topics/analytics/math/statistics.ts'
import { type Close, closesIn } from '../../../../src/topics/prices/math/window.ts'
import { closesOf } from '../../../support/closes.ts'

const at = (price: number, closes: readonly Close[] = []) => alertMoment(price, () => closes)
const holds = (condition: AlertCondition, price: number, closes?: readonly Close[]): boolean => {
  const judged = evaluate(condition, at(price, closes))
  return judged.enough && judged.value.holds
}
const judge = (condition: AnalyticsCondition, values: readonly number[]) => {
  const closes = closesOf(values)
  const judged = evaluate(condition, at(closes.at(-1)!.value, closes))
  if (!judged.enough) throw new Error(`${judged.have} of ${judged.need}`)
  return judged.value
}

const priceOn = (
  operator: 'greater_than' | 'less_than' | 'greater_than_or_equal' | 'less_than_or_equal',
  value: number,
) => ({ kind: 'price', operator, value }) as const
const near = (operator: 'equals' | 'not_equals', value: number, tolerance = 0.01) =>
  ({ kind: 'price', operator, value, tolerance }) as const
const between = (min: number, max: number) =>
  ({ kind: 'price', operator: 'between', value: min, min, max }) as const

describe('conditions on the price', () => {
  test.each<[PriceCondition, [number, boolean][]]>([
    [priceOn('greater_than', 90), [[89.99, false], [90, false], [90.01, true]]], // biome-ignore format: one condition a line
    [priceOn('less_than', 90), [[89.99, true], [90, false], [90.01, false]]], // biome-ignore format: one condition a line
    [priceOn('greater_than_or_equal', 90), [[89.99, false], [90, true], [90.01, true]]], // biome-ignore format: one condition a line
    [priceOn('less_than_or_equal', -1), [[-1.01, true], [-1, true], [-0.99, false]]], // biome-ignore format: one condition a line
    [near('equals', 100), [[99.98, false], [99.99, true], [100, true], [100.01, true], [100.02, false]]], // biome-ignore format: one condition a line
    [near('equals', 0.3, 0), [[0.1 + 0.2, true], [0.31, false]]], // biome-ignore format: one condition a line
    [near('equals', 100, 5), [[94.99, false], [95, true], [105, true], [105.01, false]]], // biome-ignore format: one condition a line
    [near('not_equals', 100), [[99.98, true], [99.99, false], [100.01, false], [100.02, true]]], // biome-ignore format: one condition a line
    [between(80, 90), [[79.99, false], [80, true], [85, true], [90, true], [90.01, false]]], // biome-ignore format: one condition a line
  ])('%j', (condition, cases) => {
    expect(cases.map(([price]) => [price, holds(condition, price)] as [number, boolean])).toEqual(
      cases,
    )
  })

  const conditions: fc.Arbitrary<PriceCondition> = fc.oneof(
    fc.record({
      kind: fc.constant('price' as const),
      operator: fc.constantFrom(
        'greater_than' as const,
        'less_than' as const,
        'greater_than_or_equal' as const,
        'less_than_or_equal' as const,
      ),
      value: fc.integer({ min: -1e8, max: 1e8 }).map(n => n / 100),
    }),
    fc.record({
      kind: fc.constant('price' as const),
      operator: fc.constantFrom('equals' as const, 'not_equals' as const),
      value: fc.integer({ min: -1e8, max: 1e8 }).map(n => n / 100),
      tolerance: fc.integer({ min: 0, max: 1000 }).map(n => n / 100),
    }),
    fc
      .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 0, max: 1e6 }))
      .map(([min, span]) => between(min / 100, (min + span) / 100)),
  )

  test('a price condition never holds outside its bounds, so prices outside them need no evaluation', () => {
    fc.assert(
      fc.property(conditions, fc.integer({ min: -2000, max: 2000 }), (condition, steps) => {
        const price = Math.round((condition.value + steps / 100) * 100) / 100
        const { low, high } = priceBounds(condition)
        return (low <= price && price <= high) || !holds(condition, price)
      }),
    )
  })
})

/** A random walk, the same each time. */
const walk = (count: number, step = 0.4, drift = 0) =>
  Array.from(
    { length: count },
    (_, i) => 80 + drift * i + step * Math.sin(i * 1.7) + step * Math.cos(i * 0.61),
  )

describe('conditions on the daily closes', () => {
  test('a z-score is that of the statistics of the same window', () => {
    const values = [...walk(60), 90]
    const expected = statisticsOf(closesOf(values), 30)
    if (!expected.enough) throw new Error('too few')
    const { value, measures, threshold } = judge(
      { kind: 'z_score', period: 30, threshold: 2, direction: 'both' },
      values,
    )
    expect({ value, threshold, ...measures }).toEqual({
      value: expected.value.zScore!,
      threshold: 2,
      zScore: expected.value.zScore!,
      mean: expected.value.mean,
      stdDev: expected.value.stdDev,
    })
    expect(value).toBeGreaterThan(2)
  })

  test.each([
    ['both', 90, true],
    ['above', 90, true],
    ['below', 90, false],
    ['both', 70, true],
    ['above', 70, false],
    ['below', 70, true],
    ['both', 80, false],
  ] as const)(
    'a z-score with direction %s at a last close of %d fires: %p',
    (direction, last, fires) => {
      const condition = { kind: 'z_score', period: 30, threshold: 2, direction } as const
      expect(judge(condition, [...walk(60), last]).holds).toBe(fires)
    },
  )

  test('a z-score exactly at the threshold is not past it, and closes that do not vary have none', () => {
    const values = [...walk(60), 90]
    const { value } = judge(
      { kind: 'z_score', period: 30, threshold: 1, direction: 'both' },
      values,
    )
    expect(
      judge({ kind: 'z_score', period: 30, threshold: value, direction: 'both' }, values).holds,
    ).toBe(false)
    expect(
      judge({ kind: 'z_score', period: 30, threshold: 0.1, direction: 'both' }, Array(40).fill(80)),
    ).toEqual({
      holds: false,
      value: 0,
      threshold: 0.1,
      measures: { mean: 80, stdDev: 0 },
    })
  })

  test('an RSI is that of the indicator over the same warm-up', () => {
    const published = [
      44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826,
      45.8931, 46.0328, 45.614, 46.282, 46.282,
    ]
    const verdict = judge({ kind: 'rsi', period: 14, overbought: 70, oversold: 30 }, published)
    expect(verdict.value).toBeCloseTo(70.53, 2)
    expect(verdict).toMatchObject({ holds: true, threshold: 70, measures: { rsi: verdict.value } })
    const long = walk(400)
    expect(judge({ kind: 'rsi', period: 14, overbought: 70, oversold: 30 }, long).value).toBe(
      rsi(closesOf(long).slice(-280), 14).at(-1)!.value,
    )
  })

  test.each([
    [1, true],
    [-1, true],
    [0, false],
  ])('an RSI of closes that move by %d a day fires: %p', (step, fires) => {
    const values = Array.from({ length: 30 }, (_, i) => 80 + step * i)
    expect(judge({ kind: 'rsi', period: 14, overbought: 70, oversold: 30 }, values).holds).toBe(
      fires,
    )
  })

  test('a volatility spike compares the window with the year before it, and shares no return with it', () => {
    const values = [...walk(200), ...walk(30, 4)]
    const closes = closesOf(values)
    const inside = closesIn(closes, 30)
    const before = closes.slice(0, closes.length - inside.length + 1)
    const {
      value,
      threshold,
      holds: fires,
      measures,
    } = judge({ kind: 'volatility_spike', period: 30, multiplier: 2 }, values)
    expect(measures).toEqual({
      volatility: annualVolatility(inside)!,
      baselineVolatility: annualVolatility(before)!,
    })
    expect({ value, threshold }).toEqual({
      value: annualVolatility(inside)!,
      threshold: 2 * annualVolatility(before)!,
    })
    expect(fires).toBe(true)
    expect(judge({ kind: 'volatility_spike', period: 30, multiplier: 50 }, values).holds).toBe(
      false,
    )
    expect(judge({ kind: 'volatility_spike', period: 30, multiplier: 2 }, walk(230)).holds).toBe(
      false,
    )
  })

  test('prices more than a year before the window are not part of the volatility baseline', () => {
    const recent = [...walk(366), ...walk(30, 4)]
    const condition = { kind: 'volatility_spike', period: 30, multiplier: 2 } as const
    expect(judge(condition, [...walk(300, 20), ...recent]).measures).toEqual(
      judge(condition, [...walk(300, 1), ...recent]).measures,
    )
  })

  test('a trend reverses once, on the day on which its line turns, also by way of sideways', () => {
    const condition = { kind: 'trend_reversal', period: 20 } as const
    const values = [
      ...Array.from({ length: 60 }, (_, i) => 80 + i / 10),
      ...Array.from({ length: 60 }, (_, i) => 86 - i / 10),
    ]
    const fired: number[] = []
    for (let n = 30; n <= values.length; n += 1)
      if (judge(condition, values.slice(0, n)).holds) fired.push(n)
    expect(fired).toHaveLength(1)
    const at = closesOf(values.slice(0, fired[0]))
    const [now, before] = [trendOf(at, 20), trendOf(at.slice(0, -1), 20)]
    expect(now.enough && now.value.direction).toBe('down')
    expect(before.enough && before.value.direction).toBe('sideways')
    expect(judge(condition, values.slice(0, fired[0])).measures).toEqual({
      trend: 'down',
      previousTrend: 'up',
    })
  })

  test('a trend that never was anything but sideways, or the same, does not reverse', () => {
    const condition = { kind: 'trend_reversal', period: 20 } as const
    expect(judge(condition, walk(80, 0.1)).holds).toBe(false)
    expect(judge(condition, walk(80, 0.1, 1)).holds).toBe(false)
  })

  test.each([
    [{ kind: 'z_score', period: 30, threshold: 2, direction: 'both' }, 4, 5],
    [{ kind: 'rsi', period: 14, overbought: 70, oversold: 30 }, 14, 15],
    [{ kind: 'trend_reversal', period: 20 }, 4, 5],
    [{ kind: 'volatility_spike', period: 30, multiplier: 2 }, 33, 34],
  ] as const)(
    'the condition %j reports how many daily closes it needs when there are only %d',
    (condition, have, need) => {
      const closes = closesOf(walk(have))
      expect(evaluate(condition, at(closes.at(-1)!.value, closes))).toEqual({
        enough: false,
        have,
        need,
      })
      const enough = closesOf(walk(need))
      expect(evaluate(condition, at(enough.at(-1)!.value, enough)).enough).toBe(true)
    },
  )

  test('alerts of one kind and period measure once at a moment', () => {
    let closesReads = 0
    const moment = alertMoment(80, () => {
      closesReads += 1
      return closesOf(walk(60))
    })
    for (const threshold of [1, 2, 3])
      evaluate({ kind: 'z_score', period: 30, threshold, direction: 'both' }, moment)
    expect(closesReads).toBe(1)
    evaluate({ kind: 'z_score', period: 20, threshold: 1, direction: 'both' }, moment)
    expect(closesReads).toBe(2)
  })
})

test('an alert cooldown ends at its last moment, and zero minutes mean no cooldown', () => {
  expect([0, 3_599_999, 3_600_000].map(ms => isCooling(1000, 60, 1000 + ms))).toEqual([
    true,
    true,
    false,
  ])
  expect(isCooling(null, 60, 0)).toBe(false)
  expect(isCooling(1000, 0, 1000)).toBe(false)
})

test.each<[AlertCondition, string, number, string]>([
  [priceOn('greater_than', 90), 'greater_than', 90, 'price above 90'],
  [between(80, 90), 'between', 80, 'price between 80 and 90'],
  [
    { kind: 'z_score', period: 30, threshold: 2, direction: 'both' },
    'greater_than',
    2,
    'z-score over 30 days above 2 or below -2',
  ],
  [
    { kind: 'z_score', period: 30, threshold: 2, direction: 'below' },
    'less_than',
    2,
    'z-score over 30 days below -2',
  ],
  [
    { kind: 'rsi', period: 14, overbought: 70, oversold: 30 },
    'greater_than',
    70,
    'RSI(14) above 70 or below 30',
  ],
  [
    { kind: 'volatility_spike', period: 30, multiplier: 2.5 },
    'greater_than',
    2.5,
    'volatility over 30 days above 2.5 times its baseline',
  ],
  [{ kind: 'trend_reversal', period: 20 }, 'not_equals', 0, 'trend over 20 days reversed'],
])(
  'the condition %j is listed with the operator %s and the value %d and is described as %s',
  (condition, operator, value, text) => {
    expect<string>(conditionOperator(condition)).toBe(operator)
    expect(conditionValue(condition)).toBe(value)
    expect(conditionText(condition)).toBe(text)
  },
)
