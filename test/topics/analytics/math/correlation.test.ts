import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  correlationMatrix,
  correlationOf,
  directionOf,
  pearson,
  rollingCorrelation,
  strengthOf,
} from '../../../../src/topics/analytics/math/correlation.ts'
import { closesOf } from '../../../support/closes.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const prices = fc.array(fc.double({ min: 0.5, max: 500, noNaN: true }), {
  minLength: 30,
  maxLength: 30,
})

/** One pass over sums: another arithmetic than the code's. */
function naivePearson(xs: readonly number[], ys: readonly number[]): number {
  let [n, x, y, xx, yy, xy] = [0, 0, 0, 0, 0, 0]
  for (const [i, a] of xs.entries()) {
    const b = ys[i]!
    n++
    x += a
    y += b
    xx += a * a
    yy += b * b
    xy += a * b
  }
  return (n * xy - x * y) / Math.sqrt((n * xx - x * x) * (n * yy - y * y))
}

const returnsOf = (values: readonly number[]): number[] =>
  values.slice(1).map((v, i) => Math.log(v) - Math.log(values[i]!))

describe('correlation', () => {
  test('is the Pearson coefficient of log returns on common dates only', () => {
    const a = closesOf([10, 11, 12, 11, 13, 14, 13])
    const b = closesOf([20, 22, 21, 23, 25, 24, 26]).filter(c => c.day !== '2024-01-03')
    const result = correlationOf(a, b, 30)
    if (!result.enough) throw new Error('six common dates are enough')
    expect(result.value.dataPoints).toBe(6)
    expect(result.value.value!).toBeCloseTo(
      naivePearson(returnsOf([10, 11, 11, 13, 14, 13]), returnsOf([20, 22, 23, 25, 24, 26])),
      12,
    )
  })

  test('the correlation of any prices is between -1 and 1, is symmetric and is 1 with itself', () => {
    fc.assert(
      fc.property(prices, prices, (first, second) => {
        const [a, b] = [closesOf(first), closesOf(second)]
        const [ab, ba, aa] = [
          correlationOf(a, b, 90),
          correlationOf(b, a, 90),
          correlationOf(a, a, 90),
        ]
        if (!ab.enough || !ba.enough || !aa.enough) throw new Error('enough closes')
        expect(ab.value.value).toEqual(ba.value.value)
        if (ab.value.value !== undefined) expect(Math.abs(ab.value.value)).toBeLessThanOrEqual(1)
        if (aa.value.value !== undefined) expect(aa.value.value).toBeCloseTo(1, 12)
      }),
    )
  })

  test('the correlation with a price that did not move has no value and reports the reason', () => {
    for (const still of [
      closesOf(Array(20).fill(71.23)),
      closesOf(Array.from({ length: 20 }, (_, i) => 50 * 1.01 ** i)),
    ]) {
      const result = correlationOf(
        still,
        closesOf(Array.from({ length: 20 }, (_, i) => 70 + (i % 3))),
        30,
      )
      expect(result).toMatchObject({
        enough: true,
        value: { strength: 'none', direction: 'none', stability: 'unstable' },
      })
      if (result.enough) expect(result.value.value).toBeUndefined()
    }
  })

  test('a non-positive price in either series drops the two pairs of returns it touches', () => {
    const a = closesOf([20, 18, -37, 9, 14, 15, 13, 16])
    const b = closesOf([28, 25, 20, 19, 21, 22, 20, 23])
    const [result, turned] = [correlationOf(a, b, 30), correlationOf(b, a, 30)]
    if (!result.enough || !turned.enough) throw new Error('enough closes')
    expect(turned.value.value).toBe(result.value.value!)
    const pairs = [
      [18 / 20, 25 / 28],
      [14 / 9, 21 / 19],
      [15 / 14, 22 / 21],
      [13 / 15, 20 / 22],
      [16 / 13, 23 / 20],
    ].map(([x, y]) => [Math.log(x!), Math.log(y!)] as const)
    expect(result.value.value!).toBeCloseTo(
      naivePearson(
        pairs.map(p => p[0]),
        pairs.map(p => p[1]),
      ),
      12,
    )
  })

  test('too few common dates are counted', () => {
    expect(correlationOf(closesOf([1, 2, 3, 4, 5]), closesOf([1, 2, 3], '2024-01-04'), 30)).toEqual(
      { enough: false, have: 2, need: 5 },
    )
    expect(correlationOf([], closesOf([1, 2]), 30)).toEqual({ enough: false, have: 0, need: 5 })
  })

  test('strength bands include their lower edge, the sign gives the direction', () => {
    expect([1, 0.9, 0.89, 0.7, 0.4, 0.39, 0.2, 0.19, 0].map(strengthOf)).toEqual([
      'very strong',
      'very strong',
      'strong',
      'strong',
      'moderate',
      'weak',
      'weak',
      'none',
      'none',
    ])
    expect(strengthOf(-0.95)).toBe('very strong')
    expect([-0.3, 0.3, 0, undefined].map(directionOf)).toEqual([
      'negative',
      'positive',
      'none',
      'none',
    ])
  })

  test('two pairs of values are on a line', () => {
    expect(pearson([1, 2], [3, 5])).toBe(1)
    expect(pearson([1, 2], [5, 3])).toBe(-1)
    expect(pearson([1], [1])).toBeUndefined()
  })
})

describe('rolling correlation', () => {
  test('at each date is the correlation of the last `window` returns, and needs one close more', () => {
    const [first, second] = [
      [50, 51, 49, 52, 55, 53, 54, 57, 56],
      [60, 62, 61, 63, 64, 66, 65, 64, 67],
    ]
    const [a, b] = [closesOf(first!), closesOf(second!)]
    const result = rollingCorrelation(a, b, 30, 5)
    if (!result.enough) throw new Error('enough closes')
    const [x, y] = [returnsOf(first!), returnsOf(second!)]
    expect(result.value.map(v => v.day)).toEqual([
      '2024-01-06',
      '2024-01-07',
      '2024-01-08',
      '2024-01-09',
    ])
    for (const [i, { value }] of result.value.entries())
      expect(value!).toBeCloseTo(naivePearson(x.slice(i, i + 5), y.slice(i, i + 5)), 10)
    expect(rollingCorrelation(a, b, 30, 9)).toEqual({ enough: false, have: 9, need: 10 })
  })

  test('a relation that turns round is unstable, one that holds is stable', () => {
    const base = Array.from({ length: 40 }, (_, i) => 70 + Math.sin(i * 1.7) * 3)
    const turned = base.map((v, i) => (i < 20 ? v : 140 - v))
    const stabilityWith = (otherValues: number[]) => {
      const result = correlationOf(closesOf(base), closesOf(otherValues), 60)
      return result.enough ? result.value.stability : undefined
    }
    expect(stabilityWith(base.map(v => v * 1.3))).toBe('stable')
    expect(stabilityWith(turned)).toBe('unstable')
  })
})

describe('matrix', () => {
  test('is symmetric with ones on the diagonal and agrees with the single correlations, for any prices', () => {
    fc.assert(
      fc.property(fc.array(prices, { minLength: 2, maxLength: 5 }), series => {
        const all = series.map(values => closesOf(values))
        const result = correlationMatrix(all, 90)
        if (!result.enough) throw new Error('enough closes')
        const { cells } = result.value
        for (const [i, a] of all.entries()) {
          for (const [j, b] of all.entries()) {
            expect(cells[i]![j]).toEqual(cells[j]![i])
            const single = correlationOf(a, b, 90)
            expect(cells[i]![j]).toEqual(single.enough ? single.value.value : undefined)
          }
        }
      }),
      { numRuns: 30 },
    )
  })

  test('names the pair that has too few common dates, and counts the closes of the leanest pair', () => {
    const [long, short, later] = [
      closesOf(Array(9).fill(1)),
      closesOf([1, 2, 3, 4, 5, 6]),
      closesOf([1, 2, 3, 4, 5, 6], '2024-01-04'),
    ]
    expect(correlationMatrix([long, short, later], 30)).toEqual({
      enough: false,
      have: 3,
      need: 5,
      pair: [1, 2],
    })
    const result = correlationMatrix([long, short], 30)
    if (result.enough) expect(result.value.dataPoints).toBe(6)
    expect(result.enough).toBe(true)
  })
})

describe('real series', () => {
  // Computed apart from this code (Python, math.fsum) from the EIA spot files.
  const [wti, brent, gas] = [
    'oil-prices/wti-daily.csv',
    'oil-prices/brent-daily.csv',
    'natural-gas/daily.csv',
  ] as const
  const table = [
    {
      a: wti,
      b: brent,
      last: '2024-06-28',
      period: 90,
      n: 61,
      r: 0.6657285346638391,
      latest: 0.21542439034226038,
      average: 0.6044405245670191,
      stability: 'stable',
    },
    {
      a: wti,
      b: gas,
      last: '2024-06-28',
      period: 365,
      n: 249,
      r: 0.01811158682147363,
      latest: 0.1190294333520283,
      average: 0.004597832110382149,
      stability: 'moderate',
    },
    {
      a: wti,
      b: brent,
      last: '2020-05-15',
      period: 60,
      n: 41,
      r: 0.45712372266742557,
      latest: 0.6603370112917188,
      average: 0.4637294992281821,
      stability: 'moderate',
    },
  ]
  for (const { a, b, last, period, n, r, latest, average, stability } of table) {
    needs('../shared/data').test(
      `${a} and ${b}, ${period} days to ${last}: as computed independently`,
      () => {
        const [first, second] = [realCloses(a, last), realCloses(b, last)]
        const [result, rolled] = [
          correlationOf(first, second, period),
          rollingCorrelation(first, second, period, 7),
        ]
        if (!result.enough || !rolled.enough) throw new Error('enough closes')
        expect(result.value).toMatchObject({ dataPoints: n, stability })
        expect(result.value.value!).toBeCloseTo(r, 11)
        expect(rolled.value.at(-1)!.value!).toBeCloseTo(latest, 11)
        expect(
          rolled.value.reduce((sum, v) => sum + v.value!, 0) / rolled.value.length,
        ).toBeCloseTo(average, 11)
      },
    )
  }
})
