import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  bandFor,
  indexWeeks,
  nextWeekday,
  type Schedule,
  steppedBands,
  surchargesOf,
  weeklySurcharges,
} from '../../../../src/topics/fuels/math/surcharge.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { runs } from '../../../support/full.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const monday = 1
const wednesday = 3

/** 0% under 1.20, then 0.5% for every five cents, continuing without limit from 4.20. */
const ltl: Schedule = {
  bands: [{ min: 0, max: 1.2, percent: 0 }, ...steppedBands(1.2, 0.05, 60, 1, 0.5)],
  beyond: { width: 0.05, percent: 0.5 },
  effectiveWeekday: wednesday,
}

describe('bands', () => {
  test('hold their lower edge and not their upper one', () => {
    const table: [number, number, number, number][] = [
      [0, 0, 1.2, 0],
      [1.199, 0, 1.2, 0],
      [1.2, 1.2, 1.25, 1],
      [1.249, 1.2, 1.25, 1],
      [1.25, 1.25, 1.3, 1.5],
      [3.05, 3.05, 3.1, 19.5],
      [4.149, 4.1, 4.15, 30],
      [4.199, 4.15, 4.2, 30.5],
      [4.2, 4.2, 4.25, 31],
      [4.25, 4.25, 4.3, 31.5],
      [5.8, 5.8, 5.85, 47],
      [12.345, 12.3, 12.35, 112],
    ]
    for (const [price, min, max, percent] of table)
      expect(bandFor(ltl, price), String(price)).toEqual({ min, max, percent })
  })

  test('cover every price in steps of a tenth of a cent, each exactly once, rising with the price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), mills => {
        const price = mills / 1000
        const band = bandFor(ltl, price)!
        expect(band.min <= price && price < band.max).toBe(true)
        const next = bandFor(ltl, band.max)!
        expect(next.min).toBe(band.max)
        expect(next.percent).toBeGreaterThanOrEqual(band.percent)
        // In whole mills, where nothing rounds.
        const step = Math.floor((mills - 1200) / 50)
        expect(band.percent).toBeCloseTo(mills < 1200 ? 0 : 1 + step * 0.5, 9)
      }),
      { numRuns: runs(500) },
    )
  })

  test('a price one rounding step under an edge stays in the lower band, where division would carry it over', () => {
    const wide: Schedule = {
      bands: steppedBands(0, 1.2, 1, 0, 0),
      beyond: { width: 0.06, percent: 1 },
      effectiveWeekday: monday,
    }
    expect(bandFor(wide, 3.1799999999999997)).toEqual({ min: 3.12, max: 3.18, percent: 33 })
    expect(bandFor(wide, 3.18)).toEqual({ min: 3.18, max: 3.24, percent: 34 })
  })

  test('a table that ends has no band above or below it', () => {
    const closed: Schedule = { bands: steppedBands(2, 0.1, 3, 5, 1), effectiveWeekday: monday }
    expect(
      [1.999, 2.3, 9, Number.POSITIVE_INFINITY, Number.NaN].map(price => bandFor(closed, price)),
    ).toEqual(Array(5).fill(undefined))
    expect(bandFor(closed, 2.299)).toEqual({ min: 2.2, max: 2.3, percent: 7 })
    expect(bandFor(ltl, Number.POSITIVE_INFINITY)).toBeUndefined()
    expect(bandFor(ltl, -0.01)).toBeUndefined()
    expect(bandFor({ bands: [], effectiveWeekday: monday }, 3)).toBeUndefined()
  })
})

describe('weeks', () => {
  test('take effect on the first such weekday after the price', () => {
    expect(nextWeekday('2026-11-16', wednesday)).toBe('2026-11-18')
    expect(nextWeekday('2026-11-16', monday)).toBe('2026-11-23')
    expect(nextWeekday('2026-11-18', wednesday)).toBe('2026-11-25')
    expect(nextWeekday('2026-11-22', monday)).toBe('2026-11-23')
  })

  test('are one entry for each effective date, newest first, with the price and band they were matched to', () => {
    const weeks = ['2026-11-02', '2026-11-09', '2026-11-10', '2026-11-16'].map((day, i) => ({
      day,
      price: 3.5 + i * 0.1,
    }))
    const result = weeklySurcharges(ltl, weeks.toReversed())
    expect(result.map(({ effectiveOn, indexPrice }) => [effectiveOn, indexPrice])).toEqual([
      ['2026-11-18', 3.8],
      ['2026-11-11', 3.7],
      ['2026-11-04', 3.5],
    ])
    expect(result[0]).toEqual({
      effectiveOn: '2026-11-18',
      indexPrice: 3.8,
      band: { min: 3.8, max: 3.85 },
      percent: 27,
    })
  })

  needs('../shared/data').test(
    'every published diesel price since 1994 has its band and its week',
    () => {
      const weeks = realRows('eia-retail-fuel/weekly_gas_prices.csv')
        .filter(([, fuel, grade]) => fuel === 'diesel' && grade === 'all')
        .map(([day, , , , price]) => ({ day: day!, price: Number(price) }))
      expect(weeks.length).toBeGreaterThan(1500)
      const result = weeklySurcharges(ltl, weeks)
      expect(result).toHaveLength(weeks.length)
      for (const { band, indexPrice } of result)
        expect(band.min <= indexPrice && indexPrice < band.max).toBe(true)
      expect(result.map(({ effectiveOn }) => effectiveOn)).toEqual(
        weeks.map(({ day }) => dayAfter(day, 2)).toReversed(),
      )
      expect(result.find(({ effectiveOn }) => effectiveOn === '2022-06-22')).toMatchObject({
        indexPrice: 5.81,
        band: { min: 5.8, max: 5.85 },
        percent: 47,
      })
    },
  )
})

describe('index prices', () => {
  test('of a weekly survey are those of the survey', () => {
    const closes = [
      { day: '2026-11-09', value: 3.7 },
      { day: '2026-11-16', value: 3.65 },
    ]
    expect(indexWeeks(closes, 'weekly', 3, '2026-11-16')).toEqual([
      { day: '2026-11-09', price: 3.7 },
      { day: '2026-11-16', price: 3.65 },
    ])
  })

  test('of anything denser are the means of the weeks that are over, dated by their Sunday', () => {
    const closes = [
      { day: '2026-11-06', value: 2 },
      { day: '2026-11-09', value: 2.1 },
      { day: '2026-11-10', value: 2.2 },
      { day: '2026-11-13', value: 2.201 },
      { day: '2026-11-16', value: 9 },
    ]
    const weeks = [
      { day: '2026-11-08', price: 2 },
      // (2.1 + 2.2 + 2.201) / 3 = 2.167
      { day: '2026-11-15', price: 2.167 },
    ]
    expect(indexWeeks(closes, 'twice_daily', 3, '2026-11-16')).toEqual(weeks)
    expect(indexWeeks(closes, 'daily', 3, '2026-11-15')).toEqual(weeks.slice(0, 1))
    expect(indexWeeks([], 'daily', 3, '2026-11-15')).toEqual([])
  })
})

test('each table holds for the weeks that take effect from its day to the next one', () => {
  const cheap = { ...ltl, validFromOn: '2026-11-05' }
  const dear = {
    ...ltl,
    bands: [{ min: 0, max: 9, percent: 99 }],
    beyond: undefined,
    validFromOn: '2026-11-18',
  }
  const weeks = ['2026-11-02', '2026-11-09', '2026-11-16', '2026-11-23'].map(day => ({
    day,
    price: 3.5,
  }))
  expect(
    surchargesOf([cheap, dear], () => weeks).map(({ table, week }) => [
      week.effectiveOn,
      table.validFromOn,
      week.percent,
    ]),
  ).toEqual([
    ['2026-11-11', '2026-11-05', 24],
    ['2026-11-25', '2026-11-18', 99],
    ['2026-11-18', '2026-11-18', 99],
  ])
})
