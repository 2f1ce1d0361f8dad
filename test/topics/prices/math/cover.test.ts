import { describe, expect, test } from 'bun:test'
import { isoDay } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { daysOfCover, useOfStorage } from '../../../../src/topics/prices/math/cover.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const on = '2026-11-18'
const weekly = (values: readonly number[]) =>
  values.map((value, i) => ({ day: dayAfter(on, -7 * (values.length - 1 - i)), value }))

describe('daysOfCover: days of cover', () => {
  test('are the level over the use of the four weeks that end with its day', () => {
    // The fifth week back, at 99 a day, is out; (15 + 16 + 17 + 16) / 4 = 16.
    expect(daysOfCover(400, on, weekly([99, 15, 16, 17, 16]))).toBe(25)
  })

  test('days of cover ignore weeks after the storage level and use the available earlier weeks', () => {
    expect(daysOfCover(400, on, [...weekly([16, 16]), { day: dayAfter(on, 7), value: 99 }])).toBe(
      25,
    )
  })

  test('are not known without use', () => {
    expect(daysOfCover(400, on, [])).toBeUndefined()
    expect(daysOfCover(400, on, [{ day: dayAfter(on, -28), value: 16 }])).toBeUndefined()
    expect(daysOfCover(400, on, weekly([0, 0, 0, 0]))).toBeUndefined()
  })

  test('are of stocks whose use is published in the same unit a day', () => {
    const units = new Map(shippedCatalogue().series.map(series => [series.code, series.unit]))
    for (const [level, use] of Object.entries(useOfStorage))
      expect(units.get(use), level).toBe(`${units.get(level)}_per_day`)
  })

  needs('../shared/data').test(
    `of US crude on 2024-05-17 are those of the agency's own tables`,
    () => {
      const day = (text: string) => isoDay(new Date(`${text} UTC`).getTime())
      const rows = (file: string) =>
        realRows(`eia-weekly-stocks/${file}`).map(([date, year, value]) => ({
          day: day(`${date},${year}`.replaceAll('"', '')),
          value: Number(value),
        }))
      const level = rows('weekly_us_ending_stocks_excluding_spr.csv').find(
        level => level.day === '2024-05-17',
      )!
      // Thousand barrels, and thousand barrels a day of the weeks to April 26, May 3, 10 and 17.
      expect(
        daysOfCover(level.value, level.day, rows('weekly_us_refiner_net_input.csv')),
      ).toBeCloseTo(458_845 / ((15_641 + 15_948 + 16_255 + 16_482) / 4), 9)
    },
  )
})
