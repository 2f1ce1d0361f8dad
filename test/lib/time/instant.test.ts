import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addDuration } from '../../../src/lib/time/duration.ts'
import {
  dayMs,
  isDueAgain,
  isoDay,
  isoInstant,
  parseDay,
  parseInstant,
  startOfDay,
  startOfMonth,
  startOfNextMonth,
  startOfWeek,
  weekdayOf,
} from '../../../src/lib/time/instant.ts'

describe('parseDay and isoDay', () => {
  test.each(['2024-02-29', '1900-01-01', '2026-12-31', '1969-12-31'])(
    '%s is its own midnight',
    day => {
      expect(isoDay(parseDay(day)!)).toBe(day)
      expect(Math.abs(parseDay(day)! % dayMs)).toBe(0)
    },
  )
  test.each([
    '2026-02-30',
    '2023-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-01',
    '20260101',
    '2026-01-01T00:00:00Z',
    '',
  ])('%p is not accepted as a day', text => {
    expect(parseDay(text)).toBeUndefined()
  })
})

describe('parseInstant and isoInstant', () => {
  test.each([
    ['2026-11-20T15:00:00Z', '2026-11-20T15:00:00Z'],
    ['2026-11-20T15:00Z', '2026-11-20T15:00:00Z'],
    ['2026-11-20 15:00:00+01:00', '2026-11-20T14:00:00Z'],
    ['2026-11-20T15:00:00.125-0530', '2026-11-20T20:30:00.125Z'],
    ['2026-11-20t15:00:00z', '2026-11-20T15:00:00Z'],
  ])('%s is %s', (text, iso) => {
    expect(isoInstant(parseInstant(text)!)).toBe(iso)
  })
  test.each([
    '2026-11-20T15:00:00',
    '2026-11-20',
    '2026-02-30T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T15:60:00Z',
    '2026-11-20T15:00:00+25:00',
    'now',
  ])('%p is not accepted as an instant because it lacks a time zone or is out of range', text => {
    expect(parseInstant(text)).toBeUndefined()
  })
  test('printed and parsed is the same', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -2_000_000_000_000, max: 4_000_000_000_000 }),
        at => parseInstant(isoInstant(at)) === at,
      ),
    )
  })
})

test('weeks start on Monday, months on the first, also before 1970', () => {
  fc.assert(
    fc.property(fc.integer({ min: -2_000_000_000_000, max: 4_000_000_000_000 }), at => {
      const [day, week, month, next] = [
        startOfDay(at),
        startOfWeek(at),
        startOfMonth(at),
        startOfNextMonth(at),
      ]
      expect(day <= at && at < day + dayMs).toBe(true)
      expect(week <= at && at < week + 7 * dayMs && weekdayOf(week) === 1).toBe(true)
      expect(new Date(week).getUTCDay()).toBe(1)
      expect(
        month <= at && at < next && isoDay(month).endsWith('-01') && isoDay(next).endsWith('-01'),
      ).toBe(true)
    }),
  )
})

describe('addDuration', () => {
  const at = parseInstant('2026-01-31T12:00:00Z')!
  test.each([
    ['PT61S', '2026-01-31T12:01:01Z'],
    ['P1D', '2026-02-01T12:00:00Z'],
    ['P1M', '2026-02-28T12:00:00Z'],
    ['P1Y', '2027-01-31T12:00:00Z'],
  ])('%s leads to %s', (duration, iso) => {
    expect(isoInstant(addDuration(at, duration)!)).toBe(iso)
  })
  test.each(['1D', '61', '', 'P', 'tomorrow'])('%p is not accepted as a duration', text => {
    expect(addDuration(at, text)).toBeUndefined()
  })
})

test('work is due again after its interval, and at once when it was last done in the future', () => {
  const at = Date.parse('2028-02-29T12:00:00Z')
  expect(isDueAgain(undefined, 1000, at)).toBe(true)
  expect([isDueAgain(at - 999, 1000, at), isDueAgain(at - 1000, 1000, at)]).toEqual([false, true])
  expect([isDueAgain(at, 1000, at), isDueAgain(at + 1, 1000, at)]).toEqual([false, true])
})
