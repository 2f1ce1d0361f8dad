import { describe, expect, test } from 'bun:test'
import { isoInstant, weekdayOf } from '../../../../src/lib/time/instant.ts'
import { monthAfter } from '../../../../src/topics/calendars/math/period.ts'
import {
  outlookKind,
  outlookPublishedAt,
  regionOf,
} from '../../../../src/topics/fundamentals/math/outlook.ts'

describe('outlooks', () => {
  for (const [month, at] of [
    ['2026-11', '2026-11-03T17:00:00Z'],
    ['2026-12', '2026-12-01T17:00:00Z'],
    ['2026-09', '2026-09-01T16:00:00Z'],
    // New Year and Independence Day on a Tuesday.
    ['2030-01', '2030-01-02T17:00:00Z'],
    ['2034-07', '2034-07-05T16:00:00Z'],
  ] as const) {
    test(`of ${month} are published at ${at}`, () =>
      expect(isoInstant(outlookPublishedAt(month))).toBe(at))
  }

  test('are published on a Tuesday of the first week, at noon in New York, but for holidays', () => {
    for (let n = 0; n < 120; n++) {
      const at = outlookPublishedAt(monthAfter('2020-01', n))
      expect([2, 3]).toContain(weekdayOf(at))
      expect(new Date(at).getUTCDate()).toBeLessThanOrEqual(8)
      expect([16, 17]).toContain(new Date(at).getUTCHours())
    }
  })

  test('are of prices where the code has a currency, of production by its name', () => {
    expect(outlookKind({ code: 'BRENT_CRUDE_USD', currency: 'USD' })).toBe('price')
    expect(outlookKind({ code: 'US_CRUDE_PRODUCTION', currency: null })).toBe('production')
    expect(outlookKind({ code: 'CUSHING_STORAGE', currency: null })).toBe('other')
    expect(regionOf('OPEC_PRODUCTION')).toBe('OPEC')
  })
})
