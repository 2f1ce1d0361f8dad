import { describe, expect, test } from 'bun:test'
import {
  americanDay,
  britishDay,
  firstOf,
  leadingDay,
  namedDay,
  type PeriodKind,
  periodOf,
  periodWith,
  serialDay,
  spanOf,
} from '../../../src/feeds/reading/periods.ts'
import { isoDay } from '../../../src/lib/time/instant.ts'

describe('periods as publishers write them', () => {
  const rows: [written: string, kind: PeriodKind, period: string | undefined][] = [
    ['20260818', 'day', '2026-08-18'],
    ['2026-08-18', 'day', '2026-08-18'],
    ['202608', 'month', '2026-08'],
    ['2026M05', 'month', '2026-05'],
    ['2026-08', 'month', '2026-08'],
    ['2026Q3', 'quarter', '2026-Q3'],
    ['2026-Q3', 'quarter', '2026-Q3'],
    ['2026', 'year', '2026'],
    ['2026-02-30', 'day', undefined],
    ['2026-13', 'month', undefined],
    ['2026', 'month', undefined],
    ['202608', 'day', undefined],
    ['August', 'month', undefined],
  ]
  for (const [written, kind, period] of rows) {
    test(`${written} as a ${kind} is ${period}`, () => {
      expect(periodOf(written, kind)).toBe(period)
    })
  }

  test('days are read as their publisher means them', () => {
    expect(americanDay('7/10/26')).toBe('2026-07-10')
    expect(britishDay('10/07/2026')).toBe('2026-07-10')
    expect(americanDay('5/19/99')).toBe('1999-05-19')
    expect(namedDay('13 April 2026')).toBe('2026-04-13')
    expect(namedDay('2026-Jul-09 00:00:00')).toBe('2026-07-09')
    expect(serialDay(46030)).toBe('2026-01-08')
    expect(leadingDay('2024-08-20T00:00:00.000')).toBe('2024-08-20')
    expect({
      americanDay: americanDay('13/45/26'),
      namedDay: namedDay('13 Foo 2026'),
      serialDay: serialDay(0),
    }).toEqual({ americanDay: undefined, namedDay: undefined, serialDay: undefined })
  })

  test('a week ends on its day, a longer period begins with its first', () => {
    const days = (period: string, kind: PeriodKind) => {
      const { from, to } = spanOf(period, kind)
      return [isoDay(from), isoDay(to)]
    }
    expect(days('2026-08-14', 'week')).toEqual(['2026-08-08', '2026-08-15'])
    expect(days('2026-02', 'month')).toEqual(['2026-02-01', '2026-03-01'])
    expect(days('2026-Q4', 'quarter')).toEqual(['2026-10-01', '2027-01-01'])
    expect(days('2026', 'year')).toEqual(['2026-01-01', '2027-01-01'])
    expect(isoDay(firstOf('2026-Q3', 'quarter'))).toBe('2026-07-01')
    expect(periodWith('2026-08-18', 'quarter')).toBe('2026-Q3')
  })
})
