import { describe, expect, test } from 'bun:test'
import { seasonOf } from '../../../../src/topics/analytics/math/season.ts'
import { type Close, dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const at = (day: string, value: number): Close => ({ day, value })

describe('a season', () => {
  // Wednesdays of week 47 in 2020 to 2026, and their neighbours.
  const week47 = [
    '2020-11-18',
    '2021-11-24',
    '2022-11-23',
    '2023-11-22',
    '2024-11-20',
    '2025-11-19',
    '2026-11-18',
  ]
  const closes = week47
    .flatMap((day, i) => [
      at(dayAfter(day, -7), 900),
      at(day, [99, 20, 22, 24, 26, 28, 30][i]!),
      at(dayAfter(day, 7), 900),
    ])
    .slice(0, -1)

  test('is the mean of the same week of the five years before, with their sample deviation', () => {
    const result = seasonOf(closes)
    // 20, 22, 24, 26, 28: mean 24, squares 16 + 4 + 0 + 4 + 16 = 40, by 4 is 10.
    expect(result).toEqual({
      enough: true,
      value: {
        week: { year: 2026, week: 47 },
        level: 30,
        average: 24,
        stdDev: Math.sqrt(10),
        zScore: 6 / Math.sqrt(10),
        years: 5,
      },
    })
  })

  test('a seasonal average leaves out years without a level in the week and reports how many years it covers', () => {
    const without = closes.filter(
      ({ day }) => !['2021-11-24', '2023-11-22', '2025-11-19'].includes(day),
    )
    expect(seasonOf(without)).toMatchObject({
      enough: true,
      value: { average: 24, years: 2, stdDev: Math.sqrt(8) },
    })
  })

  test('takes the mean of a week that has several levels as that of its year', () => {
    const daily = [
      at('2024-11-18', 10),
      at('2024-11-24', 20),
      at('2025-11-17', 30),
      at('2025-11-23', 50),
      at('2026-11-20', 40),
    ]
    // 15 and 40.
    expect(seasonOf(daily)).toMatchObject({ enough: true, value: { average: 27.5, years: 2 } })
  })

  test('compares week 53 with the last week of years that have none', () => {
    // 2020 and 2026 have 53 weeks.
    const last = [
      at('2020-12-30', 1),
      at('2021-12-29', 2),
      at('2022-12-28', 4),
      at('2023-12-27', 6),
      at('2024-12-25', 8),
      at('2025-12-24', 10),
    ]
    expect(seasonOf([...last, at('2026-12-30', 7)])).toMatchObject({
      enough: true,
      value: { week: { year: 2026, week: 53 }, average: 6, years: 5 },
    })
  })

  test('needs two earlier years', () => {
    expect(seasonOf([])).toEqual({ enough: false, have: 0, need: 2 })
    expect(seasonOf([at('2026-11-18', 1)])).toEqual({ enough: false, have: 0, need: 2 })
    expect(seasonOf([at('2025-11-19', 1), at('2026-11-18', 1)])).toEqual({
      enough: false,
      have: 1,
      need: 2,
    })
  })

  test('has no z-score where the years do not differ', () => {
    const result = seasonOf([at('2024-11-20', 5), at('2025-11-19', 5), at('2026-11-18', 6)])
    expect(result).toMatchObject({ enough: true, value: { stdDev: 0, zScore: undefined } })
  })

  needs('../shared/data').test(
    'of US crude stocks in each week of 2024 is what a calendar and a sum give',
    () => {
      const weeks = realRows('eia-weekly-stocks/petroleum_inventories.csv').map(([day, value]) =>
        at(day!, Number(value)),
      )
      const year2024 = weeks.filter(({ day }) => day.startsWith('2024'))
      expect(year2024.length).toBe(52)
      for (const { day, value } of year2024) {
        const { weekOfYear, yearOfWeek } = Temporal.PlainDate.from(day)
        const same = weeks.filter(week => {
          const date = Temporal.PlainDate.from(week.day)
          return (
            date.weekOfYear === weekOfYear &&
            date.yearOfWeek! >= yearOfWeek! - 5 &&
            date.yearOfWeek! < yearOfWeek!
          )
        })
        const values = same.map(close => close.value)
        const average = values.reduce((a, b) => a + b, 0) / values.length
        const deviation = Math.sqrt(
          values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1),
        )
        const result = seasonOf(weeks.filter(week => week.day <= day))
        if (!result.enough) throw new Error(day)
        expect(result.value.years, day).toBe(5)
        expect(result.value.average, day).toBeCloseTo(average, 9)
        expect(result.value.zScore!, day).toBeCloseTo((value - average) / deviation, 9)
      }
    },
  )
})
