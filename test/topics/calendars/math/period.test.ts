import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseDay } from '../../../../src/lib/time/instant.ts'
import {
  daysIn,
  endOfMonth,
  monthAfter,
  parsePeriod,
} from '../../../../src/topics/calendars/math/period.ts'

describe('a period', () => {
  for (const [text, firstOn, lastOn, months] of [
    ['2026-12', '2026-12-01', '2026-12-31', ['2026-12']],
    ['2024-02', '2024-02-01', '2024-02-29', ['2024-02']],
    ['2026-Q4', '2026-10-01', '2026-12-31', ['2026-10', '2026-11', '2026-12']],
    ['2027-Q1', '2027-01-01', '2027-03-31', ['2027-01', '2027-02', '2027-03']],
  ] as const) {
    test(`${text} runs from ${firstOn} to ${lastOn}`, () => {
      expect(parsePeriod(text)).toEqual({ text, firstOn, lastOn, months: [...months] })
    })
  }

  test('may be written in lower case and with spaces around it', () => {
    expect(parsePeriod(' 2026-q4 ')?.text).toBe('2026-Q4')
  })

  for (const text of [
    '2026',
    '2026-13',
    '2026-00',
    '2026-Q5',
    '2026-Q0',
    '2026-1',
    '2026-10-01',
    'Q4',
    '',
  ]) {
    test(`${JSON.stringify(text)} is not read as a period`, () =>
      expect(parsePeriod(text)).toBeUndefined())
  }
})

test('months follow each other over years, and forth and back is where one was', () => {
  expect([monthAfter('2026-12', 1), monthAfter('2026-01', -1), monthAfter('2026-11', 14)]).toEqual([
    '2027-01',
    '2025-12',
    '2028-01',
  ])
  fc.assert(
    fc.property(
      fc.integer({ min: 1950, max: 2090 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: -500, max: 500 }),
      (y, m, n) => {
        const month = `${y}-${String(m).padStart(2, '0')}`
        expect(monthAfter(monthAfter(month, n), -n)).toBe(month)
        expect(endOfMonth(month)).toBe(parseDay(`${monthAfter(month, 1)}-01`)!)
        expect(daysIn(month)).toBe(new Date(Date.UTC(y, m, 0)).getUTCDate())
      },
    ),
  )
})
