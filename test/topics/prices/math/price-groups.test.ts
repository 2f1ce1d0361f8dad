import { describe, expect, test } from 'bun:test'
import { groupings, priceGroups } from '../../../../src/topics/prices/math/price-groups.ts'
import { summaryOf } from '../../../../src/topics/prices/math/summary.ts'

const points = [
  { at: '2025-12-31T22:00:00Z', value: 50 },
  { at: '2026-01-01T22:00:00Z', value: 55 },
  { at: '2026-01-02T22:00:00Z', value: 44 },
  { at: '2026-02-02T22:00:00Z', value: 0 },
  { at: '2026-04-01T22:00:00Z', value: -10 },
]

test('means have two decimals more than the prices, differences as many, and percentages two', () => {
  const prices = [31.2, 31.55, 31.9].map((value, day) => ({ at: `2026-11-0${day + 1}`, value }))
  expect(priceGroups(prices, 'all')).toMatchObject([{ mean: 31.55, meanChangePercent: 1.12 }])
  expect(summaryOf(prices)).toMatchObject({ mean: 31.55, change: 0.7, changePercent: 2.24 })
  expect(summaryOf(prices.slice(1).concat(prices))!.mean).toBe(31.62)
})

describe('priceGroups', () => {
  test('puts points together by their calendar, each with what it comes to', () => {
    expect(priceGroups(points, 'year')).toEqual([
      {
        group: '2025',
        count: 1,
        mean: 50,
        low: 50,
        high: 50,
        first: 50,
        last: 50,
        meanChangePercent: null,
        largestRisePercent: null,
        largestFallPercent: null,
      },
      {
        group: '2026',
        count: 4,
        mean: 22.25,
        low: -10,
        high: 55,
        first: 55,
        last: -10,
        meanChangePercent: -36.67,
        largestRisePercent: 10,
        largestFallPercent: -100,
      },
    ])
  })

  test.each([
    ['all', ['all']],
    ['quarter', ['2025-Q4', '2026-Q1', '2026-Q2']],
    ['month', ['2025-12', '2026-01', '2026-02', '2026-04']],
    ['month_of_year', ['12', '01', '02', '04']],
    ['weekday', ['Wednesday', 'Thursday', 'Friday', 'Monday']],
  ] as const)('by %s', (grouping, names) => {
    expect(priceGroups(points, grouping).map(({ group }) => group)).toEqual([...names])
  })

  test('counts each point once, whatever it is grouped by', () => {
    for (const grouping of groupings) {
      const counts = priceGroups(points, grouping).map(({ count }) => count)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(points.length)
    }
  })

  test.each([
    [{ above: 44 }, [50, 55]],
    [{ above: 0, below: 50 }, [44]],
    [{ changeAbove: 5 }, [55]],
    [{ changeBelow: -15 }, [44, 0]],
    [{ above: 100 }, []],
  ])('leaves out what %j does not hold of', (filter, values) => {
    const [group] = priceGroups(points, 'all', filter)
    expect({ count: group?.count ?? 0, first: group?.first, last: group?.last }).toEqual({
      count: values.length,
      first: values[0],
      last: values.at(-1),
    })
  })
})
