import { describe, expect, test } from 'bun:test'
import {
  averaged,
  type Count,
  changeOver,
  countBefore,
  countSpanOf,
  countTrend,
  percentChange,
  trendOf,
} from '../../../../src/topics/drilling/math/change.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'

const weekly = (...values: number[]): Count[] =>
  values.map((value, i) => ({ on: dayAfter('2026-11-20', 7 * (i + 1 - values.length)), value }))

describe('a change over a span', () => {
  const year = weekly(...Array.from({ length: 60 }, (_, i) => 500 + i))
  test.each([
    ['week', 1],
    ['month', 4],
    ['quarter', 13],
    ['year', 52],
  ] as const)('%s is %d weeks', (span, weeks) => {
    expect(changeOver(year, span)).toBe(weeks)
  })
  test('takes a count of the days before where the day itself has none', () => {
    const shifted = [{ on: '2026-11-11', value: 540 }, ...weekly(546)]
    expect(changeOver(shifted, 'week')).toBe(6)
  })
  test('does not bridge a week that is missing', () => {
    const holed = weekly(530, 540, 546).filter(count => count.on !== '2026-11-13')
    expect(changeOver(holed, 'week')).toBeUndefined()
    expect(countBefore(holed, 14)?.value).toBe(530)
  })
  test('a change over a span does not exist without an earlier count', () => {
    expect([changeOver([], 'week'), changeOver(weekly(546), 'week')]).toEqual([
      undefined,
      undefined,
    ])
  })
})

describe('a trend', () => {
  test.each([
    [100, 101, 'flat'],
    [100, 101.1, 'up'],
    [100, 99, 'flat'],
    [100, 98.9, 'down'],
    [0, 0, 'flat'],
    [0, 1, 'up'],
    [-10, -9, 'up'],
  ] as const)('from %p to %p is %s', (from, to, trend) => {
    expect(trendOf(from, to)).toBe(trend)
  })
  test('is of the counts from one period before to the newest', () => {
    expect(countTrend(weekly(600, 550, 540, 560, 546, 540), 'month')).toEqual({
      from: '2026-10-23',
      to: '2026-11-20',
      average: 547.2,
      min: 540,
      max: 560,
      change: -10,
      changePercent: -1.82,
      trend: 'down',
    })
  })
  test('a count trend reaches back to the first count where none exists a full period before', () => {
    expect(countTrend(weekly(520, 540), 'year')).toMatchObject({
      from: '2026-11-13',
      change: 20,
      trend: 'up',
    })
    expect(countTrend([], 'year')).toBeUndefined()
  })
  test.each([
    ['daily', 'week'],
    ['WEEKLY', 'week'],
    ['monthly', 'month'],
    ['quarter', 'quarter'],
    ['yearly', 'year'],
    ['decade', undefined],
    ['constructor', undefined],
  ] as const)('period %s is %p', (text, span) => {
    expect(countSpanOf(text)).toBe(span)
  })
})

describe('a moving average', () => {
  test('a moving average is the mean of four counts and does not exist before the fourth', () => {
    const counts = weekly(100, 102, 104, 110, 90)
    const averages = counts.map((_, i) => averaged(counts, i))
    expect(averages.map(({ average, trend }) => [average, trend])).toEqual([
      [undefined, 'flat'],
      [undefined, 'flat'],
      [undefined, 'flat'],
      [104, 'up'],
      [101.5, 'down'],
    ])
  })
})

test('percent of nothing is not a number', () => {
  expect([percentChange(0, 5), percentChange(550, 546)]).toEqual([undefined, -0.73])
})
