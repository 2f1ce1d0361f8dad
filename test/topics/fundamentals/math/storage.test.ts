import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  levelBefore,
  levelDecimals,
  levelRows,
  utilizationPercent,
} from '../../../../src/topics/fundamentals/math/storage.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

/** Weekly levels, the last of them on `last`. */
const weekly = (values: readonly number[], last = '2026-11-18'): Close[] =>
  values.map((value, i) => ({ day: dayAfter(last, -7 * (values.length - 1 - i)), value }))

describe('utilization', () => {
  test('is 100 x level / capacity', () => {
    expect(utilizationPercent(19.6, 78.4)).toBe(25)
    expect(utilizationPercent(78.41, 78.41)).toBe(100)
    expect(utilizationPercent(0, 78.41)).toBe(0)
  })

  test('is nothing without a capacity', () => {
    expect(utilizationPercent(19.6, undefined)).toBeUndefined()
    expect(utilizationPercent(19.6, 0)).toBeUndefined()
  })

  needs('../shared/data').test(`of Cushing on 2024-05-17 from the agency's own tables`, () => {
    const levels = realRows('eia-weekly-stocks/rtl_eiaStocks_kbbl.csv').filter(
      row => row[1] === 'CrudeCushing',
    )
    const capacity = realRows('eia-weekly-stocks/eia_working_storage_capacity_kbbl.csv').find(
      ([place, day, , product]) =>
        place === 'Cushing' && product === 'crude' && day === '2024-03-01',
    )
    const level = levels.find(([day]) => day === '2024-05-17')
    expect({ level: level![2], capacity: capacity![2] }).toEqual({
      level: '36320.0',
      capacity: '78410.0',
    })
    // 36,320 of 78,410 thousand barrels.
    expect(utilizationPercent(36.32, 78.41)).toBeCloseTo(46.3206223696, 9)
  })
})

describe('the level before', () => {
  const values = Array.from({ length: 60 }, (_, i) => i)

  test('in weekly surveys is one, four and fifty-two surveys ago', () => {
    const closes = weekly(values)
    expect(
      (['week', 'month', 'year'] as const).map(span => levelBefore(closes, span)?.value),
    ).toEqual([58, 55, 7])
  })

  test('is the newest of about that day: a survey that came a day early or was left out is made up for within six days', () => {
    const closes = [
      { day: '2026-11-06', value: 1 },
      { day: '2026-11-18', value: 2 },
    ]
    expect(levelBefore(closes, 'week')).toEqual({ day: '2026-11-06', value: 1 })
    expect(levelBefore([{ day: '2026-11-05', value: 1 }, closes[1]!], 'week')).toEqual({
      day: '2026-11-05',
      value: 1,
    })
    expect(levelBefore([{ day: '2026-11-04', value: 1 }, closes[1]!], 'week')).toBeUndefined()
    expect(levelBefore([{ day: '2026-11-12', value: 1 }, closes[1]!], 'week')).toBeUndefined()
  })

  test('the preceding storage level is undefined when no earlier level exists', () => {
    expect(levelBefore([], 'week')).toBeUndefined()
    expect(levelBefore(weekly([1]), 'week')).toBeUndefined()
    expect(levelBefore(weekly([1, 2, 3]), 'month')).toBeUndefined()
  })
})

describe('rows', () => {
  const closes: Close[] = [
    { day: '2026-09-30', value: 20 },
    { day: '2026-10-07', value: 21.5 },
    { day: '2026-10-28', value: 21.25 },
    { day: '2026-11-04', value: 22.004 },
    { day: '2026-11-06', value: 22.1 },
    { day: '2026-11-18', value: 21 },
  ]

  test('storage rows are listed newest first with changes from the preceding row, even one before the range', () => {
    expect(levelRows(closes, 'daily', '2026-10-28', '2026-11-06', 3)).toEqual([
      { day: '2026-11-06', value: 22.1, change: 0.096 },
      { day: '2026-11-04', value: 22.004, change: 0.754 },
      { day: '2026-10-28', value: 21.25, change: -0.25 },
    ])
    expect(
      levelRows(closes, 'daily', '2026-01-01', '2026-10-07', 3).map(row => row.change),
    ).toEqual([1.5, undefined])
  })

  test('storage changes are the decimal difference of two levels, rounded half away from zero', () => {
    const levels = [
      { day: '2026-11-06', value: 426.049 },
      { day: '2026-11-13', value: 423.754 },
    ]
    const [newest] = levelRows(levels, 'weekly', '2026-11-01', '2026-11-30', 2)
    // As doubles, their difference is a little above -2.295.
    expect(newest!.change).toBe(-2.3)
  })

  test('of weeks and months are the last of each', () => {
    expect(levelRows(closes, 'weekly', '2026-10-01', '2026-11-20', 3)).toEqual([
      { day: '2026-11-18', value: 21, change: -1.1 },
      { day: '2026-11-06', value: 22.1, change: 0.85 },
      { day: '2026-10-28', value: 21.25, change: -0.25 },
      { day: '2026-10-07', value: 21.5, change: 1.5 },
    ])
    expect(levelRows(closes, 'monthly', '2026-01-01', '2026-12-31', 3)).toEqual([
      { day: '2026-11-18', value: 21, change: -0.25 },
      { day: '2026-10-28', value: 21.25, change: 1.25 },
      { day: '2026-09-30', value: 20, change: undefined },
    ])
  })

  test('of a range that cuts a month have the last level inside it', () => {
    expect(levelRows(closes, 'monthly', '2026-11-01', '2026-11-05', 3)).toEqual([
      { day: '2026-11-04', value: 22.004, change: 0.754 },
    ])
    expect(levelRows(closes, 'weekly', '2027-01-01', '2027-02-01', 3)).toEqual([])
  })

  test('add up: the changes of a range are the last level less the one before it', () => {
    const day = (n: number) => dayAfter('2026-01-01', n)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 80 }),
        fc.constantFrom('daily' as const, 'weekly' as const, 'monthly' as const),
        (days, interval) => {
          const all = days
            .sort((a, b) => a - b)
            .map(n => ({ day: day(n), value: (n * 7919) % 1000 }))
          const rows = levelRows(all, interval, day(0), day(700), 3)
          const first = rows.at(-1)!
          expect(rows.slice(0, -1).reduce((sum, row) => sum + row.change!, 0)).toBe(
            rows[0]!.value - first.value,
          )
          expect(first.change).toBeUndefined()
          expect(rows[0]!.day).toBe(all.at(-1)!.day)
        },
      ),
    )
  })
})

test('millions of barrels keep their thousands', () => {
  expect(levelDecimals({ unit: 'million_barrels', decimals: 2 })).toBe(3)
  expect(levelDecimals({ unit: 'bcf', decimals: 2 })).toBe(2)
})
