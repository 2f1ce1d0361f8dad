import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { dayMs, isoDay } from '../../../../src/lib/time/instant.ts'
import { isoWeek, weekName, weekNameOf } from '../../../../src/topics/calendars/math/weeks.ts'
import { dayAfter } from '../../../../src/topics/prices/math/window.ts'

describe('an ISO week', () => {
  for (const [day, name] of [
    ['2026-11-18', '2026-W47'],
    ['2026-01-01', '2026-W01'],
    ['2027-01-01', '2026-W53'],
    ['2025-12-29', '2026-W01'],
    ['2024-12-30', '2025-W01'],
    ['2021-01-03', '2020-W53'],
    ['2023-01-01', '2022-W52'],
  ] as const) {
    test(`of ${day} is ${name}`, () => expect(weekName(isoWeek(day))).toBe(name))
  }
  test.each([
    ['2026-11-06', '2026-W45'],
    ['2013-01-04', '2013-W01'],
    ['2027-01-01', '2026-W53'],
    ['2024-12-31', '2025-W01'],
    ['2021-01-03', '2020-W53'],
  ])('of %s is called %s', (day, week) => {
    expect(weekNameOf(day)).toBe(week)
  })

  test('is that of the platform for any day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), days => {
        const day = dayAfter('1950-01-01', days)
        const { weekOfYear, yearOfWeek } = Temporal.PlainDate.from(day)
        expect(isoWeek(day)).toEqual({ year: yearOfWeek!, week: weekOfYear! })
      }),
    )
  })
  test('is shared by Monday to Sunday and by no other day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5000, max: 25_000 }), weeks => {
        const monday = weeks * 7 + 4
        const days = Array.from({ length: 8 }, (_, i) => weekNameOf(isoDay((monday + i) * dayMs)))
        expect(new Set(days.slice(0, 7)).size).toBe(1)
        expect(days[7]).not.toBe(days[0])
      }),
    )
  })
})
