import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type BriefItem,
  confidenceLevel,
  monthForecast,
  narrative,
} from '../../../../src/topics/analytics/math/brief.ts'
import { forecast } from '../../../../src/topics/analytics/math/forecast.ts'
import { closesOf } from '../../../support/closes.ts'

const wave = (swing: number) =>
  closesOf(Array.from({ length: 100 }, (_, i) => 70 + swing * Math.sin(i)))

describe('one-month forecast', () => {
  test('is the combined forecast 30 days ahead with its one-sigma bounds', () => {
    const [result, combined] = [monthForecast(wave(1))!, forecast(wave(1), 'combined', 90)]
    if (!combined.enough) throw new Error('enough closes')
    const month = combined.value.projections.find(p => p.horizonDays === 30)!
    expect(result).toMatchObject({
      point: month.value,
      low: month.sigma1.low,
      high: month.sigma1.high,
      method: 'combined',
    })
    expect(result.confidence).toBeCloseTo(result.low / result.point, 12)
  })

  test('low <= point <= high and 0 < confidence <= 1, falling with the swings, for any prices', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 300, noNaN: true }), { minLength: 21, maxLength: 90 }),
        values => {
          const result = monthForecast(closesOf(values))!
          expect(result.low <= result.point && result.point <= result.high).toBe(true)
          expect(result.confidence > 0 && result.confidence <= 1).toBe(true)
        },
      ),
    )
    const levels = [0.1, 2.6, 8].map(swing => monthForecast(wave(swing))!.level)
    expect(levels).toEqual(['high', 'medium', 'low'])
    expect([1, 0.9, 0.899, 0.8, 0.799, 0].map(confidenceLevel)).toEqual([
      'high',
      'high',
      'medium',
      'medium',
      'low',
      'low',
    ])
  })

  test('is absent with too few closes or a price that is not positive', () => {
    expect(monthForecast(wave(1).slice(0, 20))).toBeUndefined()
    expect(monthForecast([...wave(1), { day: '2024-06-01', value: -37 }])).toBeUndefined()
    expect(monthForecast([])).toBeUndefined()
  })
})

describe('narrative', () => {
  const item = (name: string, changePercent: number | undefined): BriefItem => ({
    name,
    price: 71.234,
    currency: 'USD',
    unit: 'metric_ton',
    decimals: 2,
    changePercent,
    forecast: undefined,
    stale: false,
  })

  test('a market brief narrative states each price with its unit, change and projection', () => {
    const full: BriefItem = {
      ...item('Gasoil', -1.256),
      forecast: {
        point: 72,
        low: 66.5,
        high: 78,
        confidence: 0.92,
        level: 'high',
        method: 'combined',
      },
    }
    expect(narrative([full])).toBe(
      'Gasoil stands at 71.23 USD per metric ton, down 1.26% over 24 hours; the one-month projection is 72.00, between 66.50 and 78.00 (high confidence).',
    )
  })

  for (const [unit, currency, sentence] of [
    ['barrel', 'USD', '71.23 USD per barrel'],
    ['pence_per_therm', 'GBP', '71.23 pence per therm'],
    ['index_points', null, '71.23 index points'],
    ['rate', 'USD', '71.23'],
  ] as const) {
    test(`says a price of ${unit} as ${sentence}`, () => {
      expect(narrative([{ ...item('A', 1), unit, currency }])).toBe(
        `A stands at ${sentence}, up 1.00% over 24 hours.`,
      )
    })
  }

  test('a market brief narrative leads with the largest mover and names unchanged, stale and incomparable prices', () => {
    const text = narrative([
      item('A', 0.001),
      item('B', -3),
      { ...item('C', undefined), stale: true, currency: null, unit: 'rigs' },
    ])
    expect(text).toStartWith(
      'B moved most, down 3.00% over 24 hours. A stands at 71.23 USD per metric ton, unchanged over 24 hours.',
    )
    expect(text).toEndWith(
      'C last stood at 71.23 rigs, without a price a day earlier to compare with.',
    )
    expect(narrative([])).toBe('')
  })
})
