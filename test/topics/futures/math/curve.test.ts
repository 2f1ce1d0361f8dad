import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  analyseCurve,
  type CurvePoint,
  calendarPairs,
  calendarSpread,
  monthsBetween,
  severityOf,
  slopePercent,
  structureOf,
} from '../../../../src/topics/futures/math/curve.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const curveOf = (...prices: number[]): CurvePoint[] =>
  prices.map((price, i) => ({
    month: `${2027 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`,
    price,
  }))

test('the slope of a curve with a negative front price still indicates the direction of the curve', () => {
  // WTI on 2020-04-20: -37.63 in May, contango.
  expect(slopePercent(-37.63, 20.43)).toBeCloseTo(154.292, 3)
  expect(slopePercent(0, 20)).toBeUndefined()
})

describe('analyseCurve: curve analysis', () => {
  test('names the shape of a curve', () => {
    const table: [string, CurvePoint[]][] = [
      ['contango', curveOf(70, 71, 72)],
      ['backwardation', curveOf(72, 71, 70)],
      ['flat', curveOf(70, 75, 70.2)],
      ['flat', curveOf(70)],
      ['flat', curveOf(0, 0)],
      ['contango', curveOf(70, 70.5, 70.4, 71)],
      ['contango', curveOf(70, 73, 72)],
      // Front to back falls, but most steps rise.
      ['mixed', curveOf(75, 70, 71, 72)],
      ['mixed', curveOf(70, 76, 75, 74)],
      ['contango', curveOf(-37, 20, 25)],
      ['backwardation', curveOf(1, 0.5, -2)],
      ['contango', curveOf(0, 1)],
    ]
    for (const [shape, points] of table)
      expect(analyseCurve(points)?.shape, JSON.stringify(points.map(p => p.price))).toBe(
        shape as never,
      )
  })

  test('measures front against back', () => {
    expect(analyseCurve(curveOf(80, 78, 76, 76))).toEqual({
      shape: 'backwardation',
      front: { month: '2027-01', price: 80 },
      back: { month: '2027-04', price: 76 },
      totalSlope: -4,
      slopePercent: expect.closeTo(-5, 12),
      averagePrice: 77.5,
      priceRange: 4,
      steepness: 'steep',
    })
    expect(analyseCurve(curveOf(100, 104.9))?.steepness).toBe('moderate')
    expect(analyseCurve(curveOf(100, 100.4))?.steepness).toBe('flat')
    expect(analyseCurve([])).toBeUndefined()
  })

  test('turned round, contango becomes backwardation and flat stays flat, for any positive prices', () => {
    const opposite = {
      contango: 'backwardation',
      backwardation: 'contango',
      mixed: 'mixed',
      flat: 'flat',
    } as const
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 2, maxLength: 14 }),
        prices => {
          const [there, back] = [
            analyseCurve(curveOf(...prices))!,
            analyseCurve(curveOf(...prices.toReversed()))!,
          ]
          expect(back.totalSlope).toBe(-there.totalSlope + 0)
          if (Math.abs(there.slopePercent!) > 0.6) expect(back.shape).toBe(opposite[there.shape])
        },
      ),
    )
  })
})

describe('structureOf: curve structure', () => {
  test('of the first twelve months: the slope is 100 x (m12 / m1 - 1)', () => {
    const structure = structureOf(curveOf(...Array.from({ length: 14 }, (_, i) => 80 - i)))!
    expect(structure).toMatchObject({
      structure: 'backwardation',
      severity: 'steep',
      points: 12,
    })
    expect(structure.termSlopePercent!).toBeCloseTo(100 * (69 / 80 - 1), 12)
  })

  test('a shorter curve has as many points as it has months', () => {
    expect(structureOf(curveOf(70, 71, 72, 73))).toMatchObject({
      points: 4,
    })
    expect(structureOf([])).toBeUndefined()
  })

  test('severity: under 0.5 none, under 2 mild, under 5 moderate, above steep', () => {
    expect([0, 0.49, 0.5, -1.99, 2, -4.99, 5, undefined].map(severityOf)).toEqual([
      'none',
      'none',
      'mild',
      'mild',
      'moderate',
      'moderate',
      'steep',
      'none',
    ])
  })

  test('a positive curve has a flat structure exactly when its severity is none', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 60, max: 80, noNaN: true }), { minLength: 1, maxLength: 12 }),
        prices => {
          const structure = structureOf(curveOf(...prices))!
          expect(structure.structure === 'flat').toBe(structure.severity === 'none')
        },
      ),
    )
  })
})

describe('calendarPairs and calendarSpread: calendar spreads', () => {
  test('neighbours in order, then the first against the 3rd, 6th and 12th', () => {
    const pairs = calendarPairs(12)
    expect(pairs.slice(0, 2)).toEqual([
      [1, 2],
      [2, 3],
    ])
    expect(pairs.slice(10)).toEqual([
      [11, 12],
      [1, 3],
      [1, 6],
      [1, 12],
    ])
    expect(calendarPairs(4)).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
      [1, 3],
    ])
    expect([0, 1].map(calendarPairs)).toEqual([[], []])
  })

  test('are first minus second, in percent of the second', () => {
    expect(calendarSpread(71, 70)).toEqual({ spread: 1, percent: expect.closeTo(10 / 7, 12) })
    expect(calendarSpread(-37, 20).percent!).toBeCloseTo(-285, 10)
    expect(calendarSpread(71.23, 75.1).spread).toBe(-3.87)
    expect(calendarSpread(1, 0).percent).toBeUndefined()
    expect(slopePercent(0, 1)).toBeUndefined()
  })

  test('months are counted by the calendar', () => {
    expect(monthsBetween('2026-11', '2027-02')).toBe(3)
    expect(monthsBetween('2027-02', '2026-11')).toBe(-3)
  })
})

needs('../shared/data').test(
  'the WTI curve of 2020-04-20 is in contango although its front is negative',
  () => {
    const row = realRows('eia-nymex-futures/wti_c1_c4_daily_2010_2020.csv').find(
      ([day]) => day === '2020-04-20',
    )!
    const prices = row.slice(1).map(Number)
    expect(prices[0]).toBeLessThan(0)
    const structure = structureOf(curveOf(...prices))!
    expect(structure.structure).toBe('contango')
  },
)
