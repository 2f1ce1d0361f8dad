import { describe, expect, test } from 'bun:test'
import { SD } from 'technicalindicators'
import {
  rolling,
  rollingMeasures,
  seasonality,
} from '../../../../src/topics/analytics/math/rolling.ts'
import type { Close } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realCloses } from '../../../support/real-data.ts'

const day = (i: number) => new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10)
const closesOf = (values: readonly number[]): Close[] =>
  values.map((value, i) => ({ day: day(i), value }))
const values = (list: readonly { value: number | undefined }[]) => list.map(({ value }) => value)

describe('rolling', () => {
  const closes = closesOf([10, 12, 9, 12, 15])

  test.each([
    ['mean', [31 / 3, 11, 12]],
    ['median', [10, 12, 12]],
    ['min', [9, 9, 9]],
    ['max', [12, 12, 15]],
    ['drawdown', [-25, 0, 0]],
  ] as const)('%s of the last three', (measure, expected) => {
    for (const [i, value] of values(rolling(measure, closes, 3)).entries())
      expect(value).toBeCloseTo(expected[i]!, 12)
    expect(rolling(measure, closes, 3).map(point => point.day)).toEqual([day(2), day(3), day(4)])
  })

  test('return is against the close so many before, also from a negative one', () => {
    expect(values(rolling('return', closesOf([10, 12, -4, 6]), 2))).toEqual([-140, -50])
    expect(values(rolling('return', closesOf([-4, 6, 0, 1]), 1))).toEqual([250, -100, undefined])
  })

  test('z_score has none where nothing moves', () => {
    expect(values(rolling('z_score', closesOf([3, 3, 3, 6]), 3))).toEqual([
      undefined,
      expect.closeTo(2 / Math.sqrt(3), 12),
    ])
  })

  test('beta of twice the log returns is two, of days that both have', () => {
    const benchmark = closesOf([10, 11, 9, 13, 12, 14])
    const twice = benchmark.map(({ day, value }) => ({ day, value: value ** 2 }))
    const gappy = twice.filter((_, i) => i !== 2)
    for (const own of [twice, gappy])
      for (const value of values(rolling('beta', own, 3, { benchmark })))
        expect(value).toBeCloseTo(2, 12)
    expect(rolling('beta', gappy, 3, { benchmark }).length).toBe(2)
  })

  test.each(rollingMeasures)('%s from a day on is the end of all of it', measure => {
    const list = closesOf(Array.from({ length: 30 }, (_, i) => 10 + ((i * 7) % 11)))
    const benchmark = closesOf(Array.from({ length: 30 }, (_, i) => 20 + ((i * 5) % 13)))
    const all = rolling(measure, list, 4, { benchmark })
    for (const fromDay of [day(0), day(4), day(17), day(29), day(30)])
      expect(rolling(measure, list, 4, { benchmark, fromDay })).toEqual(
        all.filter(value => value.day >= fromDay),
      )
  })

  test('volatility is that of the returns, a year', () => {
    const list = closesOf([10, 11, 9, 13])
    const returns = [Math.log(11 / 10), Math.log(9 / 11), Math.log(13 / 9)]
    const mean = returns.reduce((sum, value) => sum + value, 0) / 3
    const variance = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2
    expect(values(rolling('volatility', list, 3))[0]).toBeCloseTo(
      Math.sqrt(variance * 252) * 100,
      9,
    )
  })
})

needs('../shared/data').describe('on real series', () => {
  const closes = realCloses('oil-prices/brent-daily.csv')

  test('deviations are those of technicalindicators, of the sample', () => {
    const theirs = SD.calculate({ period: 20, values: closes.map(({ value }) => value) })
    const ours = values(rolling('std_dev', closes, 20))
    expect(ours.length).toBe(theirs.length)
    for (const [i, value] of theirs.entries())
      expect(ours[i]).toBeCloseTo(value * Math.sqrt(20 / 19), 6)
  })

  test('the value of a date is the same in a part of the series', () => {
    const whole = rolling('z_score', closes, 50).slice(-100)
    expect(rolling('z_score', closes.slice(-400), 50).slice(-100)).toEqual(whole)
  })

  test('levels of the months of whole years have a mean near a hundred', () => {
    const parts = seasonality(closes, 'month')
    expect(parts.length).toBe(12)
    const years = parts[5]!.level!.years
    expect(years).toBeGreaterThan(20)
    const mean = parts.reduce((sum, { level }) => sum + level!.mean, 0) / 12
    expect(Math.abs(mean - 100)).toBeLessThan(1)
  })
})

test('seasonality leaves out years that are not whole', () => {
  const closes: Close[] = []
  for (let month = 0; month < 30; month += 1)
    for (const date of [10, 20])
      closes.push({
        day: new Date(Date.UTC(2023, 9 + month, date)).toISOString().slice(0, 10),
        value: 100 + ((9 + month) % 12),
      })
  const parts = seasonality(closes, 'month')
  expect(parts.length).toBe(12)
  const [january, june] = [parts[0]!, parts[5]!]
  expect(january.change).toEqual({
    mean: expect.closeTo((100 * -11) / 111, 9),
    median: expect.closeTo((100 * -11) / 111, 9),
    min: expect.closeTo((100 * -11) / 111, 9),
    max: expect.closeTo((100 * -11) / 111, 9),
    years: 2,
  })
  expect(june.level!.mean).toBeCloseTo((100 * 105) / 105.5, 9)
  expect(seasonality(closes.slice(0, 20), 'month')).toEqual([])
})
