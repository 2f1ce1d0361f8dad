import { describe, expect, test } from 'bun:test'
import { isoInstant, parseInstant } from '../../../../src/lib/time/instant.ts'
import {
  newestPublishedMonth,
  oilEquivalent,
  perDay,
  productionAge,
  productionPublishedAt,
} from '../../../../src/topics/drilling/math/well-production.ts'

describe('production', () => {
  test.each([
    [100, 600, 200],
    [100, null, 100],
    [null, 600, 100],
    [0, 0, 0],
    [null, null, undefined],
  ])(
    'of %p barrels and %p thousand cubic feet is %p barrels of oil equivalent',
    (oil, gas, boe) => {
      expect(oilEquivalent(oil, gas)).toBe(boe)
    },
  )

  test('a day is that of the days of its month', () => {
    expect([perDay(290, '2024-02'), perDay(280, '2026-02'), perDay(310, '2026-08')]).toEqual([
      10, 10, 10,
    ])
  })

  test.each([
    ['2026-08', '2026-10-30T15:00:00Z'],
    // The last of February is a Sunday, and the Friday before it is the last working day.
    ['2026-12', '2027-02-26T15:00:00Z'],
    // Memorial Day is the last day of May.
    ['2027-03', '2027-05-28T15:00:00Z'],
    ['2025-10', '2025-12-31T15:00:00Z'],
  ])('of %s is published at %s', (month, at) => {
    expect(isoInstant(productionPublishedAt(month))).toBe(at)
  })

  test.each([
    ['2026-10-30T14:59:59Z', '2026-07'],
    ['2026-10-30T15:00:00Z', '2026-08'],
    ['2026-11-01T00:00:00Z', '2026-08'],
    ['2026-01-01T00:00:00Z', '2025-10'],
  ])('at %s the newest month is %s', (now, month) => {
    expect(newestPublishedMonth(parseInstant(now)!)).toBe(month)
  })

  test('is stale when the next month is two weeks overdue, and not before', () => {
    // September is published on the 30th of November.
    const at = (text: string) => productionAge('2026-08', parseInstant(text)!)
    expect(at('2026-08-15T00:00:00Z')).toEqual({ ageDays: 0, stale: false })
    expect(at('2026-11-30T15:00:00Z')).toEqual({ ageDays: 90, stale: false })
    expect(at('2026-12-17T00:00:00Z')).toEqual({ ageDays: 107, stale: false })
    expect(at('2026-12-18T00:00:00Z')).toEqual({ ageDays: 108, stale: true })
  })
})
